"""Bottleneck: walls from rim to rim, each with one gap or two."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

import numpy as np

from frozenlab.lake.kernels.stream import below, mix
from frozenlab.lake.layouts.layout import LATE, Recipe
from frozenlab.lake.layouts.walls import spread, turned, wall_at


def bottleneck_turns(size, holes, state, turns, scratch):
    # as many walls as holes and room allow, or by chance fewer, down to half of them
    most = max(1, min((size - 2) // 3, holes // (size - 1)))
    state, fewer = below(state, 1 + most // 2)
    state, across = spread(size, most - fewer, state)
    state, along = spread(size, 0, state)

    # every wall has a gap, every second one by chance another
    state, symmetry = below(state, 8)
    state, salt = below(state, 1 << 30)
    for c in range(size * size):
        row, column = turned(symmetry, size, c)
        turn, stretch, place, first, last = wall_at(row, column, size, across, along)
        if stretch >= 0:
            chance = mix(np.uint64(salt + stretch))
            length, offset = np.uint64(last - first + 1), np.uint64(place - first)
            second = (chance >> np.uint64(20)) % length
            if offset == chance % length or (chance >> np.uint64(63) == 1 and offset == second):
                turn = LATE
        turns[c] = turn
    return state


BOTTLENECK = Recipe("bottleneck", "walls across, with one gap or two", bottleneck_turns)
