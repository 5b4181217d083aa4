"""Which jobs begin now, and which make room for an urgent one: a function of the queue and the machine, and nothing else.

The rules:

1. Jobs begin in the order of their levels, and within a level in the order of their places. A job that has waited for a day moves up a
   level.
2. A job begins if what it needs is free. If something is not, what is free of that is kept for it: later jobs that need it too do not
   overtake.
3. An urgent job does not wait for cores, unless urgent ones have them all. Running jobs of the lowest level make room for it, the newest
   first: they are asked to stop at their next step, and it begins at once. For GPUs and memory it waits until they have stopped.
4. Memory never keeps a machine idle: if no job takes cores or GPUs, the first that does begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from frozenlab.jobs.needs import Level, Needs

DAY = 86400.0


@dataclass(frozen=True)
class Turn:
    """A job of the queue as the scheduler sees it."""

    name: str
    needs: Needs
    level: Level = Level.NORMAL
    place: float = 0.0
    """Jobs of a level begin in the order of their places."""
    queued: float = 0.0
    """Unix seconds since when it waits."""
    began: float | None = None
    """Unix seconds since when it runs; None: it waits."""
    ready: bool = True
    """Whether it may begin: it is not paused."""
    stopping: bool = False
    """Whether it was asked to stop, and runs until its next step."""
    movable: bool = True
    """Whether it may be asked to make room."""


@dataclass(frozen=True)
class Decisions:
    """What is to be done now."""

    begin: tuple[str, ...] = ()
    """In this order."""
    make_room: tuple[tuple[str, str], ...] = ()
    """Jobs that are asked to stop, each with the urgent one that they make room for."""


def in_order(turns: Iterable[Turn], now: float = 0.0) -> list[Turn]:
    """The waiting jobs in the order in which they are to begin."""
    waiting = [turn for turn in turns if turn.began is None]
    return sorted(waiting, key=lambda turn: (-standing(turn, now), turn.place, turn.name))


def standing(turn: Turn, now: float) -> Level:
    """The level at which a job waits: one above its own after a day, but never urgent."""
    return Level(min(turn.level + 1, Level.HIGH)) if turn.level < Level.HIGH and now - turn.queued > DAY else turn.level


def decide(turns: Sequence[Turn], machine: Needs, now: float = 0.0, paused: bool = False) -> Decisions:
    """What to begin and what to ask for room.

    Args:
        turns: every job that waits or runs.
        machine: what it has in all; a job that needs more gets all of it.
        now: unix seconds.
        paused: begin urgent jobs only.
    """
    return Scheduler(turns, machine).decide(now, paused)


class Scheduler:
    """The machine while it is decided what begins on it."""

    def __init__(self, turns: Sequence[Turn], machine: Needs) -> None:
        self.turns, self.machine = turns, machine
        running = [turn for turn in turns if turn.began is not None]
        self.free = Needs(*(have - sum(taken) for have, *taken in zip(machine, *map(self.needs, running), strict=True)))
        self.coming = Needs(*map(sum, zip(Needs(), *(self.needs(turn) for turn in running if turn.stopping), strict=True)))
        """What those will free that were asked to stop."""
        self.empty = not running
        self.idle = not any(turn.needs.cores or turn.needs.gpus for turn in running)
        self.urgent_cores = sum(self.needs(turn).cores for turn in running if turn.level == Level.URGENT)
        self.movable = [turn for turn in running if turn.movable and not turn.stopping and turn.level < Level.URGENT]

    def needs(self, turn: Turn) -> Needs:
        """At most what the machine has."""
        return Needs(*map(min, turn.needs, self.machine))

    def decide(self, now: float, paused: bool) -> Decisions:
        begin: list[str] = []
        make_room: list[tuple[str, str]] = []
        for turn in in_order(self.turns, now):
            if not turn.ready or (paused and turn.level < Level.URGENT):
                continue
            needs = self.needs(turn)
            lacks = {name for name, need, free in zip(Needs._fields, needs, self.free, strict=True) if need > max(free, 0)}
            if lacks == {"memory"} and (self.empty or (self.idle and (needs.cores or needs.gpus))):
                lacks = set()
            if lacks and turn.level == Level.URGENT and self.urgent_cores + needs.cores <= self.machine.cores:
                make_room += [(other, turn.name) for other in self.moved_for(needs, lacks)]
                lacks -= {"cores"}
            if not lacks:
                begin.append(turn.name)
                self.take(turn, needs)
            else:  # what is free of that is kept for this job
                kept = {name: min(getattr(self.free, name), 0) for name in lacks}
                self.free = self.free._replace(**kept)
        return Decisions(tuple(begin), tuple(make_room))

    def take(self, turn: Turn, needs: Needs) -> None:
        self.free = Needs(*(free - need for free, need in zip(self.free, needs, strict=True)))
        self.empty, self.idle = False, self.idle and not (needs.cores or needs.gpus)
        self.urgent_cores += needs.cores if turn.level == Level.URGENT else 0

    def moved_for(self, needs: Needs, lacks: set[str]) -> Iterator[str]:
        """Asks running jobs to make room until what lacks is free or will be."""
        for turn in sorted(self.movable, key=lambda turn: (turn.level, -(turn.began or 0.0), turn.name)):
            short = {n for n in lacks if getattr(needs, n) > getattr(self.free, n) + getattr(self.coming, n)}
            theirs = self.needs(turn)
            if any(getattr(theirs, name) for name in short):
                self.movable.remove(turn)
                self.coming = Needs(*map(sum, zip(self.coming, theirs, strict=True)))
                yield turn.name
