"""A worker that is killed, or whose disk is filled, in the middle of its work."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

WATCHED = ("replace", "rename", "fsync", "unlink", "rmdir", "link", "mkdir")
"""The calls of ``os`` before which a worker is killed."""
FORKED = "forked"
"""The id of a fork."""


@dataclass(frozen=True)
class Order:
    """A job to be run, and what happens to its worker: it is killed, or the disk is filled.

    ``at`` is a part of what the worker does: of a call such as ``replace .../.answers.parquet.x .../answers.parquet``, before which it
    happens, or of an event such as ``event step/1/9``, after which it happens.
    """

    folder: str = ""
    job: str = "session"
    """The kind of the job, or ``fork``: ``folder`` is forked after its first stage."""
    kill_after: float | None = None
    """Seconds after which it is killed."""
    at: str | None = None
    nth: int = 0
    """Which of the acts with ``at`` in them it is, from 0."""
    fills: bool = False
    left: int = 0
    """Bytes that are left free when the disk is filled."""
    at_end: bool = False
    """Only acts at the end of the first stage count: from its last but one step to the beginning of the second."""
    listing: str | None = None
    """A file into which those acts are written."""


def work(order: Order) -> NoReturn:
    """The worker, as it is run everywhere else. A session that is forked keeps its first stage; another engineer decides then."""
    from frozenlab.jobs.job import KINDS
    from frozenlab.jobs.worker import work_on
    from frozenlab.session.forks import fork
    from frozenlab.session.session import Session
    from frozenlab.session.store import SessionStore

    folder = Path(order.folder)
    if order.job == "fork":
        parent = Session(folder)
        watch(order)
        fork(parent, 0, SessionStore(folder.parent), FORKED, engineer="uniform")
        sys.exit(0)
    log = os.open(folder / "worker.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    watch(order)
    sys.exit(work_on(KINDS[order.job].open(folder)))


def watch(order: Order) -> None:
    """Kill this worker, or fill the disk, at the act that is ordered."""
    from frozenlab.session.recorder import Recorder

    acts: list[str] = []
    counts, met = not order.at_end, 0

    def acted(what: str) -> None:
        nonlocal met
        if not counts:
            return
        acts.append(what)
        if order.at is not None and order.at in what:
            met += 1
            if met == order.nth + 1:
                if not order.fills:
                    os.kill(os.getpid(), signal.SIGKILL)
                fill(Path(order.folder), order.left)

    def watched(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*given: Any, **named: Any) -> Any:
            acted(" ".join(map(str, (name, *given[:2]))))
            return call(*given, **named)

        return wrapper

    record = Recorder.event

    def event(self: Recorder, kind: str, **fields: Any) -> None:
        nonlocal counts
        record(self, kind, **fields)
        place = "/".join(str(part) for part in (kind, fields.get("stage"), fields.get("step")) if part is not None)
        if order.at_end and place == "stage/1":
            counts = False
            if order.listing:
                Path(order.listing).write_text("\n".join(acts))
        acted(f"event {place}")
        counts = counts or place == f"step/0/{self.state.steps - 1}"

    Recorder.event = event  # type: ignore[method-assign]
    for name in WATCHED:
        setattr(os, name, watched(name, getattr(os, name)))


def fill(folder: Path, left: int) -> None:
    """Leave ``left`` bytes of the disk that the folder lies on."""
    disk = next(parent for parent in folder.parents if parent.is_mount())
    with (disk / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            file.truncate(max(0, file.tell() - left))
