"""What a session is doing right now (``state.json``: its phase, its step, the rates so far), and its ``events.jsonl`` in sentences."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, FiniteFloat

from frozenlab.base.numbers import Interval, counted
from frozenlab.jobs.state import Count, Moment, Share, WorkerState
from frozenlab.models.training.methods import title_of

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


def event_words(event: Mapping[str, Any]) -> str:
    """One event as a sentence. An event of an unknown kind, or without its figures, is shown as it is."""
    try:
        if words := _sentence(event):
            return words
    except (KeyError, TypeError, ValueError):  # its figures are none, as in a damaged file
        pass
    said = {key: value for key, value in event.items() if key not in ("time", "kind")}
    return f"{event.get('kind')} {json.dumps(said)}" if said else str(event.get("kind"))


def _sentence(event: Mapping[str, Any]) -> str | None:
    """None for an event of an unknown kind. Raises KeyError, TypeError or ValueError if a figure is missing or is none."""
    kind, stage = event.get("kind"), event.get("stage")
    when = "Before training" if stage is None else f"After stage {stage + 1}"
    match kind:
        case "started":
            method = title_of(event.get("method", "grpo"))
            return f"Started: {event.get('stages')} stages by {method}, engineer {event.get('engineer')}."
        case "resumed":
            return "Resumed."
        case "baseline" | "validated" | "tested" if "n" in event:
            boards = "test boards" if kind == "tested" else "validation boards"
            return f"{when}, {boards}: {rate_words(event['valid'], event['optimal'], event['n'])}."
        case "tested":
            return f"{when}, test boards: measured. The figures come when there is nothing left to decide."
        case "stage" if stage is not None:
            return f"Stage {stage + 1}: {counted(event['boards'], 'board')} drawn."
        case "step" if stage is not None:
            figures = ", ".join(f"{key} {event[key]:.3f}" for key in ("reward", "loss", "valid") if key in event)
            return f"Stage {stage + 1}, step {event['step']}: {figures}"
        case "proposed":
            kept = event.get("kept_because")
            return f"{when} the config was kept: {kept}" if kept else f"{when} the engineer changed {counted(event['changes'], 'value')}."
        case "damaged":
            return f"Damaged: {event.get('what')}; {event.get('then')}."
        case "alarm" if stage is not None:
            stops = " The session stops, as its spec says." if event.get("stops", True) else ""
            return f"Stage {stage + 1}, alarm {event.get('rule')}: {event.get('evidence')}{stops}"
        case "tracking":
            return f"Not tracked: {event.get('why')}."
        case "waiting":
            return f"{when} it waits for your proposal."
        case "stopped" | "done":
            return f"{kind.capitalize()}."
        case "failed":
            return f"Failed: {event['error']}" if event.get("error") else "Failed."
        case _:
            return None


def rate_words(valid: float, optimal: float, n: int) -> str:
    """``81.2 % valid (75.8 to 85.6 %), 73.3 % optimal (67.4 to 78.5 %), n = 240``, with 95 % Wilson intervals."""
    parts = []
    for rate, what in ((valid, "valid"), (optimal, "optimal")):
        found = Interval.of(rate * n, n)
        parts.append(f"{found.percent} {what} ({found.percents})")
    return f"{', '.join(parts)}, n = {n}"
