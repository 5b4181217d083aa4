"""Maze: a spanning tree on every second cell; with fewer holes some of its walls are left out, a corner at a time."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

import numpy as np

from frozenlab.lake.kernels.stream import below, mix
from frozenlab.lake.layouts.layout import LATE, Recipe

UNSEEN, SPARE = 254, 190
"""The turn of a cell of the maze that the tree has not reached; the first turn of the row and column outside the maze."""


def maze_turns(size, holes, state, turns, scratch):
    # where the maze lies: a board of even size has one row and one column to spare
    side = (size + 1) // 2
    top, left = 0, 0
    if size % 2 == 0:
        side = size // 2
        state, top = below(state, 2)
        state, left = below(state, 2)

    # walls everywhere but on every second cell; what is to spare is filled from one end to the other, so that its rest hangs together
    state, salt = below(state, 1 << 30)
    for c in range(size * size):
        row, column = c // size - top, c % size - left
        if row < 0 or column < 0 or row > 2 * side - 2 or column > 2 * side - 2:
            from_row, from_column = abs(c // size - (1 - top) * (size - 1)), abs(c % size - (1 - left) * (size - 1))
            turns[c] = SPARE + size - 1 - from_column + from_row
        elif row % 2 == 0 and column % 2 == 0:
            turns[c] = UNSEEN
        else:  # a post, and after it the walls to its right and below it
            group = mix(np.uint64(salt + 32 * ((row + 1) // 2) + (column + 1) // 2)) % np.uint64(SPARE // 2)
            turns[c] = 2 * np.int64(group) + (row % 2 == 0 or column % 2 == 0)

    # the tree grows from its newest cell (depth first) or from any, half and half, and opens the walls that it goes through
    active = scratch
    state, start = below(state, side * side)
    active[0] = (top + 2 * (start // side)) * size + left + 2 * (start % side)
    turns[active[0]] = LATE
    n = 1
    while n > 0:
        state, newest = below(state, 2)
        state, place = below(state, n)
        place = n - 1 if newest else place
        cell = active[place]
        row, column = cell // size, cell % size
        inside = (row >= 2, row < size - 2, column >= 2, column < size - 2)
        steps = (-size, size, -1, 1)
        ways, step = 0, 0
        for way in range(4):
            if inside[way] and turns[cell + 2 * steps[way]] == UNSEEN:
                ways += 1
                state, other = below(state, ways)
                step = steps[way] if other == 0 else step
        if ways == 0:
            n -= 1
            active[place] = active[n]
        else:
            turns[cell + step] = turns[cell + 2 * step] = LATE
            active[n] = cell + 2 * step
            n += 1
    return state


MAZE = Recipe("maze", "winding ways with dead ends", maze_turns)
