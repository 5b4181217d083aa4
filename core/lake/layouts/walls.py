"""Straight walls with doors: what the layouts of walls share."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

from typing import NamedTuple

from frozenlab.lake.kernels.stream import below
from frozenlab.lake.layouts.layout import LATE


class Lines(NamedTuple):
    """Parallel lines of wall: the place of the first, the distance between two, and how many there are."""

    first: int
    pitch: int
    number: int


def spread(size, count, state):
    """(next state, ``count`` lines): drawn so that all of them lie inside the rim."""
    if count == 0:
        return state, Lines(0, 1, 0)
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


def wall_at(row, column, size, across, along):
    """The wall at a cell, with lines ``across`` the rows and ``along`` the columns.

    Returns:
        (turn, number of the stretch of wall, place in the stretch, its first place, its last place). The turn is LATE where there is no
        wall. The number is -1 where no door can be: at crossings, and in the last row, which has nothing behind it.
    """
    above, before = lines_up_to(row, across), lines_up_to(column, along)
    in_across = above > 0 and row == across.first + (above - 1) * across.pitch
    in_along = before > 0 and column == along.first + (before - 1) * along.pitch
    if in_across:
        first, last = between_lines(before, along, size)
        door = not in_along and row < size - 1
        return above - 1, 64 * above + before if door else -1, column, first, last
    if in_along:
        first, last = between_lines(above, across, size)
        return across.number + before - 1, 4096 + 64 * before + above, row, first, last
    return LATE, -1, 0, 0, 0
