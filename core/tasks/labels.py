"""What people call the cells of a config, from their names alone: for figures and tables, whichever task they are about."""

from __future__ import annotations

import re
from collections.abc import Iterable

BOARDS = re.compile(r"(?:(\d+)@)?([a-z-]*)(\d+)")
"""The name of a cell of boards: team, layout and map size."""


def cell_label(name: str) -> str:
    """A cell of a config in charts and tables; names that are not made of team, layout and map size stay as they are.

    >>> [cell_label(name) for name in ("6", "3@6", "maze6", "3@maze6", "easy")]
    ['6×6', '3 on 6×6', '6×6 maze', '3 on 6×6 maze', 'easy']
    """
    parts = BOARDS.fullmatch(name)
    if parts is None:
        return name
    team, layout, size = parts.groups()
    return (f"{team} on " if team else "") + f"{size}×{size}" + (f" {layout}" if layout else "")


def cells_noun(names: Iterable[str]) -> str:
    """What cells with these names are: map sizes, unless they tell more apart.

    >>> cells_noun(["4", "6"]), cells_noun(["2@4", "3@4"]), cells_noun(["easy", "hard"])
    ('map size', 'team and map size', 'cell')
    """
    known = list(names)
    if all(name.isdigit() for name in known):
        return "map size"
    return "team and map size" if all("@" in name for name in known) else "cell"
