"""The settings of a training stage and the word that stops one; light, so that specs and pages can use them."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class TrainingSettings(BaseModel):
    """One GRPO stage. The defaults are the ones measured to work for the lab model on two cores."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: Annotated[int, Field(ge=1, le=5000)] = 30
    """Optimizer steps a stage."""
    boards_per_step: Annotated[int, Field(ge=1, le=1024)] = 64
    """Different boards in one step."""
    completions_per_board: Annotated[int, Field(ge=2, le=64)] = 8
    """Plans sampled for each board: the group that GRPO compares."""
    learning_rate: Annotated[float, Field(gt=0, le=1e-2)] = 1e-4
    warmup_steps: Annotated[int, Field(ge=0, le=1000)] = 5
    """Steps over which the learning rate rises from nothing; once a session, not a stage."""
    temperature: Annotated[float, Field(gt=0, le=2)] = 1.0


class StageStopped(Exception):
    """The session was asked to stop; what was done so far is saved."""
