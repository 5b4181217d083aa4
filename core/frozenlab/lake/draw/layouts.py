"""Drawing boards of all layouts but scatter, compiled; as a group of its own, because most boards are scatter. Imports numba.

The layouts themselves are in lake/layouts.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frozenlab.lake.board import FROZEN, HOLE
from frozenlab.lake.draw.drawing import first_state, place_agents, reachable, shuffled_head
from frozenlab.lake.exits import ADDED, KEPT
from frozenlab.lake.kernels.compiled import callable_from_kernels, entry, inlined, kernel
from frozenlab.lake.kernels.stream import below
from frozenlab.lake.layouts import LATE, LAYOUTS, between_lines, lay_walls, lines_up_to, read_door, spread, turned

for helper in (lines_up_to, between_lines, spread, turned, lay_walls, read_door):
    callable_from_kernels(helper)


def one_of(recipes: tuple[tuple[int, Any], ...]) -> Any:
    """A function for kernels that runs the recipe of a layout, of ``(index of the layout, compiled recipe)``.

    It is for both kinds of recipes: both take two arguments of their own, the state of the stream, an array to write and another.
    """
    (index, recipe), *others = recipes
    other = one_of(tuple(others)) if others else recipe

    def first_or_other(layout, one, two, state, out, more):
        if layout == index:
            return recipe(one, two, state, out, more)
        return other(layout, one, two, state, out, more)

    def last(layout, one, two, state, out, more):
        return recipe(one, two, state, out, more)

    return inlined(first_or_other if others else last)


write_turns = one_of(tuple((index, kernel(recipe.turns)) for index, recipe in enumerate(LAYOUTS) if recipe.turns))
write_furniture = one_of(tuple((index, kernel(recipe.furnish)) for index, recipe in enumerate(LAYOUTS) if recipe.furnish))
IS_LAID_OUT = tuple(recipe.turns is not None for recipe in LAYOUTS)
IS_FURNISHED = tuple(recipe.furnish is not None for recipe in LAYOUTS)
FROZEN_LETTER, HOLE_LETTER = ord(FROZEN), ord(HOLE)
KEPT_EXITS, ADDED_DOOR = np.frombuffer(KEPT, np.uint8), np.frombuffer(ADDED, np.uint8)


@kernel
def lay_out(layout, size, holes, state, free, cells):
    """Places ``holes`` holes on a free square board; returns the next state of the stream.

    Args:
        layout: index in LAYOUTS of a layout that has a recipe of turns.
        state: uint64, of frozenlab.lake.kernels.stream.
        free: ``uint8[size * size]``, row-major; all 1 at entry, 0 where there is a hole afterwards.
        cells: ``int64[size * size]``, scratch.
    """
    state = write_turns(layout, size, holes, state, free, cells)
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


@kernel
def furnish(layout, state, starts, goals, plain, ice, exits):
    """Puts the one-way ice and the doors of a layout on a board; returns the next state of the stream.

    Args:
        plain: uint8, scratch; ``ice``: uint8, gets the letters of the board; ``exits``: uint8, are those of the holes, and get the others.
    """
    for cell in range(ice.shape[0]):
        plain[cell] = exits[cell] != 0
    for i in range(starts.shape[0]):
        plain[starts[i]] = plain[goals[i]] = 0
    state = write_furniture(layout, exits, starts.shape[0], state, ice, plain)
    for cell in range(ice.shape[0]):
        exits[cell] = exits[cell] & KEPT_EXITS[ice[cell]] | ADDED_DOOR[ice[cell]]
    return state


@entry("layouts")
def draw_boards_of_layout(key, first, last, layout, placement, holes, size, exits, ice, starts, goals, numbers):
    """:func:`frozenlab.lake.draw.drawing.draw_boards` for a layout that has a recipe.

    Args:
        layout: its index in LAYOUTS.
        ice: uint8 ``[row, cell]``, gets the letters of the cells.
    """
    free = np.empty(size * size, np.uint8)
    cells, label = np.empty(size * size, np.int64), np.empty(size * size, np.int64)
    plain = np.empty(size * size, np.uint8)
    rows, number = 0, first
    while rows < exits.shape[0] and number < last:
        free[:] = 1
        state = first_state(key, number)
        if IS_LAID_OUT[layout]:
            state = lay_out(layout, size, holes, state, free, cells)
            low, high = 0, size * size - 1
            for c in range(size * size):  # holes first
                cells[high if free[c] else low] = c
                low += 1 - free[c]
                high -= free[c]
        else:
            for c in range(size * size):
                cells[c] = c
            state = shuffled_head(state, cells, np.int64(0), holes)
            for hole in range(holes):
                free[cells[hole]] = 0
        state, placed = place_agents(state, placement, holes, size, free, cells, label, exits[rows], starts[rows], goals[rows])
        if placed:
            for c in range(size * size):
                ice[rows, c] = FROZEN_LETTER if free[c] else HOLE_LETTER
            if IS_FURNISHED[layout]:
                furnish(layout, state, starts[rows], goals[rows], plain, ice[rows], exits[rows])
                placed = reachable(exits[rows], size, starts[rows], goals[rows], label, cells)
        if placed:
            numbers[rows] = number
            rows += 1
        number += 1
    return rows, number
