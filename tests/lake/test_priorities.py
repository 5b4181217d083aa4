"""Prioritized planning: its paths never meet, and it may fail where there is a plan."""

from itertools import permutations

import pytest

from frozenlab.lake.board import read_board
from frozenlab.lake.draw.generator import random_instances
from frozenlab.lake.rules import judge_paths
from frozenlab.lake.solvers.priorities import plan_in_order
from frozenlab.lake.solvers.solver import solve


@pytest.mark.parametrize("layout", ["scatter", "corridor", "oneway", "doors"])
def test_a_plan_in_order_is_valid_and_never_faster_than_the_optimum(layout: str) -> None:
    complete = 0
    for instance in random_instances((4, 6), (2, 3), (0.1, 0.3), 20, seed=4, layout=layout):
        board, optimum = instance.board, solve(instance.board).makespan
        for order in permutations(range(board.num_agents)):
            planned = plan_in_order(board, order)
            if len(planned) == board.num_agents:
                verdict = judge_paths(board, tuple(planned[i] for i in range(board.num_agents)))
                assert verdict.valid and verdict.makespan is not None and optimum is not None
                assert verdict.makespan >= optimum
                complete += 1
    assert complete > 20


def test_the_first_agent_takes_its_shortest_path_and_the_next_goes_around_it() -> None:
    board = read_board("F s F\nS F G\nF g F")
    assert plan_in_order(board, (0, 1)) == {0: ((1, 0), (1, 1), (1, 2)), 1: ((0, 1), (0, 1), (1, 1), (2, 1))}


def test_an_agent_in_the_way_of_every_later_one_leaves_them_without_a_path() -> None:
    board = read_board("S F G s g")  # agent 0 settles in no way of agent 1
    assert set(plan_in_order(board, (0, 1))) == {0, 1}
    behind = read_board("F S G s F g\nH H H H H H")
    assert set(plan_in_order(behind, (0, 1))) == {0, 1}
    through = read_board("s S G F F g")  # the goal of agent 0 lies on the only way of agent 1
    assert set(plan_in_order(through, (0, 1))) == {0}
