"""The families that a config can mix, and the config: a share and a config for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from frozenlab.base.cells import Cell, Settings, check_sum
from frozenlab.base.errors import one_line
from frozenlab.base.schemas import Strict
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.tasks.countdown.drawing import CountdownConfig
from frozenlab.tasks.countdown.family import COUNTDOWN
from frozenlab.tasks.family import Family, PlainSuite, Ratio
from frozenlab.tasks.lake.family import LAKE

MEMBERS: tuple[Family, ...] = (LAKE, COUNTDOWN)
"""No two have a ratio, a name of a cell or a name of a task in common. An outcome that two have in common means the same in both."""


def member(name: str) -> Family:
    """The family of this name. Raises ValueError if it cannot be mixed."""
    for family in MEMBERS:
        if family.name == name:
            return family
    raise ValueError(f"the family {name[:60]!r} cannot be mixed; there is {', '.join(family.name for family in MEMBERS)}")


def member_with(own: Settings) -> Family:
    """The family of a cell, which has all of its ratios."""
    return next(family for family in MEMBERS if set(family.ratios) <= set(own.settings()))


def member_naming(cell: str) -> Family:
    """The family of a cell, which alone has a label for it."""
    return next(family for family in MEMBERS if family.cell_label(cell) is not None)


class MixedPart(Strict):
    """What is drawn of one family."""

    share: Ratio
    """Part of all tasks that are of this family."""
    config: Any
    """Of the family; its shares sum to 1."""


class MixedConfig(Strict):
    """The cells of several families. The share of a cell is its share within its family, times the share of the family.

    Example:
        >>> config = MixedConfig.model_validate({"parts": {
        ...     "lake": {"share": 0.7, "config": {"agents": 2, "sizes": {"4": {"share": 1}}}},
        ...     "countdown": {"share": 0.3, "config": {"cells": {"numbers3": {"share": 1}}}},
        ... }})
        >>> {name: own.share for name, own in config.cells.items()}
        {'4': 0.7, 'numbers3': 0.3}
    """

    family: Literal["mixed"] = "mixed"
    parts: Annotated[dict[str, MixedPart], Field(min_length=1)] = Field(
        default={
            "lake": MixedPart(share=0.7, config=EnvironmentConfig.uniform((3, 4, 5, 6))),
            "countdown": MixedPart(share=0.3, config=CountdownConfig()),
        }
    )
    """Name of a family -> its part. The shares sum to 1."""

    @field_validator("parts")
    @classmethod
    def _read_configs(cls, parts: dict[str, MixedPart]) -> dict[str, MixedPart]:
        read = {}
        for name, part in parts.items():
            try:
                read[name] = part.model_copy(update={"config": member(name).config_type.model_validate(part.config)})
            except ValueError as error:
                raise ValueError(f"{name}: {one_line(error)}") from None
        return read

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_sum((part.share for part in self.parts.values()), "the shares of the parts")
        return self

    @property
    def cells(self) -> dict[str, Any]:
        """Of all families."""
        return {
            name: own.model_copy(update={"share": part.share * own.share})
            for part in self.parts.values()
            for name, own in part.config.cells.items()
        }

    def with_cells(self, cells: Mapping[str, Any]) -> Self:
        """The same config with other cells; nothing is checked. A part has the shares of its cells together, and a part without cells is
        left out. Where the shares of all cells of a part are 0, they keep the proportions that they had, for a config that draws from
        them again."""
        parts = {}
        for family, part in self.parts.items():
            own = {name: cells[name] for name in part.config.cells if name in cells}
            share = sum(cell.share for cell in own.values())
            within = {name: cell.share / share if share else part.config.cells[name].share for name, cell in own.items()}
            inner = part.config.with_cells({name: cell.model_copy(update={"share": within[name]}) for name, cell in own.items()})
            if own:
                parts[family] = part.model_copy(update={"share": share, "config": inner})
        return self.model_copy(update={"parts": parts})

    def owned(self) -> list[tuple[Family, Any]]:
        """Each family with its config."""
        return [(member(family), part.config) for family, part in self.parts.items()]

    def part_with(self, cell: str) -> tuple[Family, Any]:
        """The family that has a cell, and its config. Raises ValueError if none has it."""
        for family, own in self.owned():
            if cell in own.cells:
                return family, own
        raise ValueError(f"there is no cell {cell[:60]!r}")

    def described(self) -> tuple[Cell, ...]:
        return tuple(cell for _, own in self.owned() for cell in own.described())


class MixedSuite(PlainSuite):
    """As many held-out tasks of each cell of each family, drawn as the cell's config says."""

    family: Literal["mixed"] = "mixed"
