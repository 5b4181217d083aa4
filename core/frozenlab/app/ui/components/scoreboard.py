"""Tables of figures in which every figure can lead to the boards behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from frozenlab.app.ui.components import NODES, component

_scoreboard = component(__file__, "scoreboard", '<div class="scoreboard" role="group"></div>', code=NODES)


@dataclass(frozen=True)
class Head:
    """A column's name, and its help on hover."""

    text: str
    hint: str = ""


@dataclass(frozen=True)
class Cell:
    """One figure."""

    text: str
    small: str = ""
    """An interval, shown next to the figure in a quieter tone."""
    hint: str = ""
    leads: str = ""
    """The argument of ``on_pick`` when the figure is clicked; empty: it cannot be clicked."""
    shade: float | None = None
    """0..1, drawn as a tint behind the figure."""
    span: tuple[float, float, float] | None = None
    """Value, lower and upper bound in 0..1, drawn as a dot on a line below the figure."""


@dataclass(frozen=True)
class Row:
    name: str
    cells: tuple[Cell, ...]
    sign: str = ""
    color: str = ""
    tag: str = ""
    """A note after the name of the row."""
    hint: str = ""
    quiet: bool = False
    """A row for comparison: thinner, with hollow dots."""


@dataclass(frozen=True)
class Table:
    title: str
    heads: tuple[Head, ...]
    """The first is the heading of the names."""
    rows: tuple[Row, ...]
    note: str = ""
    wide: bool = False
    """Whether the table takes the whole width; others are side by side if there is room."""


def scoreboard(tables: Sequence[Table], *, key: str, label: str, on_pick: Callable[[str], None] | None = None) -> None:
    """Draw the tables. ``on_pick`` is called with the ``leads`` of a clicked figure, before the page runs again."""

    def picked() -> None:
        if on_pick is not None:
            on_pick(str(st.session_state[key].picked))

    _scoreboard(key=key, data={"label": label, "groups": [asdict(table) for table in tables]}, on_picked_change=picked, height="content")
