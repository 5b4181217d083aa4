"""The queue as people see it: what runs and what waits, in order, with the times at which each will begin and end."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Literal

from frozenlab.jobs.job import STOP_FILE
from frozenlab.jobs.needs import Level, Needs, Work
from frozenlab.jobs.queue.book import Book, Ended, Entry, Revision
from frozenlab.jobs.queue.forecast import Expected, Pace, forecast
from frozenlab.jobs.queue.machine import machine_has
from frozenlab.jobs.queue.schedule import in_order
from frozenlab.jobs.queue.watch import wake_if_needed
from frozenlab.jobs.state import UNFINISHED, Alarm, WorkerState, process_alive, read_state, stored_state

FORESEEN = 300
"""Jobs for which times are computed; those far behind have none."""
FRESH = 1.5
"""Seconds for which all viewers see the same."""
LATELY = 7 * 24 * 3600.0
"""Seconds for which a job is listed that ended without a result."""
LISTED = 20
"""Jobs without a result that are listed."""
BEGUN = 0.05
"""Progress from which the time that is left is read."""

Standing = Literal["starts", "runs", "stops", "makes room", "waits", "paused"]


@dataclass(frozen=True)
class Place:
    """A job in the queue."""

    entry: Entry
    standing: Standing
    progress: float
    """0..1."""
    expected: Expected
    alarms: tuple[Alarm, ...] = ()
    """What its worker found wrong when it looked the last time."""

    @property
    def level(self) -> Level:
        return Level(self.entry.level)


@dataclass(frozen=True)
class Unfinished:
    """A job that left the queue without a result."""

    job: Ended
    error: str | None
    """Why, as its folder says."""

    @property
    def path(self) -> Path:
        return Path(self.job.folder)

    @property
    def why(self) -> str:
        """The first line of the error; empty if there is none."""
        return (self.error or "").partition("\n")[0]


@dataclass(frozen=True)
class Look:
    """The queue at one moment."""

    root: Path
    now: float
    places: tuple[Place, ...]
    """Those that run first, then those that wait, in their order."""
    paused: bool
    machine: Needs
    pace: Pace
    unfinished: tuple[Unfinished, ...] = ()
    """Jobs that ended without a result in the last days, the last first, unless they were tried again or deleted since."""

    @property
    def running(self) -> list[Place]:
        return [place for place in self.places if place.entry.running]

    @property
    def waiting(self) -> list[Place]:
        return [place for place in self.places if not place.entry.running]

    def place_of(self, folder: Path) -> Place | None:
        return next((place for place in self.places if place.entry.folder == str(folder)), None)

    def expected_of(self, kind: str, needs: Needs, work: Work, level: Level = Level.NORMAL) -> Expected:
        """When a job would begin and end that were entered now."""
        new = Entry("new", kind, "", level, time.time(), self.now, *needs, work.like, work.amount)
        left = {place.entry.folder: seconds_left(place.entry, stored_state(place.entry.path), self.pace, self.now) for place in self.places}
        left["new"] = self.pace.seconds(kind, work.like, work.amount)
        return forecast([*(place.entry for place in self.places[:FORESEEN]), new], left, self.machine, self.now, self.paused)["new"]


def look(root: Path) -> Look:
    """The queue of this machine, the same for all viewers of a process within FRESH seconds unless it changes. Starts a dispatcher if
    there is none and there should be one."""
    with _one_looks:
        known = _seen.get(root)
        if known is None or time.time() - known[1].now > FRESH or known[0] != Book(root).revision():
            wake_if_needed(root)
            known = _seen[root] = Book(root).revision(), look_anew(root)
        return known[1]


_one_looks = Lock()
_seen: dict[Path, tuple[Revision, Look]] = {}


def look_anew(root: Path) -> Look:
    book, now = Book(root), time.time()
    entries = [entry for entry in book.entries() if not entry.in_terminal or process_alive(entry.pid, entry.create_time)]
    ended = book.ended()
    pace, paused = Pace(ended), book.fact("paused") == "yes"
    states = {entry.folder: stored_state(entry.path) for entry in entries}
    machine = machine_has(entry.needs for entry in entries if entry.running)
    begun = sorted((entry for entry in entries if entry.running), key=lambda entry: entry.began)
    known = {entry.folder: entry for entry in entries}
    ordered = begun + [known[turn.name] for turn in in_order((entry.turn(now) for entry in entries), now)]
    left = {entry.folder: seconds_left(entry, states[entry.folder], pace, now) for entry in ordered[:FORESEEN]}
    times = forecast([replace(entry, not_before=0.0) for entry in ordered[:FORESEEN]], left, machine, now, paused)
    places = [
        Place(
            entry,
            standing(entry, states[entry.folder]),
            progress(states[entry.folder]),
            times.get(entry.folder, Expected(None, None)),
            tuple(state.alarms) if entry.running and (state := states[entry.folder]) is not None else (),
        )
        for entry in ordered
    ]
    return Look(root, now, tuple(places), paused, machine, pace, unfinished(ended, known, now))


def unfinished(ended: Iterable[Ended], known: Container[str], now: float) -> tuple[Unfinished, ...]:
    """Of the jobs that left the queue, the last first, those that still stand there without a result; none of the ``known`` folders, which
    are in the queue again."""
    last: dict[str, Ended] = {}
    for one in ended:
        if now - one.ended < LATELY and not one.parent and one.folder not in known:
            last.setdefault(one.folder, one)
    there = ((one, read_state(Path(one.folder))) for one in last.values() if one.status in UNFINISHED and Path(one.folder).is_dir())
    return tuple(islice((Unfinished(one, state.error) for one, state in there if state.status in UNFINISHED), LISTED))


def standing(entry: Entry, state: WorkerState | None) -> Standing:
    if not entry.running:
        return "paused" if entry.paused else "waits"
    if entry.wish == "aside":
        return "makes room"
    if entry.wish == "stop" or (entry.path / STOP_FILE).exists():
        return "stops"
    begun = state.status == "running" and state.pid == entry.pid if state is not None else entry.in_terminal
    return "runs" if begun else "starts"


def progress(state: WorkerState | None) -> float:
    return min(1.0, max(0.0, state.progress)) if state else 0.0


def seconds_left(entry: Entry, state: WorkerState | None, pace: Pace, now: float) -> float | None:
    """Of work, by what its worker says, else by its own pace so far, else by that of jobs like it."""
    done = progress(state)
    if entry.running and state is not None and state.seconds_left is not None:
        return max(0.0, state.seconds_left)
    worked = entry.spent + (now - entry.began if entry.running else 0.0)
    if done > BEGUN and worked > 0:
        return worked * (1 - done) / done
    whole = pace.seconds(entry.kind, entry.like, entry.amount)
    return None if whole is None else whole * (1 - done)
