"""The worker of an evaluation: measures one checkpoint. Asked to stop, it ends after the present batch of boards."""

from __future__ import annotations

from pathlib import Path

from frozenlab.experiments.benchmark.evaluations import Evaluation
from frozenlab.experiments.benchmark.results import save_result
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.worker import work_alone

DRAWING_SHARE = 0.1
"""Part of the work that drawing and solving the boards is: rough, for the progress bar."""


def main(folder: Path) -> int:
    """Makes the result in ``folder``; returns the exit status."""
    return work_alone(Evaluation(folder), work, JobRecorder)


def work(recorder: JobRecorder[Evaluation]) -> None:
    from frozenlab.experiments.benchmark.measuring import (
        measure,  # imports torch, which takes seconds: the evaluation is seen running before
    )

    def note(part: str, done: int, of: int) -> None:
        recorder.tell(DRAWING_SHARE * done / of if part != "planning" else DRAWING_SHARE + (1 - DRAWING_SHARE) * done / of)

    evaluation = recorder.job
    report, rows = measure(evaluation.task, evaluation.id, note)
    recorder.tell(1.0)  # the last chance to stop
    save_result(evaluation.dir, report, rows)
