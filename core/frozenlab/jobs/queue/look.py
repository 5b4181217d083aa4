"""The queue as people see it: jobs that run, jobs that wait in their order, and jobs that ended without a result."""

from __future__ import annotations

import math
import time
from collections.abc import Container, Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Lock

from frozenlab.jobs.machine import Needs
from frozenlab.jobs.queue.db import PAUSED, EndedJob, QueueDB, QueuedJob, Revision
from frozenlab.jobs.queue.schedule import decide, in_order, machine
from frozenlab.jobs.queue.watch import wake_if_needed
from frozenlab.jobs.state import UNFINISHED, process_alive, read_state

FRESH = 1.5
"""Seconds for which all viewers see the same."""
LATELY = 7 * 24 * 3600.0
"""Seconds for which a job is listed that ended without a result."""
LISTED = 20
"""Jobs without a result that are listed."""
ORDINALS = ("next", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


@dataclass(frozen=True)
class Unfinished:
    """A job that left the queue without a result."""

    job: EndedJob
    error: str | None
    """Why, as its folder says."""

    @property
    def why(self) -> str:
        """The first line of the error; empty if there is none."""
        return (self.error or "").partition("\n")[0]


@dataclass(frozen=True)
class Look:
    """The queue at one moment."""

    root: Path
    now: float
    running: tuple[QueuedJob, ...]
    waiting: tuple[QueuedJob, ...]
    """In their order."""
    paused: bool
    machine: Needs
    unfinished: tuple[Unfinished, ...]
    """Jobs that ended without a result in the last week, the last first, unless they were tried again or deleted since."""

    @property
    def jobs(self) -> tuple[QueuedJob, ...]:
        return self.running + self.waiting

    @property
    def summary(self) -> str:
        """``2 running, 5 queued``; empty if nothing is."""
        words = [f"{len(self.running)} running"] if self.running else []
        words += [f"{len(self.waiting)} queued"] if self.waiting else []
        return ", ".join([*words, "the queue is paused"] if self.paused else words)

    def has_room(self, needs: Needs) -> bool:
        """Whether a job with these needs would begin at once."""
        new = QueuedJob("", "", "", queued=math.inf, **needs._asdict())
        return new in decide((*self.jobs, new), self.machine, self.now, self.paused).begin

    def in_line(self, job: QueuedJob | None = None) -> str:
        """``third in line``: the place of a waiting job, or of one that would be entered now."""
        ahead = len(self.waiting) if job is None else self.waiting.index(job)
        return f"{ORDINALS[ahead]} in line" if ahead < len(ORDINALS) else f"number {ahead + 1} in line"


def look(root: Path) -> Look:
    """The queue of this machine, the same for all viewers of a process within FRESH seconds unless it changes. Starts a dispatcher if
    there is none and there should be one."""
    with _one_looks:
        known = _seen.get(root)
        if known is None or time.time() - known[1].now > FRESH or known[0] != QueueDB(root).revision():
            wake_if_needed(root)
            known = _seen[root] = QueueDB(root).revision(), look_anew(root)
        return known[1]


_one_looks = Lock()
_seen: dict[Path, tuple[Revision, Look]] = {}


def look_anew(root: Path) -> Look:
    db, now = QueueDB(root), time.time()
    jobs = [job for job in db.jobs() if not job.in_terminal or process_alive(job.pid, job.create_time)]
    running = sorted((job for job in jobs if job.running), key=lambda job: job.began)
    ended = unfinished(db.ended(), {job.folder for job in jobs}, now)
    return Look(root, now, tuple(running), tuple(in_order(jobs)), db.fact(PAUSED), machine(), ended)


def unfinished(ended: Iterable[EndedJob], known: Container[str], now: float) -> tuple[Unfinished, ...]:
    """Of the jobs that left the queue, the last first, those without a result; none of the ``known`` folders, which are in the queue
    again."""
    last: dict[str, EndedJob] = {}
    for one in ended:
        if now - one.ended < LATELY and not one.parent and one.folder not in known:
            last.setdefault(one.folder, one)
    there = ((one, read_state(one.path)) for one in last.values() if one.status in UNFINISHED and one.path.is_dir())
    return tuple(islice((Unfinished(one, state.error) for one, state in there if state.status in UNFINISHED), LISTED))
