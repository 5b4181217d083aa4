"""Layouts: where the holes of a board go, and what else lies on its ice. Light: no numba here.

To add a layout, write its ``Recipe`` beside the others and add it at the end of ``LAYOUTS``: mixes of layouts are shared out in this order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from frozenlab.lake.exits import ARROWS, DOORS
from frozenlab.lake.kernels.stream import below, mix

LATE = 255
"""The turn of a cell that is no wall."""


@dataclass(frozen=True)
class Recipe:
    """Where the holes of a board go; how many there are, the hole ratio of a config says.

    A recipe gives every cell a *turn*: walls come first, in the order in which they are built, and all other cells are left over (LATE).
    Holes are then placed in the order of the turns, by chance among equals, until there are as many as asked. Where more are asked than
    the structure has walls, the walls thicken and the dead ends fill up, and no passage closes as long as any other cell is left.
    """

    name: str
    """As configs have it."""
    words: str
    """What it looks like, for people: it follows the name in captions and help."""
    turns: Callable[..., Any] | None
    """``turns(size, holes, state, turns, scratch) -> state`` writes the turn of every cell of a square board into ``turns``
    (uint8, row-major) and returns the next state of the random stream; ``scratch`` is int64, one a cell. Plain Python that numba can
    compile (draw/layouts.py does). None: all cells are equal, and the holes are drawn by chance alone."""
    furnish: Callable[..., Any] | None = None
    """``furnish(exits, team, state, ice, plain) -> state`` puts one-way ice and doors on a board that has its holes and agents: it
    writes their letters (exits.py) into ``ice`` (uint8, one a cell), only where ``plain`` is 1: no hole, no start, no goal. ``exits`` are
    the masks that holes and the border leave. A board on which an agent can then not reach its goal is drawn again. None: plain ice."""


# --- straight walls with doors ---------------------------------------------------------------------------------------


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


# --- rooms: as many walls as the holes allow, so more holes make smaller rooms ----------------------------------------


def room_turns(size, holes, state, turns, doors):
    # one more wall on either axis, by chance, while there are holes and room for it
    down = right = 1
    most = max(1, (size - 2) // 3)
    while True:
        state, axis = below(state, 2)
        more_down, more_right = down + 1 - axis, right + axis
        openings = more_down * (more_right + 1) + more_right * (more_down + 1)
        if max(more_down, more_right) > most or (more_down + more_right) * size - more_down * more_right - openings > holes:
            break
        down, right = more_down, more_right
    state, across = spread(size, down, state)
    state, along = spread(size, right, state)
    state = lay_walls(size, across, along, state, turns, doors)

    # every stretch of wall has one door
    for c in range(size * size):
        if doors[c] >= 0:
            chance, place, length = read_door(doors[c])
            if place == chance % length:
                turns[c] = LATE
    return state


ROOMS = Recipe("rooms", "a door between neighbours", room_turns)


# --- corridor: one-wide aisles from one side of the board -------------------------------------------------------------


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


# --- bottleneck: walls from rim to rim --------------------------------------------------------------------------------


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


# --- maze: a spanning tree on every second cell; with fewer holes some of its walls are left out, a corner at a time -----

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


# --- open: the holes gather around one field --------------------------------------------------------------------------


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


# --- warehouse: blocks of shelves and a free rim, as in the warehouse maps of MAPF benchmarks --------------------------


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


# --- holes anywhere, and arrows or doors on the ice --------------------------------------------------------------------

ARROW_LETTERS = tuple(map(ord, ARROWS))
FIRST_DOOR = ord(DOORS[0])


def arrows(exits, team, state, ice, plain):
    # three cells of ten, each with an arrow to one of the free cells beside it
    for cell in range(len(ice)):
        if plain[cell]:
            state, chance = below(state, 10)
            ways = 0
            for direction in range(4):
                ways += exits[cell] >> direction & 1
            if chance < 3 and ways > 0:
                state, way = below(state, ways)
                for direction in range(4):
                    if exits[cell] >> direction & 1:
                        if way == 0:
                            ice[cell] = ARROW_LETTERS[direction]
                        way -= 1
    return state


ONE_WAY_ICE = Recipe("oneway", "anywhere, and three cells of ten are one-way ice", None, arrows)


def doors(exits, team, state, ice, plain):
    # a quarter of the cells, each a door of any of the agents
    for cell in range(len(ice)):
        if plain[cell]:
            state, chance = below(state, 4)
            if chance == 0:
                state, agent = below(state, team)
                ice[cell] = FIRST_DOOR + agent
    return state


LOCKED_DOORS = Recipe("doors", "anywhere, and a quarter of the cells are doors, each for one agent", None, doors)


SCATTER = Recipe("scatter", "anywhere, by chance", None)
"""The paper's layout, and the default."""
LAYOUTS = (SCATTER, ROOMS, CORRIDOR, BOTTLENECK, MAZE, OPEN, WAREHOUSE, ONE_WAY_ICE, LOCKED_DOORS)
