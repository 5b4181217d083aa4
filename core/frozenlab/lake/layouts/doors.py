"""Doors: holes anywhere, and doors that open for one agent only."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

from frozenlab.lake.exits import DOORS as LETTERS
from frozenlab.lake.kernels.stream import below
from frozenlab.lake.layouts.layout import Recipe

ZERO = ord(LETTERS[0])


def doors(exits, team, state, ice, plain):
    # a quarter of the cells, each a door of any of the agents
    for cell in range(len(ice)):
        if plain[cell]:
            state, chance = below(state, 4)
            if chance == 0:
                state, agent = below(state, team)
                ice[cell] = ZERO + agent
    return state


DOORS = Recipe("doors", "anywhere, and a quarter of the cells are doors, each for one agent", None, doors)
