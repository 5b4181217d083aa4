"""What a layout is: its name, its words for people, and its recipe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

LATE = 255
"""The turn of a cell that is no wall."""


@dataclass(frozen=True)
class Recipe:
    """Where the holes of a board go; how many there are, the hole ratio of a config says.

    A recipe gives every cell a *turn*: walls come first, in the order in which they are built, and all other cells are left over (LATE).
    Holes are then placed in the order of the turns, by chance among equals, until there are as many as asked. Where more are asked than
    the structure has walls, the walls thicken and the dead ends fill up, and no passage closes as long as any other cell is left.
    """

    name: str
    """As configs have it."""
    words: str
    """What it looks like, for people: it follows the name in captions and help."""
    turns: Callable[..., Any] | None
    """``turns(size, holes, state, turns, scratch) -> state`` writes the turn of every cell of a square board into ``turns``
    (uint8, row-major) and returns the next state of the random stream; ``scratch`` is int64, one a cell. Plain Python that numba can
    compile (draw/layouts.py does). None: all cells are equal, and the holes are drawn by chance alone."""
    furnish: Callable[..., Any] | None = None
    """``furnish(exits, team, state, ice, plain) -> state`` puts one-way ice and doors on a board that has its holes and agents: it
    writes their letters (exits.py) into ``ice`` (uint8, one a cell), only where ``plain`` is 1: no hole, no start, no goal. ``exits`` are
    the masks that holes and the border leave. A board on which an agent can then not reach its goal is drawn again. None: plain ice."""
