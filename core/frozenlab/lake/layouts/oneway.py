"""One-way: holes anywhere, and ice with arrows, which agents leave only that way."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

from frozenlab.lake.exits import ARROWS
from frozenlab.lake.kernels.stream import below
from frozenlab.lake.layouts.layout import Recipe

LETTERS = tuple(map(ord, ARROWS))


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
                            ice[cell] = LETTERS[direction]
                        way -= 1
    return state


ONEWAY = Recipe("oneway", "anywhere, and three cells of ten are one-way ice", None, arrows)
