import random
import subprocess
import sys

import pytest
from hypothesis import given, settings

from core.lake.board import Agent, Board
from core.lake.rules import judge
from core.lake.solver import Solution, solve
from tests.lake.boards import boards, random_board
from tests.lake.brute_force import brute_force


def check(board: Board, found: Solution, truth: Solution) -> None:
    """``found`` is the truth, and its plan bears it out."""
    assert (found.status, found.makespan, found.sum_of_costs, found.needs_wait) == (
        truth.status,
        truth.makespan,
        truth.sum_of_costs,
        truth.needs_wait,
    ), board.to_text()
    if found.status == "solved":
        assert found.plan is not None
        assert judge(board, found.plan, found.makespan).outcome == "optimal", board.to_text()
        if not found.needs_wait:
            assert not any("W" in motions for motions in found.plan), board.to_text()


@pytest.mark.parametrize("part", range(4))
def test_agrees_with_brute_force_on_2000_boards(part: int) -> None:
    rng = random.Random(part)
    statuses = set()
    for _ in range(500):
        size, agents = rng.randint(3, 5), rng.choice((2, 2, 3))
        holes = rng.randint(0, min(size * size - 2 * agents, size * size * 6 // 10))
        board = random_board(rng, size, size, agents, holes)
        truth = brute_force(board)
        check(board, solve(board, sum_of_costs=True), truth)
        statuses.add((truth.status, truth.needs_wait))
    assert statuses == {("solved", False), ("solved", True), ("unsolvable", None)}


@settings(max_examples=200)
@given(boards(most_side=4, most_agents=3))
def test_agrees_with_brute_force_on_rectangles_and_single_agents(board: Board) -> None:
    check(board, solve(board, sum_of_costs=True), brute_force(board))


def test_four_agents_in_a_small_room_agree_with_brute_force() -> None:
    rng = random.Random(4)
    for _ in range(10):
        board = random_board(rng, 3, 3, 4, rng.randint(0, 1))
        check(board, solve(board, sum_of_costs=True), brute_force(board))


def test_a_head_on_meeting_needs_a_wait() -> None:
    solution = solve(Board.from_text("S g F G s\nH H F H H"), sum_of_costs=True)
    assert (solution.status, solution.makespan, solution.needs_wait) == ("solved", 5, True)


@pytest.mark.parametrize("text", ["S g F F s F F G", "S H F\ns g G", "S s F\nF H F\nG F F\nH H H\nF g F"])
def test_a_board_without_a_solution_is_proven_so(text: str) -> None:
    assert solve(Board.from_text(text)) == Solution("unsolvable")


def test_a_full_ring_of_agents_rotates() -> None:
    ring = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0)]
    agents = tuple(Agent(ring[i], ring[(i + 1) % 8]) for i in range(0, 8, 2))
    solution = solve(Board(("FFF", "FHF", "FFF"), agents), sum_of_costs=True)
    assert (solution.makespan, solution.sum_of_costs, solution.needs_wait) == (1, 4, False)


@pytest.mark.parametrize(("size", "agents", "holes"), [(10, 5, 10), (10, 5, 30), (10, 5, 40), (8, 5, 32), (7, 5, 15)])
def test_large_boards_are_decided_and_their_values_consistent(size: int, agents: int, holes: int) -> None:
    rng = random.Random(size * holes)
    for _ in range(20):
        board = random_board(rng, size, size, agents, holes)
        solution = solve(board)
        assert solution.status != "undecided"
        distances = [board.distances_to(agent.goal).get(agent.start) for agent in board.agents]
        if None in distances:
            assert solution.status == "unsolvable"
        elif solution.status == "solved":
            assert solution.makespan is not None and solution.makespan >= max(d for d in distances if d is not None)
            assert solution.needs_wait is not None


def test_beyond_the_reach_of_the_search_it_says_so() -> None:
    rng = random.Random(0)
    board = random_board(rng, 32, 32, 20, 0)
    assert solve(board).status == "undecided"


def test_the_solver_imports_numba_only_to_solve() -> None:
    code = "import sys, core.lake.solver, core.lake.generator, core.lake.suites; sys.exit('numba' in sys.modules or 'torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
