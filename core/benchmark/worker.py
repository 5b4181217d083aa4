"""The evaluation worker: one process that measures one checkpoint, outliving the page and the server that started it.

Run as ``python -m frozenlab.benchmark.worker FOLDER``, the folder of an :class:`frozenlab.benchmark.task.Evaluation`. Once it is
asked to stop, it ends after the present batch.
"""

from __future__ import annotations

from pathlib import Path

from frozenlab.benchmark.report import save_result
from frozenlab.benchmark.task import Evaluation
from frozenlab.jobs.state import SLOW_STALLED_AFTER, STALLED_AFTER
from frozenlab.jobs.worker import Tell, detached, run_job

DRAWING_SHARE = 0.1
"""Part of the work that drawing and solving the boards is: rough, for the progress bar."""


def main(folder: Path) -> int:
    """Makes the result; returns the exit status: 0 done, 3 stopped, 1 failed."""
    evaluation = Evaluation(folder)

    def work(tell: Tell) -> None:
        from frozenlab.benchmark.measuring import measure  # imports torch, which takes seconds: the evaluation is seen running before

        def note(part: str, done: int, of: int) -> None:
            tell(DRAWING_SHARE * done / of if part != "planning" else DRAWING_SHARE + (1 - DRAWING_SHARE) * done / of)

        report, rows = measure(evaluation.task, evaluation.id, note)
        tell(1.0)  # the last chance to stop
        save_result(folder, report, rows)

    return run_job(folder, work, patience=SLOW_STALLED_AFTER if evaluation.task.language else STALLED_AFTER)


if __name__ == "__main__":
    detached(main)
