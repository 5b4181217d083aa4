"""The evaluation worker: one process that measures one checkpoint, outliving the page and the server that started it.

Run as ``python -m core.sessions.evaluation_worker FOLDER``, the folder of an :class:`core.sessions.evaluations.Evaluation`. It ends by
itself, or after the present batch once it is asked to, by the stop file or by SIGTERM.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from pathlib import Path

import psutil

from core.lake.files import write_text
from core.sessions.benchmark import save_result
from core.sessions.evaluations import Evaluation
from core.sessions.state import SLOW_STALLED_AFTER, STALLED_AFTER, Status, WorkerState
from core.sessions.store import STOP_FILE
from core.training.settings import StageStopped

DRAWING_SHARE = 0.1
"""Part of the work that drawing and solving the boards is: rough, for the progress bar."""


def main(folder: Path) -> int:
    """Makes the result; returns the exit status: 0 done, 3 stopped, 1 failed."""
    evaluation = Evaluation(folder)
    patience = SLOW_STALLED_AFTER if evaluation.task.language else STALLED_AFTER
    process = {"pid": os.getpid(), "create_time": psutil.Process().create_time(), "started": time.time()}
    state = evaluation.state().model_copy(update={"status": "running", "patience": patience} | process)
    signal.signal(signal.SIGTERM, lambda *_: (folder / STOP_FILE).touch())

    def note(part: str, done: int, of: int) -> None:
        if (folder / STOP_FILE).exists():
            raise StageStopped
        state.progress = DRAWING_SHARE * done / of if part != "planning" else DRAWING_SHARE + (1 - DRAWING_SHARE) * done / of
        _write(folder, state)

    _write(folder, state)
    try:
        from core.sessions.measuring import measure  # imports torch, which takes seconds: the evaluation is seen running before

        report, rows = measure(evaluation.task, evaluation.id, note)
        note("planning", len(rows), len(rows))  # the last chance to stop
        save_result(folder, report, rows)
    except StageStopped:
        return _end(folder, state, "stopped", 3)
    except Exception as error:  # whatever it is belongs in the evaluation's record
        traceback.print_exc()
        state.error = f"{type(error).__name__}: {error}"
        return _end(folder, state, "failed", 1)
    return _end(folder, state, "done", 0)


def _end(folder: Path, state: WorkerState, status: Status, exit_status: int) -> int:
    state.status, state.finished = status, time.time()
    _write(folder, state)
    return exit_status


def _write(folder: Path, state: WorkerState) -> None:
    """Replaces ``state.json``; every write is a heartbeat."""
    state.heartbeat = time.time()
    write_text(folder / "state.json", state.model_dump_json(indent=1))


if __name__ == "__main__":
    for nuisance in (signal.SIGINT, signal.SIGHUP):
        signal.signal(nuisance, signal.SIG_IGN)
    os.nice(5)  # the page stays quick
    sys.exit(main(Path(sys.argv[1]).resolve()))
