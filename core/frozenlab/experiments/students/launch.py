"""Starting and resuming the making of students, in a worker process."""

from __future__ import annotations

from frozenlab.experiments.students.recipe import Recipe
from frozenlab.experiments.students.store import Student, create_student
from frozenlab.jobs.launcher import launching, submit
from frozenlab.session.store import SessionStore


def start(recipe: Recipe, store: SessionStore, student_id: str | None = None) -> Student:
    """Create a student and queue it. Raises LaunchError if the disk is full, StudentError if the id is taken."""
    with launching(store.root):
        student = create_student(recipe, store, student_id)
        submit(student)
    return student


def resume(student: Student, store: SessionStore) -> None:
    """Queue it: a worker then goes on with a student. Raises LaunchError if the disk is full."""
    with launching(store.root):
        submit(student)
