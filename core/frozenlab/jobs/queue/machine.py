"""What the machine of a queue has for jobs."""

from __future__ import annotations

import os
from collections.abc import Iterable

from frozenlab.jobs.gpus import gpus
from frozenlab.jobs.needs import Needs
from frozenlab.jobs.queue.book import Book
from frozenlab.jobs.share import cores, memory

FOR_JOBS = 0.9
"""The part of the memory that jobs may take together."""


def machine_has(running: Iterable[Needs]) -> Needs:
    """Its cores, its GPUs, and the memory that it has for jobs: what is kept for the ``running`` ones and what is free besides."""
    total, available = memory()
    kept = sum(needs.memory for needs in running)
    return Needs(cores(), len(visible_cards()), int(min(FOR_JOBS * total, kept + available)))


def free_cards(book: Book, wanted: int) -> str:
    """The numbers of so many GPUs that no job in the queue has."""
    taken = {card for entry in book.entries() if entry.running for card in entry.cards.split(",")}
    return ",".join([card for card in visible_cards() if card not in taken][:wanted])


def visible_cards() -> list[str]:
    """The numbers of the GPUs that jobs may use: all, or those that ``CUDA_VISIBLE_DEVICES`` names."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    here = [str(number) for number in range(len(gpus()))]
    return here if named is None else [card.strip() for card in named.split(",") if card.strip() and here]
