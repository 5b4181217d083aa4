"""Plans with an agent that is late."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.board import Board
from frozenlab.lake.execution import by_the_clock, in_order
from frozenlab.lake.rules import judge_paths, walk
from frozenlab.lake.solvers.solver import solve
from tests.lake.boards import boards


@given(boards(most_side=5, most_agents=4), st.data())
def test_in_order_nobody_meets_whoever_is_late(board: Board, data: st.DataObject) -> None:
    plan = solve(board).plan
    if plan is None:
        return
    paths = walk(board, plan)
    agent = data.draw(st.integers(0, board.num_agents - 1))
    step, late = data.draw(st.integers(0, max(0, len(paths[agent]) - 1))), data.draw(st.integers(0, 4))
    now = in_order(paths, agent, step, late)
    assert judge_paths(board, now).fault is None
    assert max(map(len, now)) <= max(map(len, paths)) + late, "the plan becomes later by no more than the delay"
    if not late:
        assert max(map(len, now)) <= max(map(len, paths))
    clocked = by_the_clock(paths, agent, step, late)
    assert [len(path) for i, path in enumerate(clocked) if i != agent] == [len(path) for i, path in enumerate(paths) if i != agent]


def test_by_the_clock_two_meet() -> None:
    board = Board.from_text("F s F\nS F G\nF g F")
    paths = walk(board, ("WRR", "DD"))
    assert judge_paths(board, paths).fault is None
    assert judge_paths(board, by_the_clock(paths, 1, 1)).fault == "vertex_conflict"
    assert judge_paths(board, in_order(paths, 1, 1)).fault is None and max(map(len, in_order(paths, 1, 1))) == 5
