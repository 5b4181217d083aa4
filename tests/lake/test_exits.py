"""Exits: what holes and the border leave; one-way ice and doors, in the rules and in all searches."""

import random
from collections import Counter

import pytest
from hypothesis import given

from frozenlab.lake.board import Board
from frozenlab.lake.exits import DOOR, DOWN, LEFT, RIGHT, UP, WAIT
from frozenlab.lake.rules import judge, judge_paths
from frozenlab.lake.solvers.cbs import search
from frozenlab.lake.solvers.solver import solve, stacked
from tests.lake.boards import boards, furnish, random_board
from tests.lake.brute_force import Truth, brute_force
from tests.lake.test_agreement import assert_cp_sat_agrees, assert_true, loss_of


def test_holes_and_the_border_have_no_exits_into_them() -> None:
    board = Board.from_text("S F F\nF H G")
    assert list(board.exits) == [RIGHT + DOWN + WAIT, LEFT + RIGHT + WAIT, LEFT + DOWN + WAIT, UP + WAIT, 0, UP + WAIT]
    assert board.leads((0, 0), (1, 0), 0) and board.leads((0, 0), (0, 0), 0)
    assert not board.leads((0, 1), (1, 1), 0) and not board.leads((0, 0), (1, 1), 0) and not board.leads((0, 0), (-1, 0), 0)


def test_one_way_ice_has_the_exit_of_its_arrow_and_a_door_opens_for_one_agent() -> None:
    board = Board.from_text("S > ^\n1 v F\ns g G")
    assert list(board.exits[:3]) == [RIGHT + DOWN + WAIT, RIGHT + WAIT, WAIT]
    assert list(board.exits[3:5]) == [UP + DOWN + RIGHT + WAIT + (2 << DOOR), DOWN + WAIT]
    assert board.leads((0, 1), (0, 2), 0) and not board.leads((0, 1), (0, 0), 0) and not board.leads((0, 2), (1, 2), 0)
    assert board.leads((0, 0), (1, 0), 1) and not board.leads((0, 0), (1, 0), 0)
    assert board.distances_to_goal(1)[0, 0] == 3 and (0, 0) not in board.distances_to_goal(0)


@given(boards(most_side=8, furnished=True))
def test_compiled_or_not_the_exits_are_the_same(board: Board) -> None:
    assert stacked([board]).exits.tobytes() == board.exits


@pytest.mark.parametrize("part", range(3))
def test_the_solver_agrees_with_brute_force_on_one_way_ice_and_doors(part: int) -> None:
    """Makespan, sum of costs and both labels, and the plans by the plain rules; also where goals cannot be reached."""
    rng = random.Random(part)
    seen: Counter[Truth] = Counter()
    while sum(seen.values()) < 700:
        size, agents = rng.randint(3, 5), rng.choice((2, 3, 3, 4))
        holes = rng.randint(0, min(size, size * size - 2 * agents))
        arrows, doors = rng.uniform(0, 0.6) * rng.randint(0, 1), rng.uniform(0, 0.4) * rng.randint(0, 1)
        board = furnish(random_board(rng, size, size, agents, holes), rng, arrows, doors)
        if not board.is_furnished:
            continue
        if any(agent.start not in board.distances_to_goal(i) for i, agent in enumerate(board.agents)) and rng.random() < 0.9:
            continue
        truth = brute_force(board)
        assert_true(board, truth)
        seen[Truth(truth.status, needs_wait=truth.needs_wait, needs_wait_costs=truth.needs_wait_costs)] += 1
    assert len(seen) == 5, seen


def test_agrees_with_cp_sat_on_one_way_ice_and_doors() -> None:
    """Larger boards, up to 9x9 with 5 agents: the Conflict-Based Search of the kernels decides their sums of costs."""
    rng = random.Random(5)
    compared = 0
    while compared < 20:
        size, agents = rng.choice((6, 7, 8, 9)), rng.choice((3, 4, 5))
        board = furnish(random_board(rng, size, size, agents, size), rng, rng.choice((0.0, 0.3)), rng.choice((0.1, 0.3)))
        found = solve(board, sum_of_costs=True)
        if found.sum_of_costs is not None and 0 < loss_of(board, found.sum_of_costs) <= 5:
            assert_cp_sat_agrees(board, found)
            compared += 1


def test_the_readable_search_knows_one_way_ice_and_doors() -> None:
    rng = random.Random(7)
    compared = 0
    for _ in range(60):
        board = furnish(random_board(rng, 4, 4, 2, 2), rng, 0.2, 0.2)
        truth = brute_force(board)
        last = list(search(board, max_nodes=400))[-1]
        if last.action == "solved":
            assert last.node.cost == truth.sum_of_costs
            compared += 1
    assert compared > 20


def test_faults_of_one_way_ice_and_doors_have_their_place_in_the_order() -> None:
    board = Board.from_text("S > H\n0 v 1\ns g G")
    assert judge(board, ("RD", "")).fault == "against_arrow"
    assert judge(board, ("RR", "")).fault == "hole"
    assert judge(board, ("RU", "")).fault == "out_of_bounds"
    assert judge(board, ("RWL", "")).step == 3
    verdict = judge(board, ("W", "U"))
    assert (verdict.fault, verdict.step, verdict.agents, verdict.cell) == ("locked_door", 1, (1,), (1, 0))
    assert judge(board, ("RDR", "")).fault == "against_arrow"
    assert judge(board, ("DRR", "")).fault == "locked_door"
    jump = judge_paths(board, (((0, 0), (0, 1), (2, 1)), ((2, 0),)))
    assert (jump.fault, jump.step) == ("illegal_jump", 2)
    assert judge_paths(board, (((0, 0), (1, 2)), ((2, 0),))).fault == "locked_door"
    assert judge_paths(board, (((0, 1),), ((2, 0),))).fault == "illegal_jump"
