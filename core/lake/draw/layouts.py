"""Where the holes go: the structured layouts of a board, compiled. Imports numba, as the kernels do.

A layout gives every cell a *turn*: walls come first, in the order in which they are built, and all other cells are left over (``LATE``).
Holes are then placed in the order of the turns, by chance among equals, until there are as many as asked. Where more are asked than the
structure has walls, the walls thicken and the dead ends fill up, and no passage closes as long as any other cell is left.

- ``rooms``: a grid of rooms with one door between neighbours; as many walls as the holes allow, so more holes make smaller rooms.
- ``corridor``: one-wide aisles from one side of the board, each wall open at one end or at both.
- ``bottleneck``: walls from rim to rim with one gap, or with two.
- ``maze``: a spanning tree on every second cell (growing tree: half depth first, half at random); with fewer holes some of its walls
  are left out, a corner at a time.
- ``open``: the holes gather around one open field.
"""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

import numpy as np

from frozenlab.lake.config import LAYOUTS
from frozenlab.lake.kernels.compiled import inlined, kernel
from frozenlab.lake.kernels.stream import below, mix

ROOMS, CORRIDOR, BOTTLENECK, MAZE, OPEN = (LAYOUTS.index(name) for name in ("rooms", "corridor", "bottleneck", "maze", "open"))
LATE = 255
"""The turn of a cell that is no wall."""


@inlined
def lay_out(layout, size, holes, state, free, cells):
    """Places ``holes`` holes on a free square board; returns the next state of the stream.

    Args:
        layout: index in LAYOUTS, but not that of ``scatter``.
        state: uint64, of frozenlab.lake.kernels.stream.
        free: ``uint8[size * size]``, row-major; all 1 at entry, 0 where there is a hole afterwards.
        cells: ``int64[size * size]``, scratch.
    """
    if layout == MAZE:
        state = maze_turns(size, state, free, cells)
    elif layout == OPEN:
        state = open_turns(size, state, free)
    else:
        state = wall_turns(layout, size, holes, state, free)
    for c in range(size * size):  # sorted by turn, then by chance; the low ten bits are the cell itself (boards are small: insertion sort)
        state, chance = below(state, 1 << 30)
        key = (np.int64(free[c]) << 40) | (chance << 10) | c
        place = c
        while place > 0 and cells[place - 1] > key:
            cells[place] = cells[place - 1]
            place -= 1
        cells[place] = key
    built = 0
    for i in range(size * size):
        is_wall = i < holes and cells[i] >> 40 < LATE
        cells[i] &= 1023
        free[cells[i]] = 0 if is_wall else 1
        built += is_wall
    thicken(size, holes - built, free, cells)
    return state


@kernel
def wall_turns(layout, size, holes, state, turns):
    """The turns of straight walls: ``down`` of them across the rows and ``right`` of them across the columns."""
    down = right = 1
    if layout == ROOMS:  # one more wall on either axis in turn of chance, while holes and room are there for it
        most = max(1, (size - 2) // 3)
        while True:
            state, axis = below(state, 2)
            more_down, more_right = down + 1 - axis, right + axis
            doors = more_down * (more_right + 1) + more_right * (more_down + 1)
            if max(more_down, more_right) > most or (more_down + more_right) * size - more_down * more_right - doors > holes:
                break
            down, right = more_down, more_right
    elif layout == BOTTLENECK:
        most = max(1, min((size - 2) // 3, holes // (size - 1)))
        state, fewer = below(state, 1 + most // 2)
        down, right = most - fewer, 0
    else:
        down, right = size // 2, 0
    if layout == CORRIDOR:
        top, row_pitch, left, column_pitch = 1, 2, 0, 1
    else:
        state, top, row_pitch = spread(size, down, state)
        state, left, column_pitch = spread(size, right, state)
    state, symmetry = below(state, 8)
    state, doors = below(state, 1 << 30)
    for c in range(size * size):
        row, column = turned(symmetry, size, c)
        above, before = lines_up_to(row, top, row_pitch, down), lines_up_to(column, left, column_pitch, right)
        across = above > 0 and row == top + (above - 1) * row_pitch
        along = before > 0 and column == left + (before - 1) * column_pitch
        turns[c] = LATE
        if across and along:
            turns[c] = above - 1
        elif across:
            first, last = between_lines(before, left, column_pitch, right, size)
            if not is_door(layout, doors + 64 * above + before, column, first, last) or row == size - 1:
                turns[c] = above - 1
        elif along:
            first, last = between_lines(above, top, row_pitch, down, size)
            if not is_door(layout, doors + 4096 + 64 * before + above, row, first, last):
                turns[c] = down + before - 1
    return state


@kernel
def spread(size, count, state):
    """(next state, place of the first of ``count`` lines, distance between them): drawn so that all of them lie inside the rim."""
    if count == 0:
        return state, 0, 1
    state, tighter = below(state, max(1, (size + 1) // (count + 1) - 2))
    pitch = max(2, (size + 1) // (count + 1) - tighter)
    state, shift = below(state, max(1, size - 2 - (count - 1) * pitch))
    return state, 1 + shift, pitch


@kernel
def lines_up_to(place, first, pitch, count):
    """How many of ``count`` lines lie at ``place`` or before."""
    return 0 if place < first else min((place - first) // pitch + 1, count)


@kernel
def between_lines(passed, first, pitch, count, size):
    """(first, last) place of the stretch that follows the line number ``passed``."""
    begin = 0 if passed == 0 else first + (passed - 1) * pitch + 1
    end = size - 1 if passed == count else first + passed * pitch - 1
    return begin, end


@kernel
def is_door(layout, key, place, first, last):
    """Whether the stretch of wall from ``first`` to ``last`` has a door at ``place``; ``key`` stands for the stretch."""
    chance = mix(np.uint64(key))
    if layout == CORRIDOR:
        ends = chance % np.uint64(3)
        return (place == first and ends != 0) or (place == last and ends != 1)
    length = np.uint64(last - first + 1)
    offset = np.uint64(place - first)
    second = (chance >> np.uint64(20)) % length
    return offset == chance % length or (layout == BOTTLENECK and chance >> np.uint64(63) == 1 and offset == second)


@kernel
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


@kernel
def maze_turns(size, state, turns, active):
    """The turns of a maze: its walls, and then the row and column that a board of even size has to spare, from one end to the other,
    so that what is left of them hangs together."""
    side = (size + 1) // 2
    top, left = 0, 0
    if size % 2 == 0:
        side = size // 2
        state, top = below(state, 2)
        state, left = below(state, 2)
    unseen, spare = 254, 190
    state, salt = below(state, 1 << 30)
    for c in range(size * size):
        row, column = c // size - top, c % size - left
        if row < 0 or column < 0 or row > 2 * side - 2 or column > 2 * side - 2:
            from_row, from_column = abs(c // size - (1 - top) * (size - 1)), abs(c % size - (1 - left) * (size - 1))
            turns[c] = spare + size - 1 - from_column + from_row
        elif row % 2 == 0 and column % 2 == 0:
            turns[c] = unseen
        else:  # a post, and after it the walls to its right and below it
            group = mix(np.uint64(salt + 32 * ((row + 1) // 2) + (column + 1) // 2)) % np.uint64(spare // 2)
            turns[c] = 2 * np.int64(group) + (row % 2 == 0 or column % 2 == 0)
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
            if inside[way] and turns[cell + 2 * steps[way]] == unseen:
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


@kernel
def open_turns(size, state, turns):
    """The turns of a field: the farther from its middle, the sooner, with ragged edges."""
    state, row = below(state, (size + 1) // 2)
    state, column = below(state, (size + 1) // 2)
    middle_row, middle_column = size // 4 + row, size // 4 + column
    for c in range(size * size):
        down, right = c // size - middle_row, c % size - middle_column
        state, ragged = below(state, 32)
        turns[c] = 254 - min(254, (down * down + right * right) * 160 // (size * size) + ragged)
    return state


@kernel
def thicken(size, holes, free, cells):
    """Places ``holes`` more holes where walls are, in the order of ``cells``, and closes a passage only where there is no other cell."""
    while holes > 0:
        before = holes
        for cell in cells:
            if holes > 0 and free[cell] and groups_beside(size, free, cell) == 1:
                free[cell] = 0
                holes -= 1
        if holes == before:
            for cell in cells:
                if free[cell]:
                    free[cell] = 0
                    holes -= 1
                    break


@kernel
def groups_beside(size, free, cell):
    """Into how many parts the free cells beside ``cell`` would fall without it, as far as its eight neighbours tell (the connectivity
    number of Yokoi, Toriwaki and Fukumura 1975): 0 alone or amid free cells, 1 at an edge, more in a passage."""
    row, column = cell // size, cell % size
    up, down, left, right = row > 0, row < size - 1, column > 0, column < size - 1
    around = (
        right and free[cell + 1] == 1,
        right and up and free[cell + 1 - size] == 1,
        up and free[cell - size] == 1,
        left and up and free[cell - size - 1] == 1,
        left and free[cell - 1] == 1,
        left and down and free[cell - 1 + size] == 1,
        down and free[cell + size] == 1,
        right and down and free[cell + size + 1] == 1,
    )
    groups = 0
    for side in (0, 2, 4, 6):
        groups += around[side] and not (around[side + 1] and around[(side + 2) % 8])
    return groups
