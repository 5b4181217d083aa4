"""Exits: what holes and the border leave, and searches on boards where a move is possible one way only."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given

from frozenlab.lake.board import MOVES, Board, Plan
from frozenlab.lake.exits import DOWN, LEFT, RIGHT, UP, WAIT
from frozenlab.lake.kernels.judge import judge_plans
from frozenlab.lake.kernels.limits import BUDGET_FULL
from frozenlab.lake.rules import FAULTS, judge
from frozenlab.lake.solvers.cbs import search
from frozenlab.lake.solvers.solver import Boards, Plans, Solution, solve_group, stacked
from tests.lake.boards import boards, one_way, random_board
from tests.lake.brute_force import Steps, Truth, brute_force


def test_holes_and_the_border_have_no_exits_into_them() -> None:
    board = Board.from_text("S F F\nF H G")
    assert list(board.exits) == [RIGHT + DOWN + WAIT, LEFT + RIGHT + WAIT, LEFT + DOWN + WAIT, UP + WAIT, 0, UP + WAIT]
    assert board.leads((0, 0), (1, 0)) and board.leads((0, 0), (0, 0))
    assert not board.leads((0, 1), (1, 1)) and not board.leads((0, 0), (1, 1)) and not board.leads((0, 0), (-1, 0))


@given(boards(most_side=8))
def test_compiled_or_not_the_exits_are_the_same(board: Board) -> None:
    assert stacked([board]).exits.tobytes() == board.exits


def steps_of(board: Board) -> Steps:
    cells = [divmod(cell, board.width) for cell, exits in enumerate(board.exits) if exits]
    return {
        (r, c): [(r + dr, c + dc) for bit, (dr, dc) in enumerate(list(MOVES.values())[:4]) if board.exits[r * board.width + c] >> bit & 1]
        for r, c in cells
    }


def packed(board: Board) -> Boards:
    """The board as the kernels take it, with its own mask."""
    return stacked([board])._replace(exits=np.frombuffer(board.exits, np.uint8).copy()[None])


def solved(board: Board, wait_definition: str = "makespan") -> Solution:
    return solve_group(packed(board), BUDGET_FULL, True, wait_definition)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize("part", range(2))
def test_the_solver_agrees_with_brute_force_where_moves_lead_one_way(part: int) -> None:
    """Makespan, sum of costs and both labels, and the plans by the plain rules; also where goals cannot be reached."""
    rng = random.Random(part)
    seen: Counter[Truth] = Counter()
    while sum(seen.values()) < 700:
        size, agents = rng.randint(3, 5), rng.choice((2, 3, 3, 4))
        holes = rng.randint(0, min(size, size * size - 2 * agents))
        board = one_way(random_board(rng, size, size, agents, holes), rng, rng.uniform(0.05, 0.35))
        if any(agent.start not in board.distances_to(agent.goal) for agent in board.agents) and rng.random() < 0.9:
            continue
        truth = brute_force(board, steps_of(board))
        found = solved(board)
        assert (found.status, found.makespan, found.sum_of_costs, found.needs_wait) == truth[:4], (board.to_text(), board.exits)
        assert solved(board, "sum_of_costs").needs_wait == truth.needs_wait_costs, (board.to_text(), board.exits)
        if found.plan is not None and found.cheapest_plan is not None:
            assert judge(board, found.plan, found.makespan).outcome == "optimal"
            assert judge(board, found.cheapest_plan).sum_of_costs == found.sum_of_costs
        seen[Truth(truth.status, needs_wait=truth.needs_wait, needs_wait_costs=truth.needs_wait_costs)] += 1
    assert len(seen) == 5, seen


def test_the_readable_search_takes_exits_only() -> None:
    rng = random.Random(7)
    compared = 0
    for _ in range(60):
        board = one_way(random_board(rng, 4, 4, 2, 2), rng, 0.2)
        truth = brute_force(board, steps_of(board))
        last = list(search(board, max_nodes=400))[-1]
        if last.action == "solved":
            assert last.node.cost == truth.sum_of_costs
            compared += 1
    assert compared > 20


def test_a_move_without_an_exit_is_an_illegal_jump_unless_it_leaves_the_ice() -> None:
    """The two judges agree on random plans."""
    rng = random.Random(3)
    seen: Counter[str | None] = Counter()
    for _ in range(400):
        board = one_way(random_board(rng, 4, 5, 2, 3), rng, 0.3)
        plan: Plan = tuple("".join(rng.choices("UDLRW", k=3)) for _ in board.agents)
        moves = np.array([[list(motions.encode()) for motions in plan]], np.uint8)
        exits, starts, goals, width = packed(board)
        out = judge_plans(exits, width, starts, goals, *Plans(moves, np.full((1, 2), 3)))[0].tolist()
        verdict = judge(board, plan)
        assert (None if out[0] < 0 else FAULTS[out[0]]) == verdict.fault
        if verdict.fault not in (None, "goal_not_reached"):
            assert (out[1], out[2]) == (verdict.step, verdict.agents[0])
        seen[verdict.fault] += 1
    assert {"illegal_jump", "hole", "out_of_bounds", "vertex_conflict", "goal_not_reached"} <= set(seen)
