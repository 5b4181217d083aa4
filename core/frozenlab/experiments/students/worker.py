"""The worker of a student. Asked to stop, it ends after the present step or batch of tasks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from frozenlab.experiments.students.store import Student
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.worker import work_alone


def main(folder: Path, on_progress: Callable[[float], None] = lambda progress: None) -> int:
    """Make the student in ``folder``; return the exit status. ``on_progress`` gets the part of the work that is done, 0..1."""
    return work_alone(Student(folder), partial(work, on_progress=on_progress), JobRecorder)


def work(recorder: JobRecorder[Student], on_progress: Callable[[float], None]) -> None:
    from frozenlab.experiments.students.making import make  # imports torch, which takes seconds: the student is seen at work before

    make(recorder, on_progress)
