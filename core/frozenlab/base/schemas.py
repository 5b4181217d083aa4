"""What the models of files share: which fields and which versions they take."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

OLDER = "FrozenLab no longer reads version 1: python -m recipes.migrate FOLDER brings a folder up to date"


class Strict(BaseModel):
    """A model that refuses fields it does not know, and does not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def not_older(version: Any) -> Any:
    """Raises ValueError, which says what to do, for version 1."""
    if version == 1:
        raise ValueError(OLDER)
    return version


Version2 = Annotated[Literal[2], BeforeValidator(not_older)]
"""The version of files that had another layout once."""
