"""A cell of an environment config: boards of one kind, how many of them are drawn, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from frozenlab.base.cells import check_sum
from frozenlab.base.docstrings import describe_fields
from frozenlab.lake.layouts import LAYOUTS as RECIPES

MIN_SIZE, MAX_SIZE = 3, 32
"""Sides of the boards that can be drawn."""
MAX_AGENTS = 5

Knob = Literal["share", "hole_ratio", "wait_ratio"]
KNOBS: tuple[Knob, ...] = get_args(Knob)
"""The three numbers of a cell that an engineer may turn."""

LAYOUTS: tuple[str, ...] = tuple(recipe.name for recipe in RECIPES)
"""The names of the layouts, which say where the holes of a board go: anywhere (``scatter``, the paper's), or in a structure. How many
there are, the hole ratio says."""
if TYPE_CHECKING:
    Layout = str
    Setting = str
else:
    Layout = Literal[LAYOUTS]
    Setting = Literal[Knob, Layout]
"""The name of a layout. A setting is what can differ between two configs of a cell: a knob, or the part of the boards in a layout."""
SCATTER: dict[Layout, float] = {"scatter": 1.0}

Ratio = Annotated[float, Field(ge=0, le=1)]


class BoardKind(NamedTuple):
    """The boards of one cell of a config."""

    agents: int
    size: int
    layout: Layout | None = None
    """The layout of them all; None: the cell mixes layouts."""


class CellSettings(BaseModel):
    """How many boards of a cell are drawn, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=describe_fields)

    share: Ratio
    """Part of all boards that are of this cell; over all cells the shares sum to 1."""
    hole_ratio: Ratio = 0.2
    """Part of a board that is holes."""
    wait_ratio: Ratio = 0.2
    """Part of the boards that cannot be solved optimally without some agent waiting (the conflict density)."""
    layouts: Annotated[dict[Layout, Ratio], Field(min_length=1, exclude_if=lambda layouts: layouts == SCATTER)] = SCATTER
    """Layout -> part of the boards whose holes lie like that; the parts sum to 1. Left out of files where all boards are scatter."""

    @field_validator("layouts")
    @classmethod
    def _check_layouts(cls, layouts: dict[Layout, float]) -> dict[Layout, float]:
        check_sum(layouts.values(), "the parts of the layouts")
        return {layout: layouts[layout] for layout in LAYOUTS if layouts.get(layout)}


class CellConfig(CellSettings):
    """What is drawn of one cell."""

    agents: Annotated[int, Field(ge=1, le=MAX_AGENTS)] = 2
    """How many agents each of its boards has."""
    size: Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIZE)]
    """Rows and columns of its boards."""
    layout: Annotated[Layout | None, Field(exclude_if=lambda layout: layout is None)] = None
    """The layout of all its boards, in a config that has cells of their own for layouts. Left out: the cell mixes ``layouts``."""

    @model_validator(mode="after")
    def _check_layout(self) -> Self:
        if self.layout is not None and self.layouts != SCATTER:
            raise ValueError('give "layout", the layout of all boards of the cell, or "layouts", how it mixes them, not both')
        return self

    @property
    def kind(self) -> BoardKind:
        return BoardKind(self.agents, self.size, self.layout)

    @property
    def drawn_layouts(self) -> dict[Layout, float]:
        """Layout -> part of the boards, whichever way the cell says it."""
        return self.layouts if self.layout is None else {self.layout: 1.0}

    def settings(self) -> dict[str, float]:
        """Setting -> value: the knobs, and the parts of the layouts if the cell mixes layouts."""
        knobs = {"share": self.share, "hole_ratio": self.hole_ratio, "wait_ratio": self.wait_ratio}
        return knobs | ({str(layout): part for layout, part in self.layouts.items()} if self.layout is None else {})
