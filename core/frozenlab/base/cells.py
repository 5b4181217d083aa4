"""Cells, which shares, evidence, claims and suites are keyed by.

A config has a cell for each kind of task that it can draw. What makes up a cell is the business of its task family (on the lake: team,
map size and, in some configs, layout); other modules know a cell by its name.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Protocol, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

NUMBERS = re.compile(r"(\d+)")


def _read_size(name: Any) -> Any:
    return str(name) if isinstance(name, int) else name


CellName = Annotated[str, BeforeValidator(_read_size), Field(pattern=r"^[a-z0-9][a-z0-9@.-]{0,39}$")]
"""The name of a cell within its config: ``6``, or ``3@6`` if teams are mixed. A language model may write the number 6 for ``6``."""


class Cell(BaseModel):
    """How to speak of one cell of a config."""

    model_config = ConfigDict(frozen=True)

    name: CellName
    words: str
    """In a sentence: ``size 6``, ``size 6 with 3 agents``."""
    place: dict[str, int | str]
    """What makes it up, by the family's names: ``{"agents": 3, "size": 6}``."""


class OfCell(BaseModel):
    """Something said of one cell."""

    model_config = ConfigDict(frozen=True)

    cell: CellName


def in_order(names: Iterable[str]) -> list[str]:
    """The different names in ascending order of the numbers in them.

    >>> in_order(["10", "3@6", "9", "2@10", "2@9", "9"])
    ['2@9', '2@10', '3@6', '9', '10']
    """
    return sorted(
        set(names), key=lambda name: ("@" not in name, [(part.zfill(9) if part.isdigit() else part) for part in NUMBERS.split(name)])
    )


def quotas(n: int, weights: Sequence[float]) -> list[int]:
    """``n`` shared out in proportion to ``weights`` by largest remainder; ties go to the earlier one."""
    exact = [n * weight / sum(weights) for weight in weights]
    shares = [math.floor(x + 1e-9) for x in exact]
    for i in sorted(range(len(weights)), key=lambda i: shares[i] - exact[i])[: n - sum(shares)]:
        shares[i] += 1
    return shares


def check_sum(parts: Iterable[float], what: str) -> None:
    """Raises ValueError unless the parts add up to 1; ``what`` names them in the message."""
    total = sum(parts)
    if abs(total - 1) > 1e-6:
        raise ValueError(f"{what} sum to {total:.4g}; they must sum to 1")


class Settings(Protocol):
    """What a config says of one cell."""

    @property
    def share(self) -> float: ...

    def settings(self) -> dict[str, float]:
        """Setting -> value: its knobs, and the parts that it is mixed of."""
        ...

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self: ...


class Config(Protocol):
    """What all environment configs have."""

    @property
    def family(self) -> str:
        """The name of its task family."""
        ...

    @property
    def cells(self) -> Mapping[str, Any]:
        """Name -> :class:`Settings` of the cell. The shares sum to 1."""
        ...

    def with_cells(self, cells: Mapping[str, Any]) -> Self: ...

    def described(self) -> tuple[Cell, ...]: ...

    def model_dump_json(self) -> str: ...


OneConfig = TypeVar("OneConfig", bound=Config)


def evenly(config: OneConfig) -> OneConfig:
    """The config with as many tasks of each cell, which stays what it is otherwise."""
    return with_shares(config, dict.fromkeys(config.cells, 1 / len(config.cells)))


def with_shares(config: OneConfig, shares: Mapping[str, float]) -> OneConfig:
    """The config with other shares of all its cells."""
    return config.with_cells({name: own.model_copy(update={"share": shares[name]}) for name, own in config.cells.items()})


class KnobChange(OfCell):
    """One setting of one cell before and after; None where the cell is new or gone."""

    knob: str
    before: float | None
    after: float | None


def diff(before: Config, after: Config, tolerance: float = 1e-9) -> list[KnobChange]:
    """The settings that differ by more than ``tolerance``, cell by cell.

    >>> from frozenlab.lake.config import EnvironmentConfig
    >>> before, after = EnvironmentConfig.uniform((5,)), EnvironmentConfig.uniform((5,), wait_ratio=0.4)
    >>> [(change.cell, change.knob, change.before, change.after) for change in diff(before, after)]
    [('5', 'wait_ratio', 0.2, 0.4)]
    """
    changes = []
    for name in dict.fromkeys([*before.cells, *after.cells]):
        old, new = (config.cells[name].settings() if name in config.cells else None for config in (before, after))
        for setting in dict.fromkeys([*(old or {}), *(new or {})]):
            was, now = (None if settings is None else settings.get(setting, 0.0) for settings in (old, new))
            if was is None or now is None or abs(was - now) > tolerance:
                changes.append(KnobChange(cell=name, knob=setting, before=was, after=now))
    return changes
