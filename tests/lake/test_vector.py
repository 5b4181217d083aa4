import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.board import Agent, Board
from frozenlab.lake.envs.vector import ACTIONS, EXIT_PLANES, PLANES, VectorLake, step_limit
from frozenlab.lake.instance import Instance
from frozenlab.lake.reward import plan_reward
from frozenlab.lake.rules import FAULTS, judge
from frozenlab.lake.solvers.solver import Solution
from tests.lake.boards import CROSS, furnish, random_board


def solved(board: Board, makespan: int = 3, name: str = "made") -> Instance:
    """An instance whose optimum is taken on trust: stepping reads it for the reward only."""
    return Instance(name, board, Solution("solved", makespan))


def codes(*motions: str) -> np.ndarray:
    """The joint actions ``[steps, agents]`` of motion strings of one length."""
    return np.array([[ACTIONS.index(letter) for letter in joint] for joint in zip(*motions, strict=True)])


def drawn_boards(seed: int, n: int, num_agents: int, furnished: float = 0.0) -> list[Instance]:
    rng = random.Random(seed)
    shapes = [(rng.randint(2, 5), rng.randint(max(2, num_agents), 5)) for _ in range(n)]
    return [
        solved(
            furnish(random_board(rng, h, w, num_agents, rng.randint(0, h * w - 2 * num_agents)), rng, furnished, furnished),
            rng.randint(1, 9),
            f"{i}",
        )
        for i, (h, w) in enumerate(shapes)
    ]


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 12), st.sampled_from((0.0, 0.3)))
def test_episodes_end_as_the_rules_judge_the_moves_that_were_made(seed: int, num_agents: int, max_steps: int, furnished: float) -> None:
    """Also with one-way ice and doors."""
    instances = drawn_boards(seed, 20, num_agents, furnished)
    lake = VectorLake(instances, max_steps=max_steps)
    rng = np.random.default_rng(seed)
    plans = [[""] * num_agents for _ in instances]
    returns = np.zeros(len(instances))
    running = np.ones(len(instances), bool)
    while running.any():
        actions = rng.integers(0, len(ACTIONS), (len(instances), num_agents), dtype=np.int8)
        step = lake.step(actions)
        returns += step.rewards
        for i in np.flatnonzero(running):
            plans[i] = [motions + ACTIONS[action] for motions, action in zip(plans[i], actions[i], strict=True)]
            verdict = judge(instances[i].board, tuple(plans[i]))
            if not step.done[i]:
                assert verdict.fault == "goal_not_reached" and verdict.step == step.steps[i]
        running &= ~step.done
    for i, instance in enumerate(instances):
        verdict = judge(instance.board, tuple(plans[i]))
        assert FAULTS[step.faults[i]] == verdict.fault if verdict.fault else step.faults[i] == -1
        assert step.steps[i] == (verdict.makespan if verdict.valid else verdict.step) == len(plans[i][0])
        assert step.truncated[i] == (verdict.fault == "goal_not_reached")
        home = sum(verdict.on_goal) / num_agents
        assert returns[i] == pytest.approx(plan_reward(instance.solution.makespan or 0, verdict.makespan, verdict.step, home))


@pytest.mark.parametrize(
    ("motions", "fault"),
    [(("U", "W"), "out_of_bounds"), (("WWR", "RRD"), "hole"), (("D", "R"), "vertex_conflict"), (("DL", "WR"), "edge_conflict")],
)
def test_a_move_at_fault_ends_the_episode_and_is_not_carried_out(motions: tuple[str, str], fault: str) -> None:
    lake = VectorLake([solved(CROSS)])
    for joint in codes(*motions):
        before = lake.positions
        step = lake.step(joint[None])
    assert FAULTS[step.faults[0]] == fault and step.terminated[0] and not step.truncated[0]
    assert (step.positions == before).all()
    after = lake.step(joint[None])
    assert after.done[0] and after.steps[0] == step.steps[0] and after.rewards[0] == 0 and after.faults[0] == step.faults[0]


def test_an_agent_on_its_goal_stays_and_blocks_and_may_leave_again() -> None:
    board = Board.from_text("S G s g\nF F F F")
    lake = VectorLake([solved(board, 1)])
    assert not lake.step(codes("R", "W")).done[0]
    blocked = lake.step(codes("W", "L"))
    assert FAULTS[blocked.faults[0]] == "vertex_conflict"
    lake.reset()
    for joint in codes("RDU", "WWR"):
        step = lake.step(joint[None])
    assert step.terminated[0] and step.faults[0] == -1 and step.steps[0] == 3


def test_agents_that_begin_at_home_and_wait_have_solved_their_board_in_no_time() -> None:
    home = Board(("FF",), (Agent((0, 0), (0, 0)),))
    step = VectorLake([solved(home, 0)]).step(codes("W"))
    assert step.terminated[0] and step.steps[0] == 0 and step.rewards[0] == 1
    lake = VectorLake([solved(home, 0)])
    for joint in codes("RL"):
        step = lake.step(joint[None])
    assert step.terminated[0] and step.steps[0] == 2 and step.rewards[0] == pytest.approx(0.7)


@pytest.mark.parametrize("furnished", [0.0, 0.2])
def test_observations_show_what_the_state_is(furnished: float) -> None:
    instances = drawn_boards(5, 40, 3, furnished)
    lake = VectorLake(instances, max_steps=30, auto_reset=True, n=15)
    rng = np.random.default_rng(0)
    for _ in range(60):
        lake.step(rng.integers(0, len(ACTIONS), (15, 3)))
        for row, board_number in enumerate(lake.rows.board):
            board, cells = instances[board_number].board, lake.positions[row]
            for i in range(3):
                seen = dict(zip(PLANES + EXIT_PLANES * bool(furnished), lake.observations[row, i], strict=True))
                frozen = {(r, c) for r in range(board.height) for c in range(board.width)} - set(board.holes)
                frozen = {cell for cell in frozen if not board.is_locked(cell, i)}
                for direction, plane in enumerate(EXIT_PLANES * bool(furnished)):
                    exits = np.frombuffer(board.exits, np.uint8).reshape(board.height, board.width)
                    assert (seen[plane][: board.height, : board.width] == exits >> direction & 1).all()
                assert set(zip(*np.nonzero(1 - seen["blocked"]), strict=True)) == frozen
                assert list(zip(*np.nonzero(seen["self"]), strict=True)) == [tuple(cells[i])]
                assert list(zip(*np.nonzero(seen["goal"]), strict=True)) == [board.agents[i].goal]
                assert set(zip(*np.nonzero(seen["others"]), strict=True)) == {tuple(cells[j]) for j in range(3) if j != i}
                assert set(zip(*np.nonzero(seen["other goals"]), strict=True)) == {board.agents[j].goal for j in range(3) if j != i}


def test_auto_reset_shows_the_end_first_and_then_the_next_board_of_the_row() -> None:
    boards = [Board.from_text(text) for text in ("S G F", "F S G", "G S F")]
    lake = VectorLake([solved(board, 1, f"{i}") for i, board in enumerate(boards)], n=2, auto_reset=True)
    ended = lake.step(codes("R").repeat(2, axis=0))
    assert ended.terminated.all() and (ended.rewards == 1).all() and ended.positions[:, 0, 1].tolist() == [1, 2]
    begun = lake.step(codes("R").repeat(2, axis=0))
    assert not begun.done.any() and (begun.steps == 0).all() and (begun.rewards == 0).all()
    assert lake.rows.board.tolist() == [2, 0] and begun.positions[:, 0, 1].tolist() == [1, 0]


def test_many_rows_are_as_one_row_each() -> None:
    instances = drawn_boards(9, 30, 2)
    shape = (5, 5)
    together, alone = VectorLake(instances, shape=shape), [VectorLake([instance], shape=shape) for instance in instances]
    rng = np.random.default_rng(1)
    for _ in range(20):
        actions = rng.integers(0, len(ACTIONS), (30, 2))
        step = together.step(actions)
        for i, lake in enumerate(alone):
            one = lake.step(actions[i : i + 1])
            assert all((a[i] == b[0]).all() for a, b in zip(step, one, strict=True))
            assert (together.observations[i] == lake.observations[0]).all()


def test_what_is_wrong_is_said_and_nothing_has_moved() -> None:
    lake = VectorLake([solved(CROSS)])
    with pytest.raises(ValueError, match="row 0, agent 1: 5 is no action; use 0 U"):
        lake.step(np.array([[1, 5]]))
    with pytest.raises(ValueError, match=r"give whole numbers \[1, 2\]"):
        lake.step(np.array([1, 1]))
    with pytest.raises(ValueError, match="give whole numbers"):
        lake.step(np.array([[1.0, 1.0]]))
    assert lake.positions[0].tolist() == [[0, 1], [1, 0]] and lake.rows.steps[0] == 0
    with pytest.raises(ValueError, match="there are no boards"):
        VectorLake([])
    with pytest.raises(ValueError, match="'x' is undecided"):
        VectorLake([Instance("x", CROSS, Solution("undecided"))])
    one = Instance("y", Board(("FF",), (Agent((0, 0), (0, 1)),)), Solution("solved", 1))
    with pytest.raises(ValueError, match="'y' has 1 agents and board 'made' has 2"):
        VectorLake([solved(CROSS), one])
    with pytest.raises(ValueError, match="n is 2; 1 boards"):
        VectorLake([solved(CROSS)], n=2)
    with pytest.raises(ValueError, match="shape"):
        VectorLake([solved(CROSS)], shape=(3, 2))
    with pytest.raises(ValueError, match="max_steps is 0"):
        VectorLake([solved(CROSS)], max_steps=0)


def test_the_time_limit_leaves_room_for_the_optimum() -> None:
    assert step_limit(CROSS, 3) == 24 and step_limit(CROSS, 20) == 40
