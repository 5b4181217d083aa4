"""Keeping answers as they come, so that a job that asks for many can be stopped or killed at any time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from frozenlab.jobs.recorder import JobRecorder

EVERY = 1.0
"""Seconds of answers that a kill may cost at the most."""

Answer = TypeVar("Answer")


def keep_all(
    new: Iterable[Answer],
    known: list[Answer],
    total: int,
    write: Callable[[list[Answer]], None],
    recorder: JobRecorder[Any],
) -> None:
    """Take the new answers one by one, tell the progress, and write all answers every second and at the end, however it ends.

    Args:
        known: the answers of earlier runs; the new ones are added to it.
        total: answers that there will be in all.
        write: replaces the file of answers.

    Raises:
        Stopped: the job was asked to stop.
    """
    at_first, began, written = len(known), time.monotonic(), 0.0
    try:
        for answer in new:
            known.append(answer)
            if time.monotonic() - written > EVERY:
                write(known)
                written = time.monotonic()
            pace = (time.monotonic() - began) / (len(known) - at_first)
            recorder.tell(len(known) / total, pace * (total - len(known)))
    finally:
        if len(known) > at_first:
            write(known)
