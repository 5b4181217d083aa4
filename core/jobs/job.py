"""What a job is: work in a folder that a process of its own does, outliving the page or shell that started it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar, NamedTuple, Protocol

from frozenlab.jobs.state import SLOW_STALLED_AFTER, STALLED_AFTER, WorkerState, read_state

STOP_FILE = "stop"
"""Put into a job's folder to ask its worker to stop: a session does after its step, others after an answer or a batch of boards."""


class Job(Protocol):
    """A session, an evaluation, a study or a replay. What its worker does is the function ``work`` of the kind's worker module."""

    kind: ClassVar[str]
    """One of KINDS, by its name."""
    dir: Path
    id: str

    @property
    def title(self) -> str:
        """What people call it."""

    @property
    def slow(self) -> bool:
        """Whether a step may take minutes, as with a language model."""

    @property
    def patience(self) -> float:
        """Seconds without a sign of life after which its worker counts as stalled."""
        return SLOW_STALLED_AFTER if self.slow else STALLED_AFTER

    @property
    def online(self) -> bool:
        """Whether its worker may look things up on a hub."""
        return False

    def state(self) -> WorkerState:
        """What it is doing now."""
        return read_state(self.dir)

    def command(self) -> list[str]:
        """What starts its worker."""
        return [sys.executable, "-m", "frozenlab.jobs", self.kind, str(self.dir)]


class Kind(NamedTuple):
    """One kind of job: where its folders lie, and which module has its work."""

    name: str
    place: str
    """The folder of its jobs, within the sessions folder."""
    task: str
    """The file that says what is to be done; a folder without it is no job."""
    worker: str
    """The module whose ``main(folder)`` is the worker. Only worker processes import it: most import torch."""


KINDS = (
    Kind("session", "", "session.json", "frozenlab.loop.worker"),
    Kind("evaluation", "results", "task.json", "frozenlab.benchmark.worker"),
    Kind("study", "studies", "study.json", "frozenlab.studies.worker"),
    Kind("replay", "replays", "task.json", "frozenlab.replays.worker"),
)
