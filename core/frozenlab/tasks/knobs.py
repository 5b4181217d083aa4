"""The knobs of a family's configs and the outcomes of its answers, as data. Guard, forms, dialects, charts and tables read them."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeVar


class Knob(NamedTuple):
    """A number of a config that an engineer may turn, for each of the config's cells."""

    name: str
    label: str
    """As people read it."""
    help: str
    low: float
    high: float
    grain: float
    """The smallest change that forms offer and dialects write."""
    harder: Literal[1, -1, 0]
    """Which way makes tasks harder; 0: neither."""


SHARE = Knob("share", "share", "the part of the tasks that are of this cell", 0, 1, 0.01, 0)
"""The knob that every family has."""


class Outcome(NamedTuple):
    """What can become of an answer, by the judge's name for it."""

    name: str
    label: str
    """As charts and lists say it."""
    sentence: str
    """As a sentence about one answer says it; ``{agents}`` stands for those at fault."""
    rule: str
    """The rule that a fault breaks; empty where none is broken."""
    color: str
    """A middle tone that keeps a contrast of 3:1 to the page, light and dark."""
    valid: bool


Named = TypeVar("Named", Knob, Outcome)


def by_name(*things: Named) -> dict[str, Named]:
    """Name -> thing, in this order."""
    return {thing.name: thing for thing in things}
