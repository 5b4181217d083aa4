"""The auxiliary targets of the warm start."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.board import Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate, random_instances
from frozenlab.lake.rules import Paths, judge_paths, walk
from frozenlab.tasks.lake.teacher import padded
from recipes.lab_model.auxiliary import (
    BLOCKED,
    CLOSER,
    FARTHER,
    IGNORED,
    STAY_AND_STEPS,
    InsightHead,
    insight,
    nothing_to_see,
)

SOLVED: list[tuple[Board, Paths]] = [
    (instance.board, padded(walk(instance.board, instance.solution.plan or ())))
    for instance in (
        *random_instances((3, 4, 6), (2, 3, 5), (0.1, 0.4), 60, seed=5),
        *generate(EnvironmentConfig.uniform((4, 6), 3, 0.2, 0.5, {"oneway": 0.5, "doors": 0.5}), 60, seed=5),
    )
]


def test_a_small_board_seen_by_hand() -> None:
    board = Board.from_text("S F g\nF H F\nF s G")
    paths = (((0, 0), (0, 1), (0, 2), (1, 2), (2, 2)), ((2, 1), (2, 2), (1, 2), (0, 2), (0, 2)))
    seen = insight(board, paths)
    assert seen.distance.tolist() == [4, 3, 3, 2, 2, 1, 1, 0, IGNORED]
    assert seen.ways[0].tolist() == [BLOCKED, CLOSER, BLOCKED, CLOSER]
    assert seen.ways[4].tolist() == [BLOCKED, CLOSER, FARTHER, BLOCKED]
    # The second agent's third move: from (1, 2), where the first agent has just moved to, back and forth over one edge.
    assert not judge_paths(board, paths).valid
    assert seen.taken[5].tolist() == [1, 1, 0, IGNORED, IGNORED]


def test_ways_against_an_arrow_and_into_doors_of_others_are_blocked() -> None:
    board = Board.from_text("S F 0\n1 v F\ns G g")
    paths = (((0, 0), (0, 1), (1, 1), (2, 1)), ((2, 0), (2, 0), (2, 0), (2, 0)))
    seen = insight(board, paths)
    assert seen.ways[0].tolist() == [BLOCKED, BLOCKED, BLOCKED, CLOSER]
    assert seen.ways[1].tolist() == [FARTHER, BLOCKED, BLOCKED, CLOSER]
    assert seen.ways[2].tolist() == [BLOCKED, CLOSER, FARTHER, FARTHER]
    assert seen.ways[4].tolist() == [BLOCKED, CLOSER, BLOCKED, BLOCKED]
    assert seen.distance.tolist() == [3, 2, 2, 2, 1, 2, IGNORED]


@given(st.sampled_from(SOLVED))
def test_no_solver_move_is_blocked_or_taken_and_ways_tell_the_distance(solved: tuple[Board, Paths]) -> None:
    board, paths = solved
    seen, word = insight(board, paths), 0
    for t in range(len(paths[0]) - 1):
        for agent, path in enumerate(paths):
            step = [b - a for a, b in zip(path[t], path[t + 1], strict=True)]
            move = STAY_AND_STEPS.tolist().index(step)
            distance = board.distances_to_goal(agent)
            assert seen.distance[word] == distance[path[t]] and seen.taken[word, move] == 0
            if move:
                assert seen.ways[word, move - 1] == (CLOSER if distance[path[t + 1]] < distance[path[t]] else FARTHER)
            word += 1
    assert len(seen.distance) == word + 1 and seen.distance[word] == IGNORED


def test_a_text_that_is_no_plan_costs_nothing_and_leaves_no_gradient() -> None:
    head, hidden = InsightHead(8), torch.randn(7, 8, requires_grad=True)
    loss = head.loss(hidden, [nothing_to_see(3), nothing_to_see(4)])
    loss.backward()
    assert loss.item() == 0 and hidden.grad is not None and not hidden.grad.any()


def test_the_loss_counts_what_is_known_alone() -> None:
    head = InsightHead(8)
    torch.nn.init.zeros_(head.weight)
    torch.nn.init.zeros_(head.bias)
    board, paths = SOLVED[0]
    seen = insight(board, paths)
    even = sum(weight * np.log(classes) for weight, classes in zip(InsightHead.WEIGHTS, (31, 3, 2), strict=True))
    states = torch.randn(len(seen.distance) + 5, 8)
    assert head.loss(states, [seen, nothing_to_see(5)]).item() == pytest.approx(even, rel=1e-5)
