"""What a job takes of its machine, how much work it is, and how early its turn comes."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from frozenlab.jobs.environment import THREADS
from frozenlab.jobs.gpus import gpus

GIB = 2**30
WORKER, RUNNER = 3 * GIB // 2, GIB // 2
"""Bytes of memory to keep for a worker that imports torch, and for one that only has other jobs run."""
LANGUAGE_MODEL = 8 * GIB
"""The same for one that loads a language model: a rough value, as most of it lies on the GPU."""


class Level(IntEnum):
    """Of priority. A job of a higher level begins before those of lower ones; an urgent one does not wait for cores."""

    LOW = 0
    NORMAL = 1
    HIGH = 2
    URGENT = 3

    @property
    def word(self) -> str:
        return self.name.lower()


class Needs(NamedTuple):
    """What a job takes while it runs, or what a machine has."""

    cores: int = 0
    gpus: int = 0
    memory: int = 0
    """Bytes of the machine's own memory."""


class Work(NamedTuple):
    """How much a job has to do, to estimate its time from other jobs that did the same kind of work."""

    like: str = ""
    """Jobs of the same kind with the same words do the same kind of work, as ``lab-model/grpo``."""
    amount: float = 1.0
    """In a unit of its own, as sampled plans."""


LAB_MODEL = Needs(cores=THREADS, memory=WORKER)
"""A worker with a lab model."""
HAS_OTHERS_RUN = Needs(memory=RUNNER)
"""A worker that has other jobs do the work: they take the cores."""


def language_model(cards: int = 1) -> Needs:
    """A worker with a language model, on so many GPUs if the machine has any."""
    return Needs(THREADS, cards if gpus() else 0, LANGUAGE_MODEL)
