"""The config of several families: a share and a config for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from frozenlab.base.cells import Cell
from frozenlab.base.errors import one_line
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.tasks.configs import PlainSuite, Ratio
from frozenlab.tasks.countdown.config import CountdownConfig
from frozenlab.tasks.mixed.members import member


class MixedPart(BaseModel):
    """What is drawn of one family."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    share: Ratio
    """Part of all tasks that are of this family."""
    config: Any
    """Of the family; its shares sum to 1."""


class MixedConfig(BaseModel):
    """The cells of several families. The share of a cell is its share within its family, times the share of the family.

    Example:
        >>> config = MixedConfig.model_validate({"parts": {
        ...     "lake": {"share": 0.7, "config": {"agents": 2, "sizes": {"4": {"share": 1}}}},
        ...     "countdown": {"share": 0.3, "config": {"cells": {"numbers3": {"share": 1}}}},
        ... }})
        >>> {name: own.share for name, own in config.cells.items()}
        {'4': 0.7, 'numbers3': 0.3}
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

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
        total = sum(part.share for part in self.parts.values())
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the shares of the parts sum to {total:.4g}; they must sum to 1")
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

    def part_with(self, cell: str) -> tuple[str, Any]:
        """The name of the family that has a cell, and the config of its part. Raises ValueError if none has it."""
        for family, part in self.parts.items():
            if cell in part.config.cells:
                return family, part.config
        raise ValueError(f"there is no cell {cell[:60]!r}")

    def described(self) -> tuple[Cell, ...]:
        return tuple(cell for part in self.parts.values() for cell in part.config.described())


class MixedSuite(PlainSuite):
    """As many held-out tasks of each cell of each family, drawn as the cell's config says."""

    family: Literal["mixed"] = "mixed"
