"""The settings of a training stage with the method's usual values."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from frozenlab.models.training.methods import BY_NAME, NAMES
from frozenlab.models.training.stage_settings import StageSettings


def _known(name: str) -> str:
    if name not in BY_NAME:
        raise ValueError(f"there is no method {name[:60]!r}; there are {', '.join(NAMES)}")
    return name


class TrainingSettings(StageSettings):
    """One training stage. The defaults are the ones measured to work for the lab model on two cores."""

    method: Annotated[str, AfterValidator(_known), Field(examples=list(NAMES))] = NAMES[0]
    learning_rate: Annotated[float, Field(gt=0, le=1e-2)] = Field(
        default_factory=lambda given: BY_NAME[given.get("method", NAMES[0])].learning_rate
    )
