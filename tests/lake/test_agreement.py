"""The solver against two others that share nothing with it: a plain exhaustive search, and a constraint model solved by CP-SAT."""

import random
from collections import Counter

import pytest
from hypothesis import given

from frozenlab.lake.board import Board
from frozenlab.lake.rules import judge
from frozenlab.lake.solvers.solver import Solution, solve
from tests.lake.boards import boards, parts, random_board, reachable_board
from tests.lake.brute_force import Truth, brute_force
from tests.lake.second_solver import affordable, solvable_within


def assert_true(board: Board, truth: Truth) -> None:
    """The solver says of ``board`` what is true, and its plan bears it out."""
    found = solve(board, sum_of_costs=True)
    assert (found.status, found.makespan, found.sum_of_costs, found.needs_wait) == truth[:4], board
    assert solve(board, wait_definition="sum_of_costs").needs_wait == truth.needs_wait_costs, board
    if found.status == "solved":
        assert judge(board, found.plan, found.makespan).outcome == "optimal", board
        if not found.needs_wait:
            assert not any("W" in motions for motions in found.plan), board


def assert_cp_sat_agrees(board: Board, found: Solution) -> None:
    """Makespan, need of a WAIT and sum of costs are the least there are."""
    assert solvable_within(board, found.makespan, waiting=False) is not found.needs_wait, board
    assert not found.needs_wait or solvable_within(board, found.makespan), board
    assert not solvable_within(board, found.makespan - 1), board
    assert affordable(board, found.sum_of_costs) and not affordable(board, found.sum_of_costs - 1), board


def loss_of(board: Board, costs: int) -> int:
    """By how much a sum of costs is above what the agents would need alone."""
    return costs - sum(board.distances_to_goal(i)[agent.start] for i, agent in enumerate(board.agents))


@pytest.mark.parametrize("part", parts(8, slow=4))
def test_agrees_with_brute_force_on_8000_boards(part: int) -> None:
    """Of each 1,000: sizes 3 to 6 alike (250 each or so), teams of 1 to 4 at 1 : 3 : 3 : 4, hole ratios up to 0.6 alike.

    On two thirds of the boards every agent can reach its goal if it is alone, so that most of them are about how agents meet.
    """
    rng = random.Random(part)
    seen: Counter[tuple[str, bool | None, bool | None]] = Counter()
    for _ in range(1000):
        size, agents = rng.randint(3, 6), rng.choice((1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 4))
        holes = min(round(rng.uniform(0, 0.6) * size * size), size * size - 2 * agents)
        draw = rng.choice((random_board, reachable_board, reachable_board))
        board = draw(rng, size, size, agents, holes)
        truth = brute_force(board)
        assert_true(board, truth)
        seen[truth.status, truth.needs_wait, truth.needs_wait_costs] += 1
    assert set(seen) == {
        ("unsolvable", None, None),
        *(("solved", by_makespan, by_costs) for by_makespan in (True, False) for by_costs in (True, False)),
    }


@given(boards(most_side=5, most_agents=4, shared=True))
def test_agrees_with_brute_force_on_rectangles(board: Board) -> None:
    assert_true(board, brute_force(board))


@pytest.mark.parametrize("part", parts(15, slow=14))
def test_agrees_with_cp_sat_on_300_boards_up_to_10x10_with_5_agents(part: int) -> None:
    """Sizes 6 to 10 with 10 twice as often as the others, teams of 3 to 5 with 5 twice as often, hole ratios up to a half alike.

    Of three boards one is any, on one the agents lose steps to each other, and on one they have to wait. Left out are boards on which they
    lose more than 6 steps: there CP-SAT takes minutes to prove a sum of costs.
    """
    rng = random.Random(100 + part)
    for number in range(20):
        board, found, loss = _solved_board(rng)
        while loss > 6 or (number % 3 == 1 and loss == 0) or (number % 3 == 2 and not found.needs_wait):
            board, found, loss = _solved_board(rng)
        assert_cp_sat_agrees(board, found)
        needs_wait = solve(board, wait_definition="sum_of_costs").needs_wait
        assert affordable(board, found.sum_of_costs, waiting=False) is not needs_wait, board


def _solved_board(rng: random.Random) -> tuple[Board, Solution, int]:
    """A board, its solution, and what the agents lose to each other."""
    while True:
        size, agents = rng.choice((6, 7, 8, 9, 10, 10)), rng.choice((3, 4, 5, 5))
        board = reachable_board(rng, size, size, agents, round(rng.uniform(0, 0.5) * size * size))
        found = solve(board, sum_of_costs=True)
        if found.sum_of_costs is not None:
            return board, found, loss_of(board, found.sum_of_costs)
