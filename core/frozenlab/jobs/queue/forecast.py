"""When each job of the queue will begin and end, by what jobs like it took on this machine."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from frozenlab.jobs.needs import Needs
from frozenlab.jobs.queue.book import Ended, Entry
from frozenlab.jobs.queue.schedule import decide

LAST = 10
"""Ended jobs of a sort from which a time is taken."""


@dataclass(frozen=True)
class Expected:
    """Unix seconds at which a job begins and ends; None where this machine does not know yet how long jobs like it, or before it, take."""

    begins: float | None
    ends: float | None


class Pace:
    """How long jobs take on this machine: the median of the last that ended by themselves, for each unit of their work."""

    def __init__(self, ended: Iterable[Ended]) -> None:
        """
        Args:
            ended: the last ones first.
        """
        self.units: dict[tuple[str, str], list[float]] = {}
        for job in ended:
            if job.status in ("done", "waiting") and job.seconds > 0 and job.amount > 0:
                known = self.units.setdefault((job.kind, job.like), [])
                if len(known) < LAST:
                    known.append(job.seconds / job.amount)

    def seconds(self, kind: str, like: str, amount: float) -> float | None:
        """That a job takes in all; None if none like it has ended here."""
        known = self.units.get((kind, like))
        return median(known) * amount if known else None


def forecast(
    entries: Sequence[Entry], left: Mapping[str, float | None], machine: Needs, now: float, paused: bool = False
) -> dict[str, Expected]:
    """When every job begins and ends, if nothing else is entered.

    Args:
        left: seconds of work that a job still has, by its folder; None or missing where that is not known.
        paused: the queue is: only urgent jobs begin.
    """
    turns = {entry.folder: entry.turn(now) for entry in entries}
    ends = {name: end_of(now, left.get(name)) for name, turn in turns.items() if turn.began is not None}
    found = {name: Expected(turns[name].began, known(end)) for name, end in ends.items()}
    at = now
    while True:
        begun = decide(list(turns.values()), machine, now, paused).begin
        for name in begun:
            ends[name] = end_of(at, left.get(name))
            found[name] = Expected(known(at), known(ends[name]))
            turns[name] = replace(turns[name], began=at)
        at = min(ends.values(), default=math.inf)
        if at == math.inf:
            break
        for name in [name for name, end in ends.items() if end <= at]:
            del ends[name], turns[name]
    return {entry.folder: found.get(entry.folder, Expected(None, None)) for entry in entries}


def end_of(begins: float, seconds: float | None) -> float:
    return math.inf if seconds is None else begins + seconds


def known(moment: float) -> float | None:
    return None if moment == math.inf else moment
