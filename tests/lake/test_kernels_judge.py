"""The compiled judge says what rules.py says: on random plans, on plans that are nearly right, and on large boards full of agents."""

import random
from functools import cache

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.board import MOVES, Agent, Board, Plan
from frozenlab.lake.kernels.judge import MISSING, judge_plans
from frozenlab.lake.rules import FAULTS, judge
from frozenlab.lake.solvers.solver import solve, stacked
from tests.lake.boards import CROSS, boards, furnish, random_board

LETTERS = "".join(MOVES)


def compiled(board: Board, plan: Plan) -> tuple[object, ...]:
    """(fault, step, first two agents, makespan, sum of costs) by the kernel."""
    moves = np.full((board.num_agents, max([1, *map(len, plan)])), ord("?"), np.uint8)
    lengths = np.full(board.num_agents, MISSING, np.int64)
    for i, motions in enumerate(plan):
        moves[i, : len(motions)] = np.frombuffer(motions.encode(), np.uint8)
        lengths[i] = len(motions)
    exits, starts, goals, width = stacked([board])
    out = judge_plans(exits, width, starts, goals, moves[None], lengths[None])[0]
    fault, step, first, second, makespan, costs = (None if x < 0 else int(x) for x in out)
    agents = tuple(agent for agent in (first, second) if agent is not None)
    return (None if fault is None else FAULTS[fault], step, agents, makespan, costs)


def defined(board: Board, plan: Plan) -> tuple[object, ...]:
    """The same by the definition."""
    verdict = judge(board, plan)
    return (verdict.fault, verdict.step, verdict.agents[:2], verdict.makespan, verdict.sum_of_costs)


@given(boards(most_side=5, furnished=True), st.data())
def test_says_what_the_rules_say_of_random_plans(board: Board, data: st.DataObject) -> None:
    given_to = data.draw(st.one_of(st.just(board.num_agents), st.integers(0, board.num_agents)))
    plan = tuple(data.draw(st.text(LETTERS, max_size=7)) for _ in range(given_to))
    assert compiled(board, plan) == defined(board, plan)


@cache
def solved() -> list[tuple[Board, Plan]]:
    """Small crowded boards with an optimal plan."""
    rng = random.Random(3)
    drawn = [random_board(rng, rng.randint(3, 6), rng.randint(3, 6), rng.randint(1, 3), rng.randint(0, 3)) for _ in range(60)]
    drawn += [furnish(board, rng, 0.2, 0.2) for board in drawn]
    return [(board, plan) for board in drawn if (plan := solve(board).plan) is not None]


@given(st.data())
def test_says_what_the_rules_say_of_plans_that_are_nearly_right(data: st.DataObject) -> None:
    board, plan = data.draw(st.sampled_from(solved()))
    motions = list(plan)
    for _ in range(data.draw(st.integers(0, 3))):
        i = data.draw(st.integers(0, board.num_agents - 1))
        place = data.draw(st.integers(0, len(motions[i])))
        motions[i] = motions[i][:place] + data.draw(st.sampled_from(["", *LETTERS])) + motions[i][place + data.draw(st.integers(0, 1)) :]
    assert compiled(board, tuple(motions)) == defined(board, tuple(motions))


@given(st.randoms(use_true_random=False))
def test_says_what_the_rules_say_of_fifty_agents(rng: random.Random) -> None:
    """Most agents stand still and a few walk at random, so that plans stay legal for some steps."""
    board = random_board(rng, 32, 32, 50, rng.choice([0, 40, 200]))
    careless = set(rng.sample(range(50), rng.choice([0, 3, 20])))
    plan = tuple("".join(rng.choices(LETTERS, k=rng.randint(0, 40))) if i in careless else "W" * rng.randint(0, 9) for i in range(50))
    assert compiled(board, plan) == defined(board, plan)


def test_the_lowest_pair_is_named_where_several_conflicts_happen_at_once() -> None:
    """Agents 1 and 4 meet, 0 and 3 meet (found later by cell order); then two swaps at once."""
    row = Board(("FFFFFFFFFF",) * 2, tuple(Agent((0, c), (1, c)) for c in (8, 0, 4, 6, 2)))
    assert compiled(row, ("L", "R", "W", "R", "L")) == ("vertex_conflict", 1, (0, 3), None, None) == defined(row, ("L", "R", "W", "R", "L"))
    tight = Board(("FFFFFFFFFF",) * 2, tuple(Agent((0, c), (1, c)) for c in (5, 0, 1, 4)))
    assert compiled(tight, ("L", "R", "L", "R")) == ("edge_conflict", 1, (0, 3), None, None) == defined(tight, ("L", "R", "L", "R"))
    both = ("L", "R", "W", "R")  # 1 walks into 2, 0 and 3 swap: the vertex conflict comes first
    assert compiled(tight, both) == ("vertex_conflict", 1, (1, 2), None, None) == defined(tight, both)


def test_every_fault_of_a_walked_plan_occurs_in_these_tests() -> None:
    plans = [("DD", "WRR"), ("DD",), ("DD", "L"), ("DD", "WRRD"), ("DD", "RR"), ("DD", "W"), ("LD", "WU")]
    faults = {None, "missing_agent", "out_of_bounds", "hole", "vertex_conflict", "edge_conflict", "goal_not_reached"}
    assert {defined(CROSS, plan)[0] for plan in plans} == faults
    assert [compiled(CROSS, plan) for plan in plans] == [defined(CROSS, plan) for plan in plans]
