"""Rooms: a grid of rooms with one door between neighbours; as many walls as the holes allow, so more holes make smaller rooms."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

import numpy as np

from frozenlab.lake.kernels.stream import below, mix
from frozenlab.lake.layouts.layout import LATE, Recipe
from frozenlab.lake.layouts.walls import spread, turned, wall_at


def room_turns(size, holes, state, turns, scratch):
    # one more wall on either axis, by chance, while there are holes and room for it
    down = right = 1
    most = max(1, (size - 2) // 3)
    while True:
        state, axis = below(state, 2)
        more_down, more_right = down + 1 - axis, right + axis
        doors = more_down * (more_right + 1) + more_right * (more_down + 1)
        if max(more_down, more_right) > most or (more_down + more_right) * size - more_down * more_right - doors > holes:
            break
        down, right = more_down, more_right
    state, across = spread(size, down, state)
    state, along = spread(size, right, state)

    # every stretch of wall has one door
    state, symmetry = below(state, 8)
    state, salt = below(state, 1 << 30)
    for c in range(size * size):
        row, column = turned(symmetry, size, c)
        turn, stretch, place, first, last = wall_at(row, column, size, across, along)
        if stretch >= 0:
            door = mix(np.uint64(salt + stretch)) % np.uint64(last - first + 1)
            if np.uint64(place - first) == door:
                turn = LATE
        turns[c] = turn
    return state


ROOMS = Recipe("rooms", "a door between neighbours", room_turns)
