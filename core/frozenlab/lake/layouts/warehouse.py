"""Warehouse: blocks of shelves with aisles between them and a free rim, as in the warehouse maps of MAPF benchmarks."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

import numpy as np

from frozenlab.lake.kernels.stream import below, mix
from frozenlab.lake.layouts.layout import LATE, Recipe
from frozenlab.lake.layouts.walls import turned


def warehouse_turns(size, holes, state, turns, scratch):
    # how deep and how long the shelves are
    state, deeper = below(state, 2)
    state, longer = below(state, 3)
    deep, long = (1 + deeper, 2 + longer) if size > 4 else (1, 2)

    # whole shelves are built one after the other, in an order by chance; one-wide aisles run along all of their sides
    state, symmetry = below(state, 8)
    state, salt = below(state, 1 << 30)
    for c in range(size * size):
        row, column = turned(symmetry, size, c)
        inside = 0 < row < size - 1 and 0 < column < size - 1
        if inside and row % (deep + 1) > 0 and column % (long + 1) > 0:
            shelf = 32 * (row // (deep + 1)) + column // (long + 1)
            turns[c] = mix(np.uint64(salt + shelf)) % np.uint64(LATE)
        else:
            turns[c] = LATE
    return state


WAREHOUSE = Recipe("warehouse", "blocks of shelves, with aisles all around", warehouse_turns)
