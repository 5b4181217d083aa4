"""Config and suite of a family whose cells need nothing but a name; a family adds its knobs and its own name as fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from frozenlab.base.cells import Cell

Ratio = Annotated[float, Field(ge=0, le=1)]


class PlainCell(BaseModel):
    """What is drawn of one cell. A subclass has a field for each knob."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    share: Ratio
    """Part of all tasks that are of this cell."""

    def settings(self) -> dict[str, float]:
        """Knob -> value."""
        return self.model_dump()


class PlainConfig(BaseModel):
    """The cells that tasks are drawn from. A subclass has ``family: Literal["its-name"] = "its-name"`` and cells with its knobs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cells: dict[str, Any]
    """Name -> :class:`PlainCell`. The shares sum to 1."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        total = sum(cell.share for cell in self.cells.values())
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the shares sum to {total:.4g}; they must sum to 1")
        return self

    def with_cells(self, cells: Mapping[str, Any]) -> Self:
        """The same config with other cells."""
        return self.model_copy(update={"cells": dict(cells)})

    def described(self) -> tuple[Cell, ...]:
        """How to speak of each cell."""
        return tuple(Cell(name=name, words=f"cell {name}", place={"name": name}) for name in self.cells)


class PlainSuite(BaseModel):
    """As many held-out tasks of each cell. A subclass has the same field ``family``."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    boards_per_cell: Annotated[int, Field(ge=1, le=10_000, title="Held-out tasks")] = 8
    """Tasks of each cell. More tasks give narrower intervals and a slower validation."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
