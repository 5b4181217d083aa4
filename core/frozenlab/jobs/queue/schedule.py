"""What the machine has for jobs, and which jobs begin now or make room.

The rules:

1. Urgent jobs begin first, then the others; among each, first come, first served.
2. A job begins if the cores, GPUs and memory that it needs are free. If some are not, the free ones are kept for it: later jobs that
   need them too do not overtake.
3. An urgent job does not wait for cores, unless urgent jobs have them all. Running jobs that are not urgent make room for it, the newest
   first: they are asked to stop at their next step, and it begins at once. For GPUs and memory it waits until they have stopped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from frozenlab.jobs.machine import Needs, cores, gpus, memory
from frozenlab.jobs.queue.db import QueuedJob


def machine() -> Needs:
    """The cores, GPUs and GiB that jobs may use."""
    return Needs(cores(), len(visible_cards()), memory().total // 2**30)


def free_cards(jobs: Iterable[QueuedJob], wanted: int) -> str:
    """The numbers of at most ``wanted`` GPUs that no running job has, as ``0,1``."""
    taken = {card for job in jobs if job.running for card in job.cards.split(",")}
    return ",".join([card for card in visible_cards() if card not in taken][:wanted])


def visible_cards() -> list[str]:
    """The numbers of the GPUs that jobs may use: all, or those that ``CUDA_VISIBLE_DEVICES`` names."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    here = [str(number) for number in range(len(gpus()))]
    return here if named is None else [card.strip() for card in named.split(",") if card.strip() and here]


@dataclass(frozen=True)
class Decisions:
    """What is to be done now."""

    begin: tuple[QueuedJob, ...]
    """In this order."""
    make_room: tuple[tuple[QueuedJob, QueuedJob], ...]
    """Running jobs that are asked to stop, each with the urgent job for which it makes room."""


def in_order(jobs: Iterable[QueuedJob]) -> list[QueuedJob]:
    """The waiting jobs in the order in which they are to begin."""
    return sorted((job for job in jobs if not job.running), key=lambda job: (not job.urgent, job.queued, job.folder))


def decide(jobs: Sequence[QueuedJob], machine: Needs, now: float = 0.0, paused: bool = False) -> Decisions:
    """Which waiting jobs begin, and which running ones make room.

    Args:
        jobs: every job that waits or runs.
        machine: what it has in all; a job that needs more gets all of it.
        now: unix seconds.
        paused: whether only urgent jobs begin.
    """

    def needs(job: QueuedJob) -> dict[str, int]:
        return {name: min(getattr(job, name), most) for name, most in machine._asdict().items()}

    def taken(jobs: Iterable[QueuedJob], name: str) -> int:
        return sum(needs(job)[name] for job in jobs)

    running = [job for job in jobs if job.running]
    urgent = [job for job in running if job.urgent]
    stopping = [job for job in running if job.wish]
    movable = [job for job in running if not (job.urgent or job.wish or job.in_terminal)]
    movable.sort(key=lambda job: (-job.began, job.folder))
    free = {name: most - taken(running, name) for name, most in machine._asdict().items()}
    begin, make_room = [], []
    for job in in_order(jobs):
        if job.paused or job.not_before > now or (paused and not job.urgent):
            continue
        need = needs(job)
        lacks = {name for name in need if need[name] > max(free[name], 0)}
        if lacks and job.urgent and taken(urgent, "cores") + need["cores"] <= machine.cores:
            for other in [*movable]:
                if any(needs(other)[name] for name in lacks if need[name] > free[name] + taken(stopping, name)):
                    movable.remove(other)
                    stopping.append(other)
                    make_room.append((other, job))
            lacks -= {"cores"}
        if lacks:
            free |= {name: min(free[name], 0) for name in lacks}
            continue
        begin.append(job)
        free = {name: free[name] - need[name] for name in free}
        urgent += [job] if job.urgent else []
    return Decisions(tuple(begin), tuple(make_room))
