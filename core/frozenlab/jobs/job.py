"""What a job is: work in a folder, done by a separate process that outlives the page or shell that started it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol

from frozenlab.base import places
from frozenlab.jobs.environment import worker_command
from frozenlab.jobs.machine import LAB_MODEL, Needs
from frozenlab.jobs.state import SLOW_STALLED_AFTER, STALLED_AFTER, WorkerState, read_state

STOP_FILE = "stop"
"""A file in a job's folder that asks its worker to stop: a session stops after its step, others after an answer or a batch of boards."""
LOCK_WAIT = 20.0
"""Seconds to wait for the lock of another worker, which may just have been killed, perhaps with its machine."""


class Job(Protocol):
    """A piece of work of one of KINDS, such as a session."""

    kind: ClassVar[str]
    """The name of one of KINDS."""
    dir: Path
    id: str

    @property
    def title(self) -> str:
        """Its name for people."""

    @property
    def slow(self) -> bool:
        """Whether a step may take minutes, as with a language model."""

    @property
    def patience(self) -> float:
        """Seconds without a heartbeat after which its worker counts as stalled."""
        return SLOW_STALLED_AFTER if self.slow else STALLED_AFTER

    @property
    def online(self) -> bool:
        """Whether its worker may use the Hugging Face hub."""
        return False

    @property
    def outer(self) -> Path | None:
        """The folder of the job that has it run; None if it lies by itself or among others of its kind."""
        return self.dir.parents[1] if any(self.dir.parent.match(place) for place in kind_of(self).within) else None

    @property
    def address(self) -> str:
        """Its id; within the job that has it run, that job's id before it: ``which-context/no-failures-s1``."""
        return f"{self.outer.name}/{self.id}" if self.outer else self.id

    @property
    def root(self) -> Path:
        """The sessions folder in which it lies, by itself, among others of its kind, or within the job that has it run."""
        if self.outer:
            return self.outer.parents[1]
        return self.dir.parents[1] if kind_of(self).place else self.dir.parent

    @property
    def needs(self) -> Needs:
        """What it takes of a machine while it runs."""
        return LAB_MODEL

    def state(self) -> WorkerState:
        return read_state(self.dir)

    def command(self) -> list[str]:
        """The command that starts its worker."""
        return worker_command(self.kind, self.dir)


class Kind(NamedTuple):
    """One kind of job: the place of its folders, and the module of its worker."""

    name: str
    place: str
    """The folder of its jobs, within the sessions folder."""
    task: str
    """The file that describes the job; a folder without it is not a job."""
    worker: str
    """The module whose function ``work(recorder)`` does the work. Most import torch, so only worker processes import them."""
    opens: str
    """The class that opens a folder as a :class:`Job`."""
    recorder: str = "frozenlab.jobs.recorder.JobRecorder"
    """The class that records the work."""
    within: tuple[str, ...] = ()
    """Patterns of more places: folders of other jobs that have these run."""
    lock_wait: float = LOCK_WAIT
    """Seconds that a worker waits for another one of the same job to end."""

    @property
    def inside(self) -> list[tuple[str, str]]:
        """Those places, split into the folder of the outer jobs and the subfolder in each: ``("studies", "cells")``."""
        return [(place, part) for place, _, part in (pattern.partition("/*/") for pattern in self.within)]

    def open(self, folder: Path) -> Job:
        """The job in a folder. Imports what its kind needs, but no torch. Raises the LabError of its kind."""
        module, name = self.opens.rsplit(".", 1)
        return getattr(import_module(module), name)(folder)


_EXPERIMENTS = "frozenlab.experiments"
KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "session", "", "session.json", "frozenlab.session.loop", "frozenlab.session.session.Session",
            "frozenlab.session.recorder.Recorder", within=("studies/*/cells", "contests/*/sides"),
        ),
        Kind(
            "evaluation", "results", "task.json", f"{_EXPERIMENTS}.benchmark.measuring",
            f"{_EXPERIMENTS}.benchmark.task.Evaluation",
        ),
        Kind("study", "studies", "study.json", f"{_EXPERIMENTS}.studies.runner", f"{_EXPERIMENTS}.studies.store.Study", lock_wait=0.0),
        Kind("replay", "replays", "task.json", f"{_EXPERIMENTS}.replays.asking", f"{_EXPERIMENTS}.replays.store.Replay"),
        Kind("diagnosis", "diagnoses", "task.json", f"{_EXPERIMENTS}.diagnosis.asking", f"{_EXPERIMENTS}.diagnosis.store.Diagnosis"),
        Kind("student", "students", "recipe.json", f"{_EXPERIMENTS}.students.making", f"{_EXPERIMENTS}.students.store.Student"),
        Kind("contest", "contests", "task.json", f"{_EXPERIMENTS}.contests.worker", f"{_EXPERIMENTS}.contests.store.Contest"),
        Kind("headroom", "headroom", "task.json", f"{_EXPERIMENTS}.headroom.worker", f"{_EXPERIMENTS}.headroom.store.Headroom"),
    )
}  # fmt: skip
"""The kinds of job by their names."""
RESERVED = {kind.place for kind in KINDS.values()} | {*places.BESIDE}
"""Names that no session may have, for sessions lie beside the folders of these names."""


def kind_of(job: Job | type[Job]) -> Kind:
    return KINDS[job.kind]
