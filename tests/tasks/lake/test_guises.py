"""Guises: a board is turned, mirrored and renumbered, and every answer is as good on the board as it was in its guise."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.board import MOVES, Board
from frozenlab.lake.draw.hashes import canonical_hash
from frozenlab.lake.instance import Instance
from frozenlab.lake.rules import Paths, judge_paths, walk
from frozenlab.lake.solvers.solver import solve
from frozenlab.lake.words.reading import Answer
from frozenlab.tasks.lake.guises import GUISES, Guise, guises, seen_as
from tests.lake.boards import boards

LOPSIDED = Board.from_text("S F g\nF H F\nF s G")


def some_paths(board: Board, rng: random.Random) -> Paths:
    """The best plan if there is one, half of the time with moves at random, which may lead anywhere."""
    plan = solve(board).plan or ("",) * board.num_agents
    wild = rng.random() < 0.5
    return walk(board, tuple(motions + "".join(rng.choices(list(MOVES), k=rng.randint(0, 3) * wild)) for motions in plan))


@given(boards(most_side=4, furnished=True, shared=True), st.integers(0, 2**31), st.randoms(use_true_random=False))
def test_a_plan_is_judged_on_the_board_as_in_its_guise(board: Board, seed: int, rng: random.Random) -> None:
    for guise, seen in zip(guises(board.num_agents, GUISES, seed), seen_as(Instance.unsolved(board), GUISES, seed), strict=True):
        assert canonical_hash(seen.task.board) == canonical_hash(board) and guise.undone.board(seen.task.board) == board
        told = some_paths(seen.task.board, rng)
        answer = seen.back(Answer(paths=told))
        assert answer.paths is not None and guise.paths(board, answer.paths) == told
        here, there = judge_paths(board, answer.paths), judge_paths(seen.task.board, told)
        for name in ("fault", "step", "makespan", "sum_of_costs"):
            assert getattr(here, name) == getattr(there, name)
        assert tuple(here.on_goal[i] for i in guise.order) == there.on_goal


def test_a_board_has_eight_guises_itself_first_and_seeds_renumber_the_agents() -> None:
    task = Instance.unsolved(LOPSIDED)
    seen = [one.task.board for one in seen_as(task, GUISES, seed=0)]
    assert len({board.rows + tuple(sorted(map(repr, board.agents))) for board in seen}) == GUISES and seen[0] == LOPSIDED
    assert seen == [one.task.board for one in seen_as(task, GUISES, seed=0)] and seen[:3] == [one.task.board for one in seen_as(task, 3, 0)]
    assert len({tuple(one.task.board for one in seen_as(task, GUISES, seed)) for seed in range(9)}) > 3


def test_a_guise_is_told_in_words() -> None:
    assert Guise(0, False, (0, 1)).words == ""
    assert Guise(1, False, (1, 2, 0)).words == "turned by 90° clockwise, with agents 1, 2 and 0 renumbered 0, 1 and 2"
    assert Guise(3, True, (0, 1)).words == "mirrored along its diagonal and turned by 270° clockwise"
    turned = Guise(1, False, (0, 1)).board(LOPSIDED)
    assert turned.agents[0].start == (0, 2), "clockwise, the upper left corner comes to the right"


def test_an_answer_that_cannot_be_read_stays_what_it_is() -> None:
    assert seen_as(Instance.unsolved(LOPSIDED), 2, 0)[1].back(Answer(fault="truncated")) == Answer(fault="truncated")


def test_on_large_teams_only_agents_that_may_have_a_key_trade_places() -> None:
    for guise in guises(9, GUISES, 1):
        assert sorted(guise.order) == list(range(9)) and guise.order[5:] == (5, 6, 7, 8)
