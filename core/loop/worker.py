"""The worker: one process that runs one session, outliving the page and the server that started it.

Run as ``python -m frozenlab.loop.worker FOLDER``. It ends by itself, or at the next training step once it is asked to: by the stop file,
or by SIGTERM. Ctrl+C and a closed terminal in front of the server do not reach it. Where several processes train together, each of them
is run as this; the first writes the session, the others follow it.

However many are started, one works: it holds a lock in the session's folder, over all machines that see the folder.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from frozenlab.errors import AwaitsProposal, LabError, Stopped
from frozenlab.files import open_to_append
from frozenlab.loop.recorder import Recorder
from frozenlab.loop.soundness import refuse_links
from frozenlab.loop.store import STOP_FILE, Session

LOCK_FILE = ".worker.lock"
LOCK_WAIT = 20.0
"""Seconds that a worker waits for the lock of another one, which may have just been killed, with its machine perhaps."""
HELD = 2
"""Exit status of a worker whose session another one works on."""
KEEPER = "FROZENLAB_KEEPER"
"""Environment variable: the pid of a process that a worker must not outlive. Without it a worker outlives whoever started it."""


class SessionHeldError(LabError, RuntimeError):
    """Another worker works on the session; the message says which."""


def main(folder: Path) -> int:
    """Runs or resumes the session in ``folder``; returns the exit status: as :func:`run_recorded` does, or HELD. Raises LinkError."""
    refuse_links(folder)
    session = Session(folder)
    if int(os.environ.get("RANK", "0")):
        from frozenlab.loop.follower import follow

        return follow(session)
    try:
        with sole_worker(session):
            if session.state().status == "done":  # the worker that this one has waited for came to the end
                return 0
            recorder = Recorder(session)
            signal.signal(signal.SIGTERM, lambda *_: (folder / STOP_FILE).touch())
            return run_recorded(session, recorder)
    except SessionHeldError as error:
        print(error, file=sys.stderr)
        return HELD


@contextmanager
def sole_worker(session: Session, wait: float = LOCK_WAIT) -> Iterator[None]:
    """Keeps all other workers from the session. Raises SessionHeldError if one works on it and does not end within ``wait`` seconds."""
    deadline = time.monotonic() + wait
    with open_to_append(session.dir / LOCK_FILE) as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    state = session.state()
                    raise SessionHeldError(f"{session.id} has a worker already, process {state.pid} on {state.host}") from None
                time.sleep(0.1)
        yield


def run_recorded(session: Session, recorder: Recorder) -> int:
    """The loop with its end written down, however it ends: 0 done, 3 stopped, 4 waiting for a person's proposal, 1 failed."""
    try:
        recorder.begin()
        from frozenlab.loop.loop import run  # imports torch, which takes seconds: the session is seen running before

        try:
            run(session, recorder)
        except Stopped:
            recorder.stopped()
            return 3
        except AwaitsProposal:
            recorder.waiting()
            return 4
    except Exception as error:  # whatever it is belongs in the session's record
        recorder.failed(error)
        with suppress(OSError):  # the log lies on the disk that may be full
            traceback.print_exc()
        return 1
    return 0


def end_with(keeper: int) -> None:
    """Ends this process and its whole group by force as soon as the process with the pid ``keeper`` is gone, in whatever way."""

    def watch() -> None:
        with suppress(psutil.NoSuchProcess):
            kept_by = psutil.Process(keeper)
            while kept_by.is_running() and kept_by.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.2)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    if KEEPER in os.environ:
        end_with(int(os.environ[KEEPER]))
    for nuisance in (signal.SIGINT, signal.SIGHUP):
        signal.signal(nuisance, signal.SIG_IGN)
    os.nice(5)  # the page stays quick
    sys.exit(main(Path(sys.argv[1]).resolve()))
