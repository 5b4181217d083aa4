"""The frame of a worker process that does one job in a folder, an evaluation or a replay: its state, how it is asked to stop, how it ends.

Such a process outlives the page and the server that started it. It ends by itself, or soon after it is asked to, by the stop file or by
SIGTERM.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn, Protocol

from frozenlab.errors import Stopped
from frozenlab.files import sweep, write_text
from frozenlab.jobs.disk import free_reserve, in_words, reserve
from frozenlab.jobs.state import STALLED_AFTER, Status, WorkerState, own_process, read_state
from frozenlab.loop.soundness import refuse_links
from frozenlab.loop.store import STOP_FILE


class Tell(Protocol):
    """How a job says how far it is."""

    def __call__(self, progress: float, seconds_left: float | None = None) -> None:
        """``progress`` is the part that is done, 0..1. Raises Stopped if the job was asked to stop."""


def run_job(folder: Path, work: Callable[[Tell], None], *, patience: float = STALLED_AFTER) -> int:
    """Has the ``work`` done that belongs to ``folder``, with its ``state.json`` kept; returns the exit status: 0 done, 3 stopped, 1 failed.

    Args:
        patience: seconds without a word that mean nothing.

    Raises:
        LinkError: there is a link in the folder.
    """
    refuse_links(folder)
    fresh = {"status": "running", "patience": patience, "error": None, "started": time.time()}
    state = read_state(folder).model_copy(update=fresh | own_process())
    signal.signal(signal.SIGTERM, lambda *_: (folder / STOP_FILE).touch())

    def tell(progress: float, seconds_left: float | None = None) -> None:
        if (folder / STOP_FILE).exists():
            raise Stopped
        state.progress, state.seconds_left = progress, seconds_left
        _write(folder, state)

    try:
        reserve(folder)
        sweep(folder)
        _write(folder, state)
        try:
            work(tell)
        except Stopped:
            return _end(folder, state, "stopped", 3)
        return _end(folder, state, "done", 0)
    except Exception as error:  # whatever it is belongs in the job's record
        state.error = in_words(error, folder)
        with suppress(OSError):  # on a disk that is full
            _end(folder, state, "failed", 1)
        with suppress(OSError):
            traceback.print_exc()
        return 1


def detached(main: Callable[[Path], int]) -> NoReturn:
    """Runs ``main`` for the folder named on the command line, as a process that Ctrl+C and a closed terminal do not reach."""
    for nuisance in (signal.SIGINT, signal.SIGHUP):
        signal.signal(nuisance, signal.SIG_IGN)
    os.nice(5)  # the page stays quick
    sys.exit(main(Path(sys.argv[1]).resolve()))


def _end(folder: Path, state: WorkerState, status: Status, exit_status: int) -> int:
    state.status, state.finished, state.seconds_left = status, time.time(), None
    free_reserve(folder)
    _write(folder, state)
    return exit_status


def _write(folder: Path, state: WorkerState) -> None:
    """Replaces ``state.json``; every write is a heartbeat."""
    state.heartbeat = time.time()
    write_text(folder / "state.json", state.model_dump_json(indent=1))
