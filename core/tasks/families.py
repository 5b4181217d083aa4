"""The task families. To add one, write its folder here and give it a place in FAMILIES."""

from __future__ import annotations

from frozenlab.errors import LabError
from frozenlab.tasks.family import Family
from frozenlab.tasks.lake.family import LAKE


class UnknownFamilyError(LabError, ValueError):
    """No task family has this name; the message lists those that there are."""


FAMILIES: tuple[Family, ...] = (LAKE,)
"""Every family; the first is the usual one."""


def family_of(name: str) -> Family:
    """The family of this name. Raises UnknownFamilyError if there is none."""
    for family in FAMILIES:
        if family.name == name:
            return family
    raise UnknownFamilyError(f"there is no task family {name[:60]!r}; there is {', '.join(family.name for family in FAMILIES)}")
