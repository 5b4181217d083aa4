"""Random boards for the tests of the lake."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from frozenlab.lake.board import Agent, Board
from frozenlab.lake.exits import DOWN, LEFT, RIGHT, UP


def random_board(rng: random.Random, height: int, width: int, agents: int, holes: int) -> Board:
    """Holes and agents anywhere; the board may have no solution."""
    cells = [(r, c) for r in range(height) for c in range(width)]
    rng.shuffle(cells)
    solid = set(cells[:holes])
    free = cells[holes:]
    rows = tuple("".join("H" if (r, c) in solid else "F" for c in range(width)) for r in range(height))
    return Board(rows, tuple(Agent(free[2 * i], free[2 * i + 1]) for i in range(agents)))


def reachable_board(rng: random.Random, height: int, width: int, agents: int, holes: int) -> Board:
    """The same, drawn until every agent could reach its goal if it were alone."""
    while True:
        board = random_board(rng, height, width, agents, holes)
        if all(agent.start in board.distances_to(agent.goal) for agent in board.agents):
            return board


@st.composite
def boards(draw: st.DrawFn, most_side: int = 6, most_agents: int = 5) -> Board:
    """Rectangular boards with at least one agent; they may have no solution."""
    height = draw(st.integers(1, most_side))
    width = draw(st.integers(2 if height == 1 else 1, most_side))
    agents = draw(st.integers(1, min(most_agents, height * width // 2)))
    holes = draw(st.integers(0, height * width - 2 * agents))
    return random_board(draw(st.randoms(use_true_random=False)), height, width, agents, holes)


def one_way(board: Board, rng: random.Random, left_out: float) -> Board:
    """The same board without a part of its exits. A board has no such thing of its own yet: the mask is put in place of the one it has."""
    mask = bytes(exits & ~sum(exit for exit in (UP, DOWN, LEFT, RIGHT) if rng.random() < left_out) for exits in board.exits)
    barred = Board(board.rows, board.agents)
    barred.__dict__["exits"] = mask
    return barred
