"""What a job takes of its machine, and how much work it is."""

from __future__ import annotations

from typing import NamedTuple

from frozenlab.jobs.environment import THREADS
from frozenlab.jobs.gpus import gpus


class Needs(NamedTuple):
    """What a job takes while it runs, or what a machine has."""

    cores: int = 0
    gpus: int = 0


class Work(NamedTuple):
    """How much a job has to do."""

    like: str = ""
    """Jobs of the same kind with the same words do the same kind of work, as ``lab-model/grpo``."""
    amount: float = 1.0
    """In a unit of its own, as sampled plans."""


LAB_MODEL = Needs(cores=THREADS)
"""A worker with a lab model."""
HAS_OTHERS_RUN = Needs()
"""A worker that has other jobs do the work: they take the cores."""


def language_model(cards: int = 1) -> Needs:
    """A worker with a language model, on so many GPUs if the machine has any."""
    return Needs(THREADS, cards if gpus() else 0)
