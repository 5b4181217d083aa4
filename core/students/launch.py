"""Starting and resuming the making of students, in a worker process."""

from __future__ import annotations

from frozenlab.jobs.launcher import launching, spawn
from frozenlab.loop.store import SessionStore
from frozenlab.students.recipe import Recipe
from frozenlab.students.store import Student, create_student


def start(recipe: Recipe, store: SessionStore, student_id: str | None = None) -> Student:
    """Create a student and start its worker. Raises LaunchError while another job runs, StudentError if the id is taken."""
    with launching(store.root):
        student = create_student(recipe, store, student_id)
        spawn(student)
    return student


def resume(student: Student, store: SessionStore) -> None:
    """Start a worker that goes on with a student. Raises LaunchError while another job runs."""
    with launching(store.root):
        spawn(student)
