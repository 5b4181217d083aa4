"""Whether a machine's queue has a dispatcher, starting one, and finding in their folders the jobs that it has to do."""

from __future__ import annotations

import fcntl
import os
import sys
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from frozenlab.base import look_only
from frozenlab.base.errors import LabError
from frozenlab.base.files import locked
from frozenlab.jobs.environment import dispatcher_environment, start_detached
from frozenlab.jobs.folders import JOB_ID
from frozenlab.jobs.imported import why_not_own
from frozenlab.jobs.job import KINDS, Kind
from frozenlab.jobs.queue.db import FILLED, QueueDB, QueuedJob, Revision, machine_name
from frozenlab.jobs.state import read_state, says_live

STARTS_WITHIN = 10.0
"""Seconds that a dispatcher has to take its lock, before another one is started."""
WRITES_WITHIN = 1.0
"""Seconds between taking the lock and writing the pid into it, at most."""
_started: dict[Path, float] = {}
_in_vain: dict[Path, Revision] = {}
"""The revision of the queue's file when the folders of jobs were looked at and none waited."""


def started_here() -> list[Path]:
    """The sessions folders whose dispatchers were started by this process and still run."""
    return list(_started)


def lock_file(root: Path) -> Path:
    return root / f".queue-{machine_name()}.lock"


@contextmanager
def lock(root: Path) -> Iterator[BinaryIO | None]:
    """Hold the lock of the dispatcher; None if another process holds it."""
    with locked(lock_file(root), wait=1.0) as file:
        if file is not None:
            file.truncate(0)
            file.write(str(os.getpid()).encode())
            file.flush()
        yield file


def holds_lock(root: Path) -> bool:
    """Whether the lock file names this process: it may have been deleted, and another process taken its place."""
    try:
        return lock_file(root).read_bytes() == str(os.getpid()).encode()
    except OSError:
        return False


def dispatcher_of(root: Path) -> int | None:
    """The pid of the dispatcher; None if there is none. One that has just taken its lock is given a moment to write its pid."""
    deadline = time.monotonic() + WRITES_WITHIN
    try:
        with lock_file(root).open("rb") as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    return None
                except BlockingIOError:
                    file.seek(0)
                    if (written := file.read()) or time.monotonic() > deadline:
                        return int(written)
                    time.sleep(0.01)
    except (OSError, ValueError):
        return None


def wake(root: Path) -> None:
    """Start a dispatcher if there is none. It starts what waits, and tries again what died."""
    if dispatcher_of(root) is not None or time.monotonic() - _started.get(root, -STARTS_WITHIN) < STARTS_WITHIN:
        return
    _started[root] = time.monotonic()
    command, log = [sys.executable, "-m", "frozenlab.jobs.queue", str(root)], root / f".queue-{machine_name()}.log"
    dispatcher = start_detached(command, log, dispatcher_environment())

    def wait() -> None:
        dispatcher.wait()
        _started.pop(root, None)

    threading.Thread(target=wait, daemon=True).start()  # so that it does not stay as a zombie


def wake_if_needed(root: Path) -> None:
    """Start a dispatcher if there is none although jobs wait or run, unless this process only looks. The folders of jobs are looked at
    while no dispatcher has filled the queue's file from them: it may be a new one in the place of one that was lost."""
    if look_only.on() or dispatcher_of(root) is not None:
        return
    db = QueueDB(root)
    if db.jobs():
        wake(root)
    elif not db.fact(FILLED) and _in_vain.get(root, ()) != (revision := db.revision()):
        if any(not job.running for job in recovered(root)):
            wake(root)
        else:
            _in_vain[root] = revision


def recovered(root: Path, known: Collection[str] = ()) -> Iterator[QueuedJob]:
    """The jobs whose folders say that they wait or run on this machine, those that waited longest first, without the ``known`` folders."""
    found = []
    for kind in KINDS.values():
        for place in (kind.place, *kind.within):
            for path in root.glob(f"{place}/*/state.json" if place else "*/state.json"):
                folder = path.parent
                if str(folder) in known or not is_job(folder, kind) or not says_live(path):
                    continue
                state = read_state(folder)
                here = state.host is not None and not state.elsewhere
                if here and state.live and why_not_own(folder) is None:
                    found.append((state.heartbeat or 0.0, kind, folder, place in kind.within, state))
    for since, kind, folder, within, state in sorted(found, key=lambda job: job[0]):
        try:
            job = QueuedJob.of(kind.open(folder))
        except LabError:
            continue
        job = replace(job, queued=since, parent=str(folder.parents[1]) if within else "")
        if state.pid is not None:
            job = replace(job, running=True, pid=state.pid, create_time=state.create_time or 0.0, began=since)
        yield job


def is_job(folder: Path, kind: Kind) -> bool:
    return JOB_ID.fullmatch(folder.name) is not None and (folder / kind.task).is_file() and not folder.is_symlink()
