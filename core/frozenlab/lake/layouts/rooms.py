"""Rooms: a grid of rooms with one door between neighbours; as many walls as the holes allow, so more holes make smaller rooms."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

from frozenlab.lake.kernels.stream import below
from frozenlab.lake.layouts.layout import LATE, Recipe
from frozenlab.lake.layouts.walls import lay_walls, read_door, spread


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
