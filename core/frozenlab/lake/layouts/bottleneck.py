"""Bottleneck: walls from rim to rim, each with one gap or two."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

import numpy as np

from frozenlab.lake.kernels.stream import below
from frozenlab.lake.layouts.layout import LATE, Recipe
from frozenlab.lake.layouts.walls import NO_LINES, lay_walls, read_door, spread


def bottleneck_turns(size, holes, state, turns, doors):
    # as many walls as holes and room allow, or by chance fewer, down to half of them
    most = max(1, min((size - 2) // 3, holes // (size - 1)))
    state, fewer = below(state, 1 + most // 2)
    state, across = spread(size, most - fewer, state)
    state = lay_walls(size, across, NO_LINES, state, turns, doors)

    # every wall has a gap, every second one by chance another
    for c in range(size * size):
        if doors[c] >= 0:
            chance, place, length = read_door(doors[c])
            second = (chance >> np.uint64(20)) % length
            if place == chance % length or (chance >> np.uint64(63) == 1 and place == second):
                turns[c] = LATE
    return state


BOTTLENECK = Recipe("bottleneck", "walls across, with one gap or two", bottleneck_turns)
