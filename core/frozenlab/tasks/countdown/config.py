"""The config and the suite of Countdown. A cell is a count of numbers, from ``numbers2`` to ``numbers5``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from frozenlab.base.cells import Cell
from frozenlab.tasks.configs import PlainCell, PlainConfig, PlainSuite, Ratio

COUNTS = (2, 3, 4, 5)
USUAL = (2, 3, 4)
PREFIX = "numbers"

CellName = Annotated[str, Field(pattern=rf"^{PREFIX}[{COUNTS[0]}-{COUNTS[-1]}]$")]


def name_of(count: int) -> str:
    """
    >>> name_of(3)
    'numbers3'
    """
    return f"{PREFIX}{count}"


def count_of(name: str) -> int:
    """How many numbers the tasks of a cell have."""
    return int(name.removeprefix(PREFIX))


class CountdownCell(PlainCell):
    times_ratio: Ratio = 0.5
    """Part of the tasks that cannot be solved without a product."""


class CountdownConfig(PlainConfig):
    family: Literal["countdown"] = "countdown"
    cells: Annotated[dict[CellName, CountdownCell], Field(min_length=1)] = Field(
        default={name_of(count): CountdownCell(share=1 / len(USUAL)) for count in USUAL}
    )

    def described(self) -> tuple[Cell, ...]:
        return tuple(
            Cell(name=name, words=f"Countdown with {count_of(name)} numbers", place={PREFIX: count_of(name)}) for name in self.cells
        )


class CountdownSuite(PlainSuite):
    """Half of the tasks of a cell cannot be solved without a product."""

    family: Literal["countdown"] = "countdown"
