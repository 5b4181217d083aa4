"""The worker of a headroom measurement: measures what is missing, several parts at a time, then writes the report.

Asked to stop, it ends after the present step of each part. Parts that were done are kept; a part that was interrupted begins again and
comes out the same.
"""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frozenlab.base.errors import Stopped
from frozenlab.experiments.headroom.plan import Fork, dose_forks, menu_forks
from frozenlab.experiments.headroom.report import report_of, save_report
from frozenlab.experiments.headroom.store import Headroom, Influence, write_influence, write_outcomes
from frozenlab.jobs.job import STOP_FILE
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.share import cores
from frozenlab.jobs.worker import end_with

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import SynchronizedArray

POLL = 0.5
"""Seconds between looks for a request to stop."""


def work(recorder: JobRecorder[Headroom]) -> None:
    """Measure what is missing, as many parts at a time as there are cores, each in a process of one thread or a few. Raises Stopped."""
    measurement = recorder.job
    frame = multiprocessing.get_context("spawn")  # a fork of a process that has run torch may hang
    matrices_begun = frame.Array("d", len(measurement.spec.students))
    with ProcessPoolExecutor(
        measurement.run.jobs or cores(), mp_context=frame, initializer=begin, initargs=(os.getpid(), matrices_begun)
    ) as pool:
        try:
            Work(recorder, pool, matrices_begun).finish()
        finally:
            pool.shutdown(cancel_futures=True)
    save_report(measurement, report_of(measurement))


@dataclass
class Work:
    """What is left of a measurement, part by part."""

    recorder: JobRecorder[Headroom]
    pool: ProcessPoolExecutor
    matrices_begun: SynchronizedArray[float]
    """Student -> the part of its matrix that is done, 0..1; 0 again when it is written."""

    def finish(self) -> None:
        measurement = self.recorder.job
        spec = measurement.spec
        table = measurement.outcomes()
        self.rows: list[dict[str, Any]] = [] if table is None else table.to_dict("records")
        matrices = [student for student in range(len(spec.students)) if spec.probes and measurement.influence(student) is None]
        known = {Fork.of(row) for row in self.rows}
        missing = [fork for fork in menu_forks(spec) if fork not in known]
        doses = len(spec.students) * spec.forks.replicates * len(spec.forks.doses) if spec.forks else 0
        left = len(matrices) + len(missing) + doses - sum(fork.part == "dose" for fork in known)
        self.done, self.total, self.at_first, self.began = spec.units - left, spec.units, spec.units - left, time.monotonic()
        futures: dict[Future[Any], int | Fork] = {}
        for student in matrices:
            futures[self.pool.submit(influence_part, str(measurement.dir), student)] = student
        for fork in missing:
            futures[self.pool.submit(fork_part, str(measurement.dir), fork)] = fork
        self.collect(futures)
        if spec.forks and spec.forks.doses:
            missing = [fork for fork in dose_forks(spec, self.rows) if fork not in known]
            self.collect({self.pool.submit(fork_part, str(measurement.dir), fork): fork for fork in missing})

    def collect(self, futures: dict[Future[Any], int | Fork]) -> None:
        """Writes each result as it comes. Raises Stopped, or what a part raised."""
        for future in self.ended(futures):
            part, result = futures[future], future.result()
            if isinstance(part, Fork):
                self.rows += result
                write_outcomes(self.recorder.job.dir, self.rows)
            else:
                write_influence(self.recorder.job, part, result)
                self.matrices_begun[part] = 0.0
            self.done += 1
            self.tell()

    def tell(self) -> None:
        """Writes the progress, with the time that is left at this pace; a heartbeat too. Raises Stopped if asked to stop."""
        done = self.done + sum(self.matrices_begun[:])
        new = done - self.at_first
        left = (time.monotonic() - self.began) / new * (self.total - done) if new else None
        self.recorder.tell(done / self.total, left)

    def ended(self, futures: dict[Future[Any], int | Fork]) -> Iterator[Future[Any]]:
        left = set(futures)
        while left:
            done, left = wait(left, timeout=POLL, return_when=FIRST_COMPLETED)
            if self.recorder.stopping():  # the parts see it too, and end
                raise Stopped
            if not done:
                self.tell()
            yield from done


def begin(keeper: int, matrices_begun: SynchronizedArray[float]) -> None:
    """The first that a process of the pool does."""
    global _matrices_begun
    _matrices_begun = matrices_begun
    end_with(keeper)


_matrices_begun: SynchronizedArray[float]
"""Shared by all processes of the pool."""


def influence_part(folder: str, student: int) -> Influence:
    """Runs in a process of the pool."""
    from frozenlab.experiments.headroom.measuring import measure_influence  # imports torch

    def note(done: float) -> None:
        _matrices_begun[student] = done

    return measure_influence(Headroom(Path(folder)).spec, student, note, stopping=(Path(folder) / STOP_FILE).exists)


def fork_part(folder: str, fork: Fork) -> list[dict[str, Any]]:
    """Runs in a process of the pool."""
    from frozenlab.experiments.headroom.measuring import measure_fork  # imports torch

    return measure_fork(Headroom(Path(folder)).spec, fork, stopping=(Path(folder) / STOP_FILE).exists)
