"""What a job is: work in a folder, done by a separate process that outlives the page or shell that started it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol

from frozenlab.jobs.state import SLOW_STALLED_AFTER, STALLED_AFTER, WorkerState, read_state

STOP_FILE = "stop"
"""A file in a job's folder that asks its worker to stop: a session stops after its step, others after an answer or a batch of boards."""


class Job(Protocol):
    """A piece of work of one of KINDS, such as a session. Its work is the function ``work`` in the worker module of its kind."""

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

    def state(self) -> WorkerState:
        """Its current state."""
        return read_state(self.dir)

    def command(self) -> list[str]:
        """The command that starts its worker."""
        return [sys.executable, "-m", "frozenlab.jobs", self.kind, str(self.dir)]


class Kind(NamedTuple):
    """One kind of job: the place of its folders, and the module of its worker."""

    name: str
    place: str
    """The folder of its jobs, within the sessions folder."""
    task: str
    """The file that describes the job; a folder without it is not a job."""
    worker: str
    """The module with the worker's ``main(folder)``. Only worker processes import it, because most import torch."""


KINDS = (
    Kind("session", "", "session.json", "frozenlab.loop.worker"),
    Kind("evaluation", "results", "task.json", "frozenlab.benchmark.worker"),
    Kind("study", "studies", "study.json", "frozenlab.studies.worker"),
    Kind("replay", "replays", "task.json", "frozenlab.replays.worker"),
    Kind("diagnosis", "diagnoses", "task.json", "frozenlab.diagnosis.worker"),
    Kind("student", "students", "recipe.json", "frozenlab.students.worker"),
    Kind("contest", "contests", "task.json", "frozenlab.contests.worker"),
    Kind("headroom", "headroom", "task.json", "frozenlab.headroom.worker"),
)
