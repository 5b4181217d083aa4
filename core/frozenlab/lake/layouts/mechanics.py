"""Layouts with holes anywhere and something else on the ice: arrows, which agents leave only that way, or doors for one agent only."""

from frozenlab.lake.exits import ARROWS, DOORS
from frozenlab.lake.kernels.stream import below
from frozenlab.lake.layouts.layout import Recipe

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
