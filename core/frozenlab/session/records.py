"""What the JSON files of a session folder hold, apart from its spec and state: a stage's config, an event, a training step."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from frozenlab.base.cells import CellName
from frozenlab.jobs.state import Moment
from frozenlab.tasks.families import AnyConfig, family_of


class EnvironmentRecord(BaseModel):
    """``environment.json``: the config of a stage and what was drawn from it."""

    schema_version: int = 1
    stage: int | None
    """The stage; None if drawn before training, to ask the engineer about the initial config."""
    seed: int
    config: AnyConfig
    realised: dict[CellName, Any]

    @model_validator(mode="after")
    def _read_realised(self) -> Self:
        object.__setattr__(self, "realised", family_of(self.config.family).read_realised(self.config, self.realised))
        return self


class Event(BaseModel):
    """A line of ``events.jsonl``."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int | float | str | None] = Field(init=False)

    time: Moment
    kind: str
    stage: int | None = None
    step: int | None = None
    valid: FiniteFloat | None = None
    optimal: FiniteFloat | None = None


class Figures(BaseModel):
    """A line of ``metrics.jsonl``: a training step and its figures."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | None] = Field(init=False)

    step: Annotated[int, Field(ge=1, lt=2**31)]
    reward: float | None = None
    valid: float | None = None
    optimal: float | None = None
