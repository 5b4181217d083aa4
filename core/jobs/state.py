"""What a session or an evaluation is doing right now (``state.json``), and whether its worker is alive."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import pandas as pd
import psutil
from pydantic import BaseModel, Field, FiniteFloat

Status = Literal["queued", "running", "waiting", "stopped", "done", "failed", "crashed", "stalled"]
Phase = Literal["starting", "baseline", "asking", "generating", "training", "validating", "testing", "proposing", "done"]
BEFORE_TRAINING: tuple[Phase, ...] = ("starting", "baseline", "asking")
PHASE_WORDS: dict[str, str] = {
    "starting": "loading the model",
    "baseline": "validating the base",
    "asking": "asking the engineer about the initial config",
    "generating": "drawing boards",
    "training": "training",
    "validating": "validating",
    "testing": "measuring on the test boards",
    "proposing": "asking the engineer",
    "done": "done",
}
STALLED_AFTER = 120.0
"""Seconds without a heartbeat after which a live worker counts as stalled; the slowest training step of a lab model takes a fraction of
that."""
SLOW_STALLED_AFTER = 3600.0
"""The same for a language model: it is fetched, an engine is built for it, and a step of long answers takes minutes."""

START_WITHIN = 60.0
"""Seconds within which a worker that was started has written its first state."""


Count = Annotated[int, Field(ge=0, lt=2**31)]
Share = Annotated[float, Field(ge=0, le=1)]
Moment = Annotated[float, Field(ge=0, lt=2**40)]
"""Unix seconds."""
Seconds = Annotated[float, Field(gt=-(2**40), lt=2**40)]


class ValidRate(BaseModel):
    """Valid rate on the boards that results are told from, after a stage; stage None is the base, before training."""

    stage: Count | None
    valid: Share
    optimal: Share
    n: Count

    @classmethod
    def of(cls, stage: int | None, rows: pd.DataFrame) -> Self:
        """Counted from a validation table."""
        return cls(stage=stage, valid=float(rows["valid"].mean()), optimal=float(rows["optimal"].mean()), n=len(rows))


class WorkerState(BaseModel):
    """The part of ``state.json`` that is about the worker, whatever it works on; replaced as a whole by the worker."""

    schema_version: Literal[1] = 1
    status: Status = "queued"
    progress: FiniteFloat = 0.0
    """Of the whole job, 0..1."""
    seconds_left: Seconds | None = None
    pid: Count | None = None
    create_time: Moment | None = None
    """Of the worker process, so that a recycled pid is not taken for it."""
    host: str | None = None
    """The machine that it runs on; None if a FrozenLab wrote the state that knew one machine only."""
    heartbeat: Moment | None = None
    patience: Seconds = STALLED_AFTER
    """Seconds without a heartbeat that mean nothing."""
    started: Moment | None = None
    finished: Moment | None = None
    error: str | None = None

    @property
    def live(self) -> bool:
        """Something will still happen by itself."""
        return self.status in ("queued", "running", "stalled")

    @property
    def elsewhere(self) -> bool:
        """The worker runs on another machine, whose processes cannot be seen from here."""
        return self.host is not None and self.host != socket.gethostname()


class State(WorkerState):
    """``state.json`` of a session."""

    phase: Phase = "starting"
    phase_done: FiniteFloat = 0.0
    """Of the present phase, 0..1."""
    phase_since: Moment | None = None
    """When it began; None if a FrozenLab wrote the state that did not note it."""
    stage: Annotated[int, Field(ge=0, lt=50)] = 0
    step: Count = 0
    """Training steps done in this stage."""
    steps: Count = 0
    rates: list[ValidRate] = []


AnyState = TypeVar("AnyState", bound=WorkerState)


def read_state(folder: Path) -> WorkerState:
    """What ``state.json`` in a worker's folder says, as a reader should tell it; a damaged one is told as failed."""
    try:
        return as_observed(WorkerState.model_validate_json((folder / "state.json").read_text(encoding="utf-8")))
    except Exception:  # whatever is called state.json
        return WorkerState(status="failed", error="state.json is missing or damaged")


def own_process() -> dict[str, Any]:
    """This process, as the state of a worker names it: ``pid``, ``create_time`` and ``host``."""
    return {"pid": os.getpid(), "create_time": psutil.Process().create_time(), "host": socket.gethostname()}


def worker_alive(state: WorkerState) -> bool:
    """Whether the worker process that wrote the state still runs (zombies and recycled pids do not count). One on another machine is
    believed to while its heartbeat is younger than its patience."""
    if state.pid is None or state.create_time is None:
        return False
    if state.elsewhere:
        return state.heartbeat is not None and time.time() - state.heartbeat < state.patience
    try:
        process = psutil.Process(state.pid)
        return abs(process.create_time() - state.create_time) < 1.0 and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def as_observed(state: AnyState) -> AnyState:
    """The state as a reader should tell it: a running worker that is gone has ``crashed``, one without heartbeat is ``stalled``."""
    if state.status not in ("queued", "running"):
        return state
    if state.pid is None and state.heartbeat and time.time() - state.heartbeat < START_WITHIN:
        return state
    if not worker_alive(state):
        return state.model_copy(update={"status": "crashed"})
    if state.heartbeat and time.time() - state.heartbeat > state.patience:
        return state.model_copy(update={"status": "stalled"})
    return state
