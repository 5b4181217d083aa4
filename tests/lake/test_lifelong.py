"""The warehouse that never ends."""

from __future__ import annotations

import random

import numpy as np
import pytest

from frozenlab.app.learn import boards
from frozenlab.lake.board import Agent, Board
from frozenlab.lake.planners.lifelong import work


def team(k: int, seed: int = 0) -> Board:
    rng = random.Random(seed)
    rows = boards.WAREHOUSE
    free = [(r, c) for r, row in enumerate(rows) for c, letter in enumerate(row) if letter == "F"]
    return Board(rows, tuple(map(Agent, rng.sample(free, k), rng.sample(free, k))))


@pytest.mark.parametrize("k", [1, 7, 40])
def test_every_step_is_legal_and_a_seed_gives_the_same_shift(k: int) -> None:
    board = team(k)
    shift = work(board, 120, 3)
    rows, columns = np.divmod(shift.cells, board.width)
    assert all(board.rows[r][c] == "F" for r, c in zip(rows.ravel(), columns.ravel(), strict=True))
    assert (np.abs(np.diff(rows, axis=0)) + np.abs(np.diff(columns, axis=0)) <= 1).all()
    for now, after in zip(shift.cells, shift.cells[1:], strict=False):
        assert len(set(after)) == k, "no two on a cell"
        swapped = {(a, b) for a, b in zip(now, after, strict=True) if a != b}
        assert not {(b, a) for a, b in swapped} & swapped
    assert shift.reached.sum() > 0 and shift.throughput == shift.reached.sum() / 120
    assert (work(board, 120, 3).cells == shift.cells).all() and not (work(board, 120, 4).cells == shift.cells).all()


def test_a_board_in_two_parts_is_refused() -> None:
    with pytest.raises(ValueError, match="every cell"):
        work(Board(("FFHFF",), (Agent((0, 0), (0, 1)),)), 5, 0)
