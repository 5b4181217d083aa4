"""The evaluation worker: one process that measures one checkpoint, outliving the page and the server that started it.

Run as ``python -m core.sessions.evaluation_worker FOLDER``, the folder of an :class:`core.sessions.evaluations.Evaluation`. Once it is
asked to stop, it ends after the present batch.
"""

from __future__ import annotations

from pathlib import Path

from core.sessions.background import Tell, detached, run_job
from core.sessions.benchmark import save_result
from core.sessions.evaluations import Evaluation
from core.sessions.state import SLOW_STALLED_AFTER, STALLED_AFTER

DRAWING_SHARE = 0.1
"""Part of the work that drawing and solving the boards is: rough, for the progress bar."""


def main(folder: Path) -> int:
    """Makes the result; returns the exit status: 0 done, 3 stopped, 1 failed."""
    evaluation = Evaluation(folder)

    def work(tell: Tell) -> None:
        from core.sessions.measuring import measure  # imports torch, which takes seconds: the evaluation is seen running before

        def note(part: str, done: int, of: int) -> None:
            tell(DRAWING_SHARE * done / of if part != "planning" else DRAWING_SHARE + (1 - DRAWING_SHARE) * done / of)

        report, rows = measure(evaluation.task, evaluation.id, note)
        tell(1.0)  # the last chance to stop
        save_result(folder, report, rows)

    return run_job(folder, work, patience=SLOW_STALLED_AFTER if evaluation.task.language else STALLED_AFTER)


if __name__ == "__main__":
    detached(main)
