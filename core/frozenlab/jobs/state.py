"""What a job is doing right now (``state.json``), and whether its worker is alive."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import psutil
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from frozenlab.base.files import Kept, read_json, regular, write_text

Status = Literal["queued", "running", "waiting", "stopped", "done", "failed", "crashed", "stalled"]
UNFINISHED: tuple[Status, ...] = ("failed", "crashed", "stopped")
"""How jobs end that can be tried again."""
STALLED_AFTER = 120.0
"""Seconds without a heartbeat after which a live worker counts as stalled; the slowest training step of a lab model takes a fraction of
this."""
SLOW_STALLED_AFTER = 3600.0
"""The same for a language model, which may have to be downloaded and compiled, and whose steps can take minutes."""

Count = Annotated[int, Field(ge=0, lt=2**31)]
Share = Annotated[float, Field(ge=0, le=1)]
Moment = Annotated[float, Field(ge=0, lt=2**40)]
"""Unix seconds."""
Seconds = Annotated[float, Field(gt=-(2**40), lt=2**40)]


class Alarm(BaseModel):
    """What goes wrong while a job runs, as lists of jobs show it."""

    rule: str
    """The name of the rule that gave it: ``reward-collapse``."""
    evidence: str
    """What is seen, with its figures."""

    @property
    def words(self) -> str:
        """``reward collapse``."""
        return self.rule.replace("-", " ")


class WorkerState(BaseModel):
    """The part of ``state.json`` that all jobs share. The worker replaces the file as a whole."""

    schema_version: Literal[1] = 1
    status: Status = "queued"
    progress: FiniteFloat = 0.0
    """Of the whole job, 0..1."""
    seconds_left: Seconds | None = None
    pid: Count | None = None
    create_time: Moment | None = None
    """Create time of the worker process, so that a recycled pid is not mistaken for it."""
    host: str | None = None
    """The worker's machine, or the one in whose queue the job is; None in states written by old versions of FrozenLab."""
    heartbeat: Moment | None = None
    patience: Seconds = STALLED_AFTER
    """Seconds without a heartbeat after which the worker counts as stalled."""
    started: Moment | None = None
    finished: Moment | None = None
    error: str | None = None
    alarms: list[Alarm] = Field(default_factory=list)
    """What the worker found wrong when it looked the last time."""

    @property
    def live(self) -> bool:
        """Whether the job will go on by itself."""
        return self.status in ("queued", "running", "stalled")

    @property
    def took(self) -> float | None:
        """Seconds from its start to its end; None before."""
        return self.finished - self.started if self.finished and self.started else None

    def queued(self) -> Self:
        """This state, but queued for a worker of this machine."""
        fresh: dict[str, Any] = dict.fromkeys(("error", "finished", "pid", "create_time", "seconds_left"))
        fresh |= {"status": "queued", "heartbeat": time.time(), "host": socket.gethostname(), "alarms": []}
        return self.model_copy(update=fresh)

    @property
    def elsewhere(self) -> bool:
        """Whether the worker runs on another machine, whose processes are not visible here."""
        return self.host is not None and self.host != socket.gethostname()


LOST = "state.json is missing or damaged"
Observed = TypeVar("Observed", bound=WorkerState)


def read_state(folder: Path) -> WorkerState:
    """The state in a worker's folder as readers should show it. A damaged ``state.json`` counts as failed."""
    stored = stored_state(folder)
    return WorkerState(status="failed", error=LOST) if stored is None else as_observed(stored)


class AnyState(WorkerState):
    """``state.json`` of any kind of job: what its kind adds is kept as it is."""

    model_config = ConfigDict(extra="allow")


def stored_state(folder: Path) -> AnyState | None:
    """What a job's ``state.json`` says, whether its worker is alive or not. None if it cannot be read."""
    try:
        return AnyState.model_validate_json(regular(folder / "state.json").read_bytes())
    except Exception:  # whatever is called state.json
        return None


def store_state(folder: Path, state: WorkerState) -> None:
    """Replace a job's ``state.json``, while no worker has the job."""
    write_text(folder / "state.json", state.model_dump_json(indent=2))


_live = Kept(lambda path: read_json(path).get("status") in ("queued", "running"), 100_000)


def says_live(path: Path) -> bool:
    """Whether a ``state.json`` says that a worker has the job or will have it. Only :func:`as_observed` checks whether the worker is alive.

    A file that has not changed is not opened again.
    """
    try:
        return _live(path)
    except (OSError, ValueError, AttributeError, RecursionError):
        return False


def own_process() -> dict[str, Any]:
    """The fields of a worker's state that identify this process: ``pid``, ``create_time`` and ``host``."""
    return {"pid": os.getpid(), "create_time": psutil.Process().create_time(), "host": socket.gethostname()}


def created(pid: int) -> float:
    """When a process of this machine began, for :func:`process_alive`; 0 if it has ended."""
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return 0.0


def worker_alive(state: WorkerState) -> bool:
    """Whether the worker process that wrote the state still runs (zombies and recycled pids do not count). A worker on another machine
    counts as alive while its heartbeat is younger than its patience."""
    if state.pid is None or state.create_time is None:
        return False
    if state.elsewhere:
        return state.heartbeat is not None and time.time() - state.heartbeat < state.patience
    return process_alive(state.pid, state.create_time)


def process_alive(pid: int, create_time: float) -> bool:
    """Whether this process of this machine still runs (zombies and recycled pids do not count)."""
    try:
        process = psutil.Process(pid)
        return abs(process.create_time() - create_time) < 1.0 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def as_observed(state: Observed) -> Observed:
    """The state as readers should show it: ``crashed`` if the worker has vanished, ``stalled`` if it is silent."""
    if state.status not in ("queued", "running"):
        return state
    if state.status == "queued" and state.pid is None and state.host is not None:
        return state  # it waits for its turn, however long that takes
    if not worker_alive(state):
        return state.model_copy(update={"status": "crashed"})
    if state.heartbeat and time.time() - state.heartbeat > state.patience:
        return state.model_copy(update={"status": "stalled"})
    return state
