"""The worker of a headroom measurement: measures what is missing, several parts at a time, then writes the report.

Asked to stop, it ends after the present step of each part. Parts that were done are kept; a part that was interrupted begins again and
comes out the same.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frozenlab.base.errors import Stopped
from frozenlab.experiments.headroom.plan import Fork, dose_forks, menu_forks
from frozenlab.experiments.headroom.report import report_of
from frozenlab.experiments.headroom.store import Headroom, Influence, write_influence, write_outcomes, write_report
from frozenlab.jobs.job import STOP_FILE
from frozenlab.jobs.machine import cores
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.worker import end_with

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import SynchronizedArray

Part = int | Fork
"""A part of the work: the influence matrix of a student, by its number, or a fork."""
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
    write_report(measurement, report_of(measurement))


@dataclass
class Work:
    """What is left of a measurement, part by part."""

    recorder: JobRecorder[Headroom]
    pool: ProcessPoolExecutor
    matrices_begun: SynchronizedArray[float]
    """Student -> the part of its matrix that is done, 0..1; 0 again when it is written."""

    def finish(self) -> None:
        measurement, spec = self.recorder.job, self.recorder.job.spec
        table = measurement.outcomes()
        self.rows: list[dict[str, Any]] = [] if table is None else table.to_dict("records")
        students = range(len(spec.students)) if spec.probes else ()
        matrices = [student for student in students if measurement.influence(student) is None]
        known = {Fork.of(row) for row in self.rows}
        self.done = len(students) - len(matrices) + len(known)
        self.measure([*matrices, *(fork for fork in menu_forks(spec) if fork not in known)])
        if spec.forks and spec.forks.doses:
            self.measure([fork for fork in dose_forks(spec, self.rows) if fork not in known])

    def measure(self, parts: Sequence[Part]) -> None:
        """Measures parts and writes each as it comes. Raises Stopped, or what a part raised."""
        futures = {self.pool.submit(measured_part, str(self.recorder.job.dir), part): part for part in parts}
        left = set(futures)
        while left:
            ended, left = wait(left, timeout=POLL, return_when=FIRST_COMPLETED)
            if self.recorder.stopping():  # the parts see it too, and end
                raise Stopped
            for future in ended:
                self.keep(futures[future], future.result())
            self.tell()

    def keep(self, part: Part, result: Any) -> None:
        if isinstance(part, Fork):
            self.rows += result
            write_outcomes(self.recorder.job.dir, self.rows)
        else:
            write_influence(self.recorder.job, part, result)
            self.matrices_begun[part] = 0.0
        self.done += 1

    def tell(self) -> None:
        """Writes the progress; a heartbeat too. Raises Stopped if asked to stop."""
        self.recorder.tell((self.done + sum(self.matrices_begun[:])) / self.recorder.job.total)


def begin(keeper: int, matrices_begun: SynchronizedArray[float]) -> None:
    """The first that a process of the pool does."""
    global _matrices_begun
    _matrices_begun = matrices_begun
    end_with(keeper)


_matrices_begun: SynchronizedArray[float]
"""Shared by all processes of the pool."""


def measured_part(folder: str, part: Part) -> Influence | list[dict[str, Any]]:
    """Runs in a process of the pool."""
    from frozenlab.experiments.headroom.measuring import measure_fork, measure_influence  # imports torch

    spec, stopping = Headroom(Path(folder)).spec, (Path(folder) / STOP_FILE).exists
    if isinstance(part, Fork):
        return measure_fork(spec, part, stopping)

    def note(done: float) -> None:
        _matrices_begun[part] = done

    return measure_influence(spec, part, note, stopping)
