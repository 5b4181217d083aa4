"""Corridor: one-wide aisles from one side of the board, each wall open at one end or at both."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

import numpy as np

from frozenlab.lake.kernels.stream import below, mix
from frozenlab.lake.layouts.layout import LATE, Recipe
from frozenlab.lake.layouts.walls import Lines, turned, wall_at


def corridor_turns(size, holes, state, turns, scratch):
    # a wall in every second row
    across, along = Lines(1, 2, size // 2), Lines(0, 1, 0)

    # each is open at its first end, at its last or at both
    state, symmetry = below(state, 8)
    state, salt = below(state, 1 << 30)
    for c in range(size * size):
        row, column = turned(symmetry, size, c)
        turn, stretch, place, first, last = wall_at(row, column, size, across, along)
        if stretch >= 0:
            ends = mix(np.uint64(salt + stretch)) % np.uint64(3)
            if (place == first and ends != 0) or (place == last and ends != 1):
                turn = LATE
        turns[c] = turn
    return state


CORRIDOR = Recipe("corridor", "one-wide aisles, open at the ends", corridor_turns)
