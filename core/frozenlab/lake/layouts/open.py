"""Open: the holes gather around one open field."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

from frozenlab.lake.kernels.stream import below
from frozenlab.lake.layouts.layout import Recipe


def open_turns(size, holes, state, turns, scratch):
    # the middle of the field
    state, row = below(state, (size + 1) // 2)
    state, column = below(state, (size + 1) // 2)
    middle_row, middle_column = size // 4 + row, size // 4 + column

    # the farther from it, the sooner a hole, with ragged edges
    for c in range(size * size):
        down, right = c // size - middle_row, c % size - middle_column
        state, ragged = below(state, 32)
        turns[c] = 254 - min(254, (down * down + right * right) * 160 // (size * size) + ragged)
    return state


OPEN = Recipe("open", "around one open field", open_turns)
