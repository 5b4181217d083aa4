"""What a session is doing right now (``state.json``): its phase, its step, and the rates so far."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BaseModel, Field, FiniteFloat

from frozenlab.jobs.state import Count, Moment, Share, WorkerState

if TYPE_CHECKING:
    import pandas as pd

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


class ValidRate(BaseModel):
    """Valid rate on the boards of the session's results, after a stage; stage None is the base, before training."""

    stage: Count | None
    valid: Share
    optimal: Share
    n: Count

    @classmethod
    def of(cls, stage: int | None, rows: pd.DataFrame) -> Self:
        """Counted from a validation table."""
        return cls(stage=stage, valid=float(rows["valid"].mean()), optimal=float(rows["optimal"].mean()), n=len(rows))


class State(WorkerState):
    """``state.json`` of a session."""

    phase: Phase = "starting"
    phase_done: FiniteFloat = 0.0
    """Progress of the present phase, 0..1."""
    phase_since: Moment | None = None
    """Time when the phase began; None in states written by old versions of FrozenLab."""
    stage: Annotated[int, Field(ge=0, lt=50)] = 0
    step: Count = 0
    """Training steps done in this stage."""
    steps: Count = 0
    rates: list[ValidRate] = Field(default_factory=list)
    answers: tuple[Count, Count] | None = None
    """How many of the engineer's answers could be used, and how many it was asked for; None in states of old versions."""

    def queued(self) -> Self:
        return super().queued().model_copy(update={"phase": "starting", "phase_done": 0.0, "phase_since": time.time()})
