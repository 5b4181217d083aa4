"""A process with all libraries loaded that forks a worker for each job it is asked to run, so that a kill costs no import.

Run as ``python -m tests.faults.zygote``; a line of JSON in, see :class:`Order`, a line of JSON out when the worker has ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOOKED = ("replace", "rename", "fsync", "unlink", "rmdir")
"""What of ``os`` a worker is killed before and after."""
ALL_LIFE = (*HOOKED, "link", "mkdir")
"""The same for jobs that are watched from beginning to end."""


@dataclass(frozen=True)
class Order:
    """A job to be run, and what is to happen to its worker."""

    folder: str
    job: str = "session"
    """The kind of the job, or ``fork``: ``folder`` is forked after its first stage."""
    kill_after: float | None = None
    """Seconds after which it is killed."""
    kill_at: int | None = None
    """It is killed at this call of ``os``, counted from the last but one step of the first stage to the beginning of the second."""
    after: bool = False
    """After that call, not before."""
    listing: str | None = None
    """A file into which the names of those calls are written."""
    kill_when: str | None = None
    """It is killed when it tells this: an event such as ``step/1/9`` or ``proposed/0``."""
    fill_when: str | None = None
    """The disk is filled when it tells this."""
    left: int = 0
    """Bytes that are left free then."""
    at: str | None = None
    """Part of a call such as ``replace .../answers.parquet``. Calls are watched over the whole life of the job."""
    nth: int = 0
    """Which of those calls it is, from 0."""
    fills: bool = False
    """At that call the disk is filled; otherwise the worker is killed before it."""


def main() -> None:
    import numpy as np  # noqa: F401

    from frozenlab.lake.config import EnvironmentConfig
    from frozenlab.lake.draw.generator import generate

    generate(EnvironmentConfig.uniform((3, 4), agents=2), 4, 0, sum_of_costs=True)  # loads the compiled search
    print("ready", flush=True)
    for line in sys.stdin:
        order = Order(**json.loads(line))
        child = os.fork()
        if not child:
            os._exit(work(order))
        began, status = time.monotonic(), 0
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            if order.kill_after is not None and time.monotonic() - began > order.kill_after:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.005)
        status = os.waitstatus_to_exitcode(ended[1])
        print(json.dumps({"status": status, "seconds": time.monotonic() - began}), flush=True)


def work(order: Order) -> int:
    """In the fork: the worker, as it is run everywhere else."""
    folder = Path(order.folder)
    if order.job == "fork":
        return fork_it(order)
    into_log(folder)
    watch_all(order) if order.at else watch(order)
    try:
        from frozenlab.jobs.job import KINDS
        from frozenlab.jobs.worker import work_on

        return work_on(KINDS[order.job].open(folder))
    except BaseException as error:
        print(f"the worker raised {error!r}", flush=True)
        return 9


def into_log(folder: Path) -> None:
    log = os.open(folder / "worker.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)


def fork_it(order: Order) -> int:
    """The first stage is kept; then another engineer decides."""
    from frozenlab.session.forks import fork
    from frozenlab.session.session import Session
    from frozenlab.session.store import SessionStore

    parent = Session(Path(order.folder))
    watch_all(order)
    fork(parent, 0, SessionStore(parent.dir.parent), FORKED, engineer="uniform")
    return 0


FORKED = "forked"
"""The id of the fork."""


def watch_all(order: Order) -> None:
    """Kills the worker, or fills the disk, at the chosen call."""
    met = 0

    def hooked(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*given: Any, **named: Any) -> Any:
            nonlocal met
            told = f"{name} {given[1 if name in ('replace', 'rename', 'link') else 0]}"
            if order.at is not None and order.at in told:
                met += 1
                if met == order.nth + 1:
                    if not order.fills:
                        os.kill(os.getpid(), signal.SIGKILL)
                    fill(disk_of(Path(order.folder)) / "filler", order.left)
            return call(*given, **named)

        return wrapper

    for name in ALL_LIFE:
        setattr(os, name, hooked(name, getattr(os, name)))


def disk_of(folder: Path) -> Path:
    """Where the disk that the folder lies on begins."""
    return next(parent for parent in folder.parents if parent.is_mount())


def watch(order: Order) -> None:
    from frozenlab.session.recorder import Recorder

    ending = False
    calls: list[str] = []

    def hooked(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*given: Any, **named: Any) -> Any:
            number = len(calls)
            if ending:
                calls.append(f"{name} {given[0]}")
            if ending and number == order.kill_at and not order.after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = call(*given, **named)
            if ending and number == order.kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return wrapper

    record = Recorder.event

    def event(self: Recorder, kind: str, **fields: Any) -> None:
        nonlocal ending
        record(self, kind, **fields)
        place = "/".join(str(part) for part in (kind, fields.get("stage"), fields.get("step")) if part is not None)
        ending = ending or place == f"step/0/{self.state.steps - 1}"
        if (kind, fields.get("stage")) == ("stage", 1):
            ending = False
            if order.listing:
                Path(order.listing).write_text("\n".join(calls))
        if place == order.kill_when:
            os.kill(os.getpid(), signal.SIGKILL)
        if place == order.fill_when:
            fill(Path(order.folder).parent / "filler", order.left)

    Recorder.event = event  # type: ignore[method-assign]
    if order.kill_at is not None or order.listing:
        for name in HOOKED:
            setattr(os, name, hooked(name, getattr(os, name)))


def fill(filler: Path, left: int) -> None:
    """Leaves ``left`` bytes of the disk."""
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            file.truncate(max(0, file.tell() - left))


if __name__ == "__main__":
    main()
