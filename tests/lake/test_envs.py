import importlib
import pickle
import random
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given
from hypothesis import strategies as st
from pettingzoo.test import parallel_api_test, parallel_seed_test

from frozenlab.base.errors import MissingExtra
from frozenlab.lake.board import Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.envs.parallel import GYMNASIUM_ID, LakeEnv, Source, TeamLakeEnv
from frozenlab.lake.envs.vector import ACTIONS, VectorLake
from frozenlab.lake.instance import Instance
from frozenlab.lake.reward import plan_reward
from frozenlab.lake.rules import judge
from frozenlab.lake.solvers.solver import Solution, solve
from tests.lake.boards import CROSS, random_board

MIXED = EnvironmentConfig.uniform((3, 4), agents=2)
CORRIDOR = Board.from_text("S F F G")
SOURCES: dict[str, Source] = {"config": MIXED, "instances": generate(MIXED, 5, seed=1), "board": CROSS, "alone": CORRIDOR}


def play(env: LakeEnv, *motions: str) -> list[tuple]:
    """Resets and plays motion strings of one length; the answers of every step."""
    env.reset(seed=0)
    return [
        env.step({agent: ACTIONS.index(letter) for agent, letter in zip(env.possible_agents, joint, strict=True)})
        for joint in zip(*motions, strict=True)
    ]


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_passes_the_tests_of_pettingzoo(source: Source) -> None:
    parallel_api_test(LakeEnv(source), num_cycles=200)
    parallel_seed_test(lambda: LakeEnv(source))


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
@pytest.mark.filterwarnings("error")
def test_passes_the_checker_of_gymnasium(source: Source) -> None:
    check_env(gymnasium.make(GYMNASIUM_ID, boards=source).unwrapped)


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [("parallel", "gymnasium", "envs"), ("parallel", "pettingzoo", "envs"), ("verifiers_env", "verifiers", "verifiers")],
)
def test_an_extra_that_is_not_installed_is_named(module: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, f"frozenlab.lake.envs.{module}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"{package}.*: pip install \"frozenlab\[{extra}\]\"$"):
        importlib.import_module(f"frozenlab.lake.envs.{module}")


def test_registered_under_an_id_that_imports_it() -> None:
    env = gymnasium.make("frozenlab.lake.envs.parallel:FrozenLab/Lake-v0")
    observation, info = env.reset(seed=3)
    assert observation.shape == (5, 4, 4) and info["optimal_makespan"] >= 1
    assert env.action_space == gymnasium.spaces.MultiDiscrete([5, 5])


@pytest.mark.parametrize(
    ("motions", "fault", "agents", "cell"),
    [
        (("U", "W"), "out_of_bounds", (0,), (-1, 1)),
        (("WWR", "RRD"), "hole", (1,), (2, 2)),
        (("D", "R"), "vertex_conflict", (0, 1), (1, 1)),
        (("DL", "WR"), "edge_conflict", (0, 1), (1, 0)),
    ],
)
def test_an_illegal_move_is_a_fault_that_ends_the_episode(motions: tuple[str, str], fault: str, agents: tuple, cell: tuple) -> None:
    env = LakeEnv(CROSS)
    *_, (_, rewards, terminated, truncated, infos) = play(env, *motions)
    verdict = infos["agent_1"]["verdict"]
    assert infos["agent_0"]["fault"] == fault == verdict.fault
    assert (verdict.step, verdict.agents, verdict.cell) == (len(motions[0]), agents, cell)
    assert all(terminated.values()) and not any(truncated.values()) and env.agents == []
    assert env.positions == before_the_last_move(motions)
    assert max(rewards.values()) <= 0.1
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        env.step({"agent_0": 4, "agent_1": 4})


def before_the_last_move(motions: tuple[str, str]) -> tuple:
    env = LakeEnv(CROSS)
    play(env, *(letters[:-1] for letters in motions))
    return env.positions


def test_an_optimal_episode_returns_one_and_a_slower_one_less() -> None:
    env = LakeEnv(CROSS)
    optimum = solve(CROSS).makespan
    *before, (_, rewards, terminated, _, infos) = play(env, "DDW", "WRR")
    assert optimum == 3 and rewards == {"agent_0": 1.0, "agent_1": 1.0} and all(terminated.values())
    assert [step[1]["agent_0"] for step in before] == [0, 0]
    assert infos["agent_0"]["verdict"].outcome == "optimal" and infos["agent_0"]["fault"] is None
    *_, (_, rewards, _, _, infos) = play(env, "WDDW", "WWRR")
    assert rewards["agent_0"] == pytest.approx(plan_reward(3, 4, None, 1.0)) and infos["agent_0"]["verdict"].outcome == "suboptimal"


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 12))
def test_the_judged_result_of_an_episode_is_that_of_the_rules(seed: int, num_agents: int, max_steps: int) -> None:
    rng = random.Random(seed)
    board = random_board(rng, 4, 4, num_agents, rng.randint(0, 16 - 2 * num_agents))
    instance = Instance("random", board, Solution("solved", rng.randint(1, 9)))
    env = LakeEnv(instance, max_steps=max_steps)
    env.reset()
    plan, total = [""] * num_agents, 0.0
    while env.agents:
        joint = [rng.randrange(5) for _ in range(num_agents)]
        plan = [motions + ACTIONS[action] for motions, action in zip(plan, joint, strict=True)]
        _, rewards, terminated, truncated, infos = env.step(dict(zip(env.possible_agents, joint, strict=True)))
        total += rewards["agent_0"]
        verdict = judge(board, tuple(plan), instance.solution.makespan)
        running = not (terminated["agent_0"] or truncated["agent_0"])
        assert infos["agent_0"]["verdict"] == (None if running else verdict)
        assert not running or (verdict.fault == "goal_not_reached" and verdict.step == len(plan[0]) < max_steps)
    assert terminated["agent_0"] == (verdict.fault != "goal_not_reached") == (not truncated["agent_0"])
    assert total == pytest.approx(
        plan_reward(instance.solution.makespan or 0, verdict.makespan, verdict.step, sum(verdict.on_goal) / num_agents)
    )


def test_the_seed_gives_the_boards_and_the_next_reset_another() -> None:
    def names_and_boards(env: LakeEnv, seed: int) -> list[Board]:
        env.reset(seed=seed)
        out = [env.instance.board]
        for _ in range(70):  # more than are drawn at a time
            env.reset()
            out.append(env.instance.board)
        return out

    first = names_and_boards(LakeEnv(MIXED), 5)
    used = LakeEnv(MIXED)
    used.reset(seed=1)
    assert names_and_boards(used, 5) == first
    assert names_and_boards(used, 6) != first
    assert len(set(first)) > 30 and {board.size for board in first} == {3, 4}


def test_smaller_boards_are_padded_with_what_blocks() -> None:
    instances = [Instance("small", CORRIDOR, solve(CORRIDOR)), Instance("tall", tall := Board.from_text("S\nG"), solve(tall))]
    env = LakeEnv(instances)
    assert env.observation_space("agent_0").shape == (5, 2, 4)
    seen = {}
    for _ in range(20):
        observations, _ = env.reset()
        seen[env.instance.id] = observations["agent_0"][0].tolist()
    assert seen == {"small": [[0, 0, 0, 0], [1, 1, 1, 1]], "tall": [[0, 1, 1, 1], [0, 1, 1, 1]]}


def test_the_team_sees_every_position_and_goal() -> None:
    env = TeamLakeEnv(CROSS)
    observation, _ = env.reset()
    assert [tuple(np.argwhere(plane)[0]) for plane in observation[1:]] == [(0, 1), (2, 1), (1, 0), (1, 2)]
    assert np.argwhere(observation[0]).tolist() == [[2, 2]]
    observation, reward, terminated, truncated, _ = env.step(np.array([4, 3]))
    assert tuple(np.argwhere(observation[3])[0]) == (1, 1) and (reward, terminated, truncated) == (0.0, False, False)
    with pytest.raises(ValueError, match="give one number an agent, 2"):
        env.step(np.array([4]))


def test_is_one_row_of_the_vector_lake() -> None:
    instances = generate(MIXED, 12, seed=2)
    lake, rng = VectorLake(instances), random.Random(0)
    envs = [LakeEnv(instance) for instance in instances]
    for env in envs:
        env.reset()
    for _ in range(10):
        actions = np.array([[rng.randrange(5) for _ in range(2)] for _ in envs])
        step = lake.step(actions)
        for i, env in enumerate(envs):
            if env.agents:
                observations, rewards, terminated, _, _ = env.step(dict(zip(env.possible_agents, actions[i], strict=True)))
                assert (rewards["agent_0"], terminated["agent_0"]) == (pytest.approx(float(step.rewards[i])), step.terminated[i])
                side = env.instance.board.size
                assert (observations["agent_1"] == lake.observations[i, 1, :, :side, :side]).all()


def test_renders_text_and_a_picture() -> None:
    env = LakeEnv(CROSS, render_mode="ansi")
    play(env, "D", "W")
    assert env.render() == " F   F   F\n 1   0  (1)\n F  (0)  H\nstep 1, optimum 3: running"
    play(env, "DDW", "WRR")
    assert env.render() == " F   F   F\n F   F  [1]\n F  [0]  H\nstep 3, optimum 3: optimal"
    env = LakeEnv(CROSS, render_mode="rgb_array")
    env.reset()
    before = env.render()
    play(env, "D", "W")
    after = env.render()
    assert isinstance(before, np.ndarray) and isinstance(after, np.ndarray) and before.shape == (144, 144, 3)
    changed = {(r // 48, c // 48) for r, c, _ in np.argwhere(before != after)}
    assert changed == {(0, 1), (1, 1)}  # agent 0 went from the one to the other
    assert LakeEnv(CROSS).render() is None


def test_can_be_pickled_in_the_middle_of_an_episode() -> None:
    env = LakeEnv(MIXED)
    env.reset(seed=1)
    copy = pickle.loads(pickle.dumps(env))
    for one in (env, copy):
        one.step({"agent_0": 4, "agent_1": 4})
        one.reset()
    assert copy.instance == env.instance and (copy.state() == env.state()).all()


def test_what_cannot_be_used_is_said() -> None:
    with pytest.raises(ValueError, match="'board' is unsolvable"):
        LakeEnv(Board.from_text("S H G"))
    with pytest.raises(ValueError, match="there are no boards"):
        TeamLakeEnv([])
    with pytest.raises(ValueError, match="render_mode is 'human'"):
        LakeEnv(CROSS, render_mode="human")  # type: ignore[arg-type]
    env = LakeEnv(CROSS)
    env.reset()
    with pytest.raises(ValueError, match="no action for agent_1"):
        env.step({"agent_0": 4})
    with pytest.raises(ValueError, match="agent 0: 9 is no action"):
        env.step({"agent_0": 9, "agent_1": 4})
    assert env.plan == ("", "") and env.agents


@pytest.mark.parametrize("make", [LakeEnv, TeamLakeEnv])
def test_nothing_is_shown_before_the_first_reset(make: Any) -> None:
    env = make(CROSS, render_mode="ansi")
    lake = getattr(env, "lake", env)
    for shown in (env.render, lake.state, lambda: lake.positions):
        with pytest.raises(ValueError, match=r"call reset\(\) first"):
            shown()


@pytest.mark.parametrize("action", [3.9, 3.0, None, "3", np.array([3]), np.float32(1)])
def test_an_action_is_a_whole_number(action: Any) -> None:
    env, team = LakeEnv(CROSS), TeamLakeEnv(CROSS)
    env.reset()
    team.reset()
    with pytest.raises(ValueError, match="give each agent a whole number"):
        env.step({"agent_0": action, "agent_1": 4})
    with pytest.raises(ValueError):  # numpy says itself that a list in a list is ragged
        team.step([action, 4])  # type: ignore[arg-type]
    assert env.plan == team.lake.plan == ("", "")
    env.step({"agent_0": np.uint64(4), "agent_1": np.array(4)})  # type: ignore[dict-item]
    assert env.plan == ("W", "W")
