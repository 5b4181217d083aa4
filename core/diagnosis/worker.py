"""The worker of a diagnosis: measures the students and asks for the answers that are missing.

Asked to stop, it ends after the present answer. However it ends, the answers so far are kept, and nobody is asked for them again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from frozenlab.diagnosis.store import Diagnosis, write_answers
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.worker import work_alone
from frozenlab.students.store import chosen

EVERY = 1.0
"""Seconds of answers that a kill may cost at the most."""


def main(folder: Path, on_progress: Callable[[int, int], None] = lambda done, of: None) -> int:
    """Complete the diagnosis in ``folder``; return the exit status. ``on_progress`` gets the number of answers so far, and of how many."""
    return work_alone(Diagnosis(folder), partial(work, on_progress=on_progress), JobRecorder)


def work(recorder: JobRecorder[Diagnosis], on_progress: Callable[[int, int], None]) -> None:
    from frozenlab.diagnosis.asking import diagnose  # imports torch, which takes seconds: the diagnosis is seen running before

    diagnosis = recorder.job
    answers, total, written = diagnosis.answers(), diagnosis.task.total, 0.0
    at_first = len(answers)
    students = chosen(diagnosis.task.students, diagnosis.store)
    try:
        for answer in diagnose(diagnosis.task, students, diagnosis.dir / "evidence", {known.key for known in answers}):
            answers.append(answer)
            if time.monotonic() - written > EVERY:
                write_answers(diagnosis.dir, answers)
                written = time.monotonic()
            on_progress(len(answers), total)
            recorder.tell(len(answers) / total)
    finally:
        if len(answers) > at_first:
            write_answers(diagnosis.dir, answers)
