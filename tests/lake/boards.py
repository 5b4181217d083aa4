"""Random boards for the tests of the lake."""

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st

from frozenlab.lake.board import FROZEN, Agent, Board
from frozenlab.lake.exits import ARROWS, DOORS

CROSS = Board.from_text("F S F\ns F g\nF G H")
"""The ways of two agents cross; the optimal makespan is 3."""


def parts(n: int, slow: int | None = None) -> list[Any]:
    """The numbers below ``n``, for ``parametrize``: ``make test`` takes the first alone, ``make test-slow`` those below ``slow``, or all
    others, and ``make test-long`` the rest."""
    marks = (pytest.mark.slow if slow is None or part < slow else pytest.mark.long for part in range(1, n))
    return [0, *(pytest.param(part, marks=mark) for part, mark in enumerate(marks, start=1))]


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
        if all(agent.start in board.distances_to_goal(i) for i, agent in enumerate(board.agents)):
            return board


def connected_board(rng: random.Random, height: int, width: int, agents: int, holes: int) -> Board:
    """Holes anywhere, and all agents and goals on the largest piece of free ice. With many agents :func:`reachable_board` draws long."""
    ice = random_board(rng, height, width, 1, holes).rows
    free = {(r, c) for r in range(height) for c in range(width) if ice[r][c] == FROZEN}
    pieces = []
    while free:
        piece, edge = set(), [min(free)]
        while edge:
            r, c = edge.pop()
            if (r, c) in free:
                free.remove((r, c))
                piece.add((r, c))
                edge += [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)]
        pieces.append(piece)
    places = rng.sample(sorted(max(pieces, key=len)), 2 * agents)
    return Board(ice, tuple(Agent(places[2 * i], places[2 * i + 1]) for i in range(agents)))


@st.composite
def boards(draw: st.DrawFn, most_side: int = 6, most_agents: int = 5, furnished: bool = False, shared: bool = False) -> Board:
    """Rectangular boards with at least one agent; they may have no solution. ``furnished``: some with one-way ice and doors; ``shared``:
    some with starts that are goals too."""
    height = draw(st.integers(1, most_side))
    width = draw(st.integers(2 if height == 1 else 1, most_side))
    agents = draw(st.integers(1, min(most_agents, height * width // 2)))
    holes = draw(st.integers(0, height * width - 2 * agents))
    rng = draw(st.randoms(use_true_random=False))
    board = random_board(rng, height, width, agents, holes)
    if shared and draw(st.booleans()):
        board = sharing(board, rng)
    return furnish(board, rng, draw(st.sampled_from((0.0, 0.2, 0.6))), draw(st.sampled_from((0.0, 0.3)))) if furnished else board


def numbered_board(number: int, most_side: int = 4, most_agents: int = 4) -> Board:
    """The board of a number: of any of the kinds above, furnished or not, and half of them with starts that are goals too."""
    rng = random.Random(number)
    height, width = rng.randint(1, most_side), rng.randint(2, most_side)
    agents = rng.randint(1, min(most_agents, height * width // 2))
    board = random_board(rng, height, width, agents, rng.randint(0, (height * width - 2 * agents) // 2))
    if rng.random() < 0.5:
        board = sharing(board, rng)
    return furnish(board, rng, rng.choice((0.0, 0.0, 0.2, 0.6)), rng.choice((0.0, 0.0, 0.3)))


def sharing(board: Board, rng: random.Random) -> Board:
    """The same board, whose agents go to any of its starts and goals."""
    goals = rng.sample([cell for agent in board.agents for cell in (agent.start, agent.goal)], board.num_agents)
    return replace(board, agents=tuple(Agent(agent.start, goal) for agent, goal in zip(board.agents, goals, strict=True)))


def furnish(board: Board, rng: random.Random, arrows: float, doors: float) -> Board:
    """The same board with such parts of its plain cells turned into one-way ice, to any side, and into doors of any agents."""
    ends = {cell for agent in board.agents for cell in (agent.start, agent.goal)}
    rows = [list(row) for row in board.rows]
    for r, c in [(r, c) for r in range(board.height) for c in range(board.width)]:
        if rows[r][c] == FROZEN and (r, c) not in ends and (chance := rng.random()) < arrows + doors:
            rows[r][c] = rng.choice(ARROWS) if chance < arrows else rng.choice(DOORS[: board.num_agents])
    return Board(tuple("".join(row) for row in rows), board.agents)
