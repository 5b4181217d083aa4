"""What a job takes of its machine."""

from __future__ import annotations

from typing import NamedTuple

from frozenlab.jobs.environment import THREADS
from frozenlab.jobs.gpus import gpus


class Needs(NamedTuple):
    """What a job takes while it runs, or what a machine has."""

    cores: int = 0
    gpus: int = 0


LAB_MODEL = Needs(cores=THREADS)
"""A worker with a lab model."""
HAS_OTHERS_RUN = Needs()
"""A worker that has other jobs do the work: they take the cores."""


def language_model(cards: int = 1) -> Needs:
    """A worker with a language model, on so many GPUs if the machine has any."""
    return Needs(THREADS, cards if gpus() else 0)
