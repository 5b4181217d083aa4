import random
from dataclasses import replace

import pytest

from frozenlab.lake.board import Agent, Board
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import judge
from frozenlab.lake.solvers.solver import Solution, solve, solve_all
from tests.lake.boards import connected_board, random_board, reachable_board


@pytest.mark.parametrize("text", ["S g F F s F F G", "S H F\ns g G", "S s F\nF H F\nG F F\nH H H\nF g F"])
def test_a_board_without_a_solution_is_proven_so(text: str) -> None:
    assert solve(Board.from_text(text)) == Solution("unsolvable")


def test_a_full_ring_of_agents_rotates() -> None:
    ring = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0)]
    agents = tuple(Agent(ring[i], ring[(i + 1) % 8]) for i in range(0, 8, 2))
    solution = solve(Board(("FFF", "FHF", "FFF"), agents), sum_of_costs=True)
    assert (solution.makespan, solution.sum_of_costs, solution.needs_wait) == (1, 4, False)


@pytest.mark.parametrize(("size", "agents", "holes"), [(10, 5, 10), (10, 5, 30), (10, 5, 40), (8, 5, 20), (7, 5, 15)])
def test_large_boards_are_decided_and_their_values_consistent(size: int, agents: int, holes: int) -> None:
    rng = random.Random(size * holes)
    statuses = set()
    for _ in range(20):
        board = random_board(rng, size, size, agents, holes)
        solution = solve(board)
        statuses.add(solution.status)
        assert solution.status in ("solved", "unsolvable")
        distances = [board.distances_to_goal(i).get(agent.start) for i, agent in enumerate(board.agents)]
        if None in distances:
            assert solution.status == "unsolvable"
        elif solution.status == "solved":
            assert solution.makespan is not None and solution.makespan >= max(d for d in distances if d is not None)
            assert solution.needs_wait is not None
    assert "solved" in statuses


@pytest.mark.parametrize(("agents", "hole_ratio"), [(20, 0.2), (50, 0.2), (50, 0.35)])
def test_boards_beyond_the_exact_search_get_a_plan_and_what_is_known_of_it(agents: int, hole_ratio: float) -> None:
    rng = random.Random(agents)
    for _ in range(5):
        board = connected_board(rng, 32, 32, agents, round(hole_ratio * 1024))
        solution = solve(board, sum_of_costs=True)
        verdict = judge(board, solution.plan)
        least = max(board.distances_to_goal(i)[agent.start] for i, agent in enumerate(board.agents))
        if solution.status == "solved":
            assert verdict.makespan == solution.makespan == least
        else:
            assert solution.status == "bounded" and solution.makespan is None
            assert solution.bounds == (least, verdict.makespan)
        if solution.needs_wait is False:
            assert not any("W" in motions for motions in solution.plan)


def test_a_bounded_board_says_between_what_its_optimum_lies() -> None:
    """Crowded boards too large for the exact search, where planning in turn does not always meet the longest distance."""
    rng = random.Random(0)
    boards = [reachable_board(rng, 16, 16, 12, 100) for _ in range(40)]
    bounded = [(board, solution) for board, solution in zip(boards, solve_all(boards), strict=True) if solution.status == "bounded"]
    assert bounded
    for board, solution in bounded:
        assert solution.bounds is not None and solution.plan is not None and solution.makespan is None
        assert solution.bounds[0] < solution.bounds[1] == judge(board, solution.plan).makespan
        assert Instance.from_line(Instance("x", board, solution).to_line()).solution == solution


@pytest.mark.parametrize(("size", "agents"), [(32, 400), (64, 200), (130, 20)])
def test_a_board_beyond_the_exact_search_gets_a_plan_and_a_bound(size: int, agents: int) -> None:
    board = connected_board(random.Random(size), size, size, agents, size * size // 10)
    solution = solve(board, sum_of_costs=True)
    assert solution.plan is not None and solve(board) == replace(solution, sum_of_costs=None, cheapest_plan=None)
    assert solution.sum_of_costs == (solution.cheapest_plan and judge(board, solution.cheapest_plan).sum_of_costs)
    makespan = judge(board, solution.plan).makespan
    assert makespan == (solution.makespan if solution.status == "solved" else (solution.bounds or ())[1])


def test_one_unreachable_goal_makes_a_large_board_unsolvable() -> None:
    rows = ("FFH" + "F" * 29, *["F" * 32] * 31)
    rows = (rows[0], "HHH" + "F" * 29, *rows[2:])
    agents = (Agent((0, 0), (31, 31)), *(Agent((5, i), (9, i)) for i in range(12)))
    assert solve(Board(rows, agents)) == Solution("unsolvable")
    wider = tuple(row + "F" * 168 for row in rows) + ("F" * 200,) * 168
    assert solve(Board(wider, agents)) == Solution("unsolvable")


def test_many_boards_of_different_shapes_are_solved_in_their_order() -> None:
    rng = random.Random(1)
    boards = [random_board(rng, rng.randint(3, 5), rng.randint(3, 5), rng.randint(1, 2), 1) for _ in range(60)]
    assert solve_all(boards, sum_of_costs=True) == [solve(board, sum_of_costs=True) for board in boards]
    assert solve_all([]) == []


def test_the_cheapest_plan_bears_out_the_sum_of_costs_and_its_label() -> None:
    rng = random.Random(2)
    labels = set()
    for _ in range(150):
        board = reachable_board(rng, 6, 6, 3, 14)
        solution = solve(board, wait_definition="sum_of_costs")
        if solution.status == "solved":
            assert judge(board, solution.cheapest_plan).sum_of_costs == solution.sum_of_costs
            assert solution.needs_wait or not any("W" in motions for motions in solution.cheapest_plan)
            labels.add(solution.needs_wait)
    assert labels == {True, False}
