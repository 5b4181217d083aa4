"""Straight walls with doors: what the layouts of walls share."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from frozenlab.lake.kernels.stream import below, mix
from frozenlab.lake.layouts.layout import LATE


class Lines(NamedTuple):
    """Parallel lines of wall: the place of the first, the distance between two, and how many there are."""

    first: int
    pitch: int
    number: int


NO_LINES = Lines(0, 1, 0)


def spread(size, count, state):
    """(next state, ``count`` lines): drawn so that all of them lie inside the rim."""
    state, tighter = below(state, max(1, (size + 1) // (count + 1) - 2))
    pitch = max(2, (size + 1) // (count + 1) - tighter)
    state, shift = below(state, max(1, size - 2 - (count - 1) * pitch))
    return state, Lines(1 + shift, pitch, count)


def lines_up_to(place, lines):
    """How many of the lines lie at ``place`` or before."""
    return 0 if place < lines.first else min((place - lines.first) // lines.pitch + 1, lines.number)


def between_lines(passed, lines, size):
    """(first, last) place of the stretch that follows line number ``passed``."""
    begin = 0 if passed == 0 else lines.first + (passed - 1) * lines.pitch + 1
    end = size - 1 if passed == lines.number else lines.first + passed * lines.pitch - 1
    return begin, end


def turned(symmetry, size, cell):
    """(row, column) of a cell on the board turned or mirrored by one of the 8 symmetries."""
    row, column = cell // size, cell % size
    if symmetry & 1:
        row, column = column, row
    if symmetry & 2:
        row = size - 1 - row
    if symmetry & 4:
        column = size - 1 - column
    return row, column


def lay_walls(size, across, along, state, turns, doors):
    """Writes the turns of walls on the board, turned or mirrored by chance; returns the next state of the random stream.

    Args:
        across, along: the lines of wall across the rows and across the columns.
        doors: int64, gets for each cell what :func:`read_door` reads, -1 where no door can be: off the walls, at crossings, and in the
            last row, which has nothing behind it.
    """
    state, symmetry = below(state, 8)
    state, salt = below(state, 1 << 30)
    for c in range(size * size):
        row, column = turned(symmetry, size, c)
        above, before = lines_up_to(row, across), lines_up_to(column, along)
        in_across = above > 0 and row == across.first + (above - 1) * across.pitch
        in_along = before > 0 and column == along.first + (before - 1) * along.pitch
        turns[c], doors[c] = LATE, -1
        if in_across:
            turns[c] = above - 1
            if not in_along and row < size - 1:
                first, last = between_lines(before, along, size)
                doors[c] = (salt + 64 * above + before) << 16 | (column - first) << 8 | last - first + 1
        elif in_along:
            turns[c] = across.number + before - 1
            first, last = between_lines(above, across, size)
            doors[c] = (salt + 4096 + 64 * before + above) << 16 | (row - first) << 8 | last - first + 1
    return state


def read_door(door):
    """(64 random bits of the stretch of wall, place of the cell in it, its length)."""
    return mix(np.uint64(door >> 16)), np.uint64(door >> 8 & 255), np.uint64(door & 255)
