"""Writes a job's ``state.json`` while its worker runs, and its answers as they come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from frozenlab.base.errors import Stopped
from frozenlab.base.files import sweep
from frozenlab.jobs.disk import free_reserve, in_words, reserve
from frozenlab.jobs.job import STOP_FILE, Job
from frozenlab.jobs.origin import keep_origin
from frozenlab.jobs.state import Status, WorkerState, own_process, store_state

AnyJob = TypeVar("AnyJob", bound=Job)
Answer = TypeVar("Answer")
EVERY = 1.0
"""Seconds of answers that a kill may cost at the most."""


class JobRecorder(Generic[AnyJob]):
    """Records the progress and the end of a job, and notices requests to stop it."""

    state: WorkerState
    on_progress: Callable[[float], None] | None = None
    """Gets the part of the work that is done, 0..1, whenever it is recorded."""
    on_event: Callable[[dict[str, Any]], None] | None = None
    """Gets each event of a session, for a terminal that follows along."""
    began_at: tuple[float, float] | None = None
    """When the work took up its pace in this process, in seconds of the steady clock, and the part that was done by then."""

    def __init__(self, job: AnyJob) -> None:
        self.job = job
        self.state = self.fresh_state()

    @property
    def under_way(self) -> bool:
        """Whether the pace of the work from here on says how long the rest will take."""
        return True

    def fresh_state(self) -> WorkerState:
        """The state of a job when its work begins or resumes in this process."""
        known = self.job.state()
        fresh = {"status": "running", "patience": self.job.patience, "error": None, "started": known.started or time.time()}
        return known.model_copy(update=fresh | own_process())

    def begin(self) -> None:
        """Prepare the folder, once the worker holds the job's lock."""
        reserve(self.job.dir)
        sweep(self.job.dir)
        keep_origin(self.job.dir)
        self.write()

    def tell(self, progress: float) -> None:
        """Record the part of the work that is done, 0..1. Raises Stopped if the job was asked to stop."""
        if self.on_progress is not None:
            self.on_progress(progress)
        self.stop_if_asked()
        self.state.progress = progress
        self.write()

    def keep_all(self, new: Iterable[Answer], known: list[Answer], total: int, write: Callable[[list[Answer]], None]) -> None:
        """Add the new answers to ``known`` one by one, and write all of them every second and at the end, however it ends.

        Args:
            known: the answers of earlier workers.
            total: answers that there will be in all.
            write: replaces the file of answers.

        Raises Stopped if the job was asked to stop.
        """
        at_first, written = len(known), 0.0
        try:
            for answer in new:
                known.append(answer)
                if time.monotonic() - written > EVERY:
                    write(known)
                    written = time.monotonic()
                self.tell(len(known) / total)
        finally:
            if len(known) > at_first:
                write(known)

    def stopping(self) -> bool:
        return (self.job.dir / STOP_FILE).exists()

    def stop_if_asked(self) -> None:
        if self.stopping():
            raise Stopped

    def end(self, status: Status) -> None:
        self.state.status, self.state.finished, self.state.seconds_left = status, time.time(), None
        if status == "done":
            self.state.progress = 1.0
        free_reserve(self.job.dir)
        self.write()

    def failed(self, error: Exception) -> None:
        """Record a failure, as far as the disk still allows."""
        self.state.error = in_words(error, self.job.dir)
        try:
            self.end("failed")
        except OSError as unwritten:
            print(f"that it failed could not be written down: {unwritten}", file=sys.stderr)

    def write(self) -> None:
        """Replace ``state.json`` after another look at how long the rest will take; every write is a heartbeat."""
        state, now = self.state, time.monotonic()
        if self.began_at is None:
            self.began_at = (now, state.progress) if self.under_way else None
        elif state.status == "running" and state.progress > self.began_at[1]:
            began, part = self.began_at
            state.seconds_left = (now - began) * (1 - state.progress) / (state.progress - part)
        state.heartbeat = time.time()
        store_state(self.job.dir, self.state)
