"""The worker of a diagnosis: measures the students and asks for the answers that are missing.

Asked to stop, it ends after the present answer. However it ends, the answers so far are kept, and nobody is asked for them again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from frozenlab.experiments.diagnosis.store import Diagnosis, write_answers
from frozenlab.experiments.students.store import chosen
from frozenlab.jobs.answers import keep_all
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.worker import work_alone


def main(folder: Path, on_progress: Callable[[int, int], None] = lambda done, of: None) -> int:
    """Complete the diagnosis in ``folder``; return the exit status. ``on_progress`` gets the number of answers so far, and of how many."""
    return work_alone(Diagnosis(folder), partial(work, on_progress=on_progress), JobRecorder)


def work(recorder: JobRecorder[Diagnosis], on_progress: Callable[[int, int], None]) -> None:
    from frozenlab.experiments.diagnosis.asking import diagnose  # imports torch, which takes seconds: the diagnosis is seen running before

    diagnosis = recorder.job
    answers = diagnosis.answers()
    students = chosen(diagnosis.task.students, diagnosis.store)
    new = diagnose(diagnosis.task, students, diagnosis.dir / "evidence", {known.key for known in answers})
    keep_all(new, answers, diagnosis.task.total, partial(write_answers, diagnosis.dir), recorder, on_progress)
