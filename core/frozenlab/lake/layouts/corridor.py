"""Corridor: one-wide aisles from one side of the board, each wall open at one end or at both."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

import numpy as np

from frozenlab.lake.layouts.layout import LATE, Recipe
from frozenlab.lake.layouts.walls import NO_LINES, Lines, lay_walls, read_door


def corridor_turns(size, holes, state, turns, doors):
    # a wall in every second row
    state = lay_walls(size, Lines(1, 2, size // 2), NO_LINES, state, turns, doors)

    # each is open at its first end, at its last or at both
    for c in range(size * size):
        if doors[c] >= 0:
            chance, place, length = read_door(doors[c])
            ends = chance % np.uint64(3)
            if (place == 0 and ends != 0) or (place == length - np.uint64(1) and ends != 1):
                turns[c] = LATE
    return state


CORRIDOR = Recipe("corridor", "one-wide aisles, open at the ends", corridor_turns)
