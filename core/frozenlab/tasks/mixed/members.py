"""The families that a config can mix."""

from __future__ import annotations

from collections.abc import Iterable

from frozenlab.base.cells import Settings
from frozenlab.tasks.countdown.family import COUNTDOWN
from frozenlab.tasks.family import Family
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


def members_of(cells: Iterable[str]) -> dict[str, Family]:
    """Name of each cell -> its family, which alone has a label for it."""
    return {name: next(family for family in MEMBERS if family.cell_label(name) is not None) for name in cells}
