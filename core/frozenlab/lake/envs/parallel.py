"""The lake as an environment of PettingZoo (every agent a learner) and of Gymnasium (one controller for the team).

Needs ``pip install "frozenlab[envs]"``. For many boards at once see vector.py, which both are one row of.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from operator import index
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from frozenlab.base import seeds
from frozenlab.base.errors import MissingExtra
from frozenlab.lake.board import Board, Cell, Plan
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_file import ConfigError
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.envs.vector import ACTIONS, EXIT_PLANES, PLANES, VectorLake, check_solved, largest
from frozenlab.lake.exits import DOORS
from frozenlab.lake.instance import Instance
from frozenlab.lake.layouts import LAYOUTS
from frozenlab.lake.picture import board_image
from frozenlab.lake.rules import Verdict, judge
from frozenlab.lake.solvers.solver import solve

try:
    import gymnasium
    from gymnasium import spaces
    from pettingzoo import ParallelEnv
except ImportError as error:
    raise MissingExtra(f'the environments need Gymnasium and PettingZoo ({error}): pip install "frozenlab[envs]"') from None

GYMNASIUM_ID = "FrozenLab/Lake-v0"

Source = EnvironmentConfig | Sequence[Instance] | Instance | Board
"""Where boards come from: drawn from a config, picked from a list, or always the same one."""
POOL = 64
"""Boards drawn from a config at a time."""


class Supply:
    """The endless sequence of boards that a seed stands for."""

    def __init__(self, boards: Source) -> None:
        self.config = boards if isinstance(boards, EnvironmentConfig) else None
        self.instances: list[Instance] = []
        if isinstance(boards, EnvironmentConfig):
            if len(boards.teams) > 1:
                raise ConfigError(f"an environment has one team; the config mixes {', '.join(map(str, boards.teams))} agents")
            self.num_agents, side = boards.teams[0], max(boards.sizes)
            self.shape = (side, side)
            drawn = {layout for cell in boards.cells.values() for layout in cell.drawn_layouts}
            self.furnished = any(recipe.furnish for recipe in LAYOUTS if recipe.name in drawn)
        else:
            self.instances = _solved(boards)
            check_solved(self.instances)
            self.num_agents, self.shape = self.instances[0].board.num_agents, largest(self.instances)
            self.furnished = any(instance.board.is_furnished for instance in self.instances)
        self.rng: np.random.Generator | None = None
        self.pool: list[Instance] = []

    def next(self, seed: int | None) -> Instance:
        """The next board; the first one of a seed if one is given. Without a seed the first board is random."""
        if seed is not None or self.rng is None:
            self.rng = seeds.rng(secrets.randbits(64) if seed is None else seed, "envs/boards")
            self.pool = []
        if self.config is None:
            return self.instances[self.rng.integers(len(self.instances))]
        if not self.pool:
            self.pool = generate(self.config, POOL, seed=int(self.rng.integers(2**31)))[::-1]
        return self.pool.pop()


def _solved(boards: Sequence[Instance] | Instance | Board) -> list[Instance]:
    if isinstance(boards, Board):
        return [Instance("board", boards, solve(boards))]
    return [boards] if isinstance(boards, Instance) else list(boards)


class LakeEnv(ParallelEnv[str, NDArray[np.uint8], int]):
    """MAPF-FrozenLake: every agent has to cross the ice to its goal, past the holes and past each other.

    ## Description

    Classical multi-agent path finding (Stern et al. 2019). All agents move at once, one cell or a WAIT a time step. Following another
    agent and rotations are legal; leaving the board, entering a hole, sharing a cell and swapping cells are *faults*. An agent on its
    goal stays in the game: it blocks, and it may leave again.

    ## Observation Space

    For every agent ``Box(0, 1, (5, height, width), uint8)``: planes of the whole board in the order of ``vector.PLANES``; nine planes where
    boards may have one-way ice or doors:

    | plane | 1 where |
    |---|---|
    | 0 blocked | there is a hole, a door of another agent, or no board (smaller boards are padded on the right and below) |
    | 1 self | the agent is |
    | 2 goal | its goal is |
    | 3 others | another agent is |
    | 4 other goals | the goal of another agent is |
    | 5 to 8 exit up, down, left, right | the cell can be left that way |

    :meth:`state` is the whole state for a central critic: ``Box(0, 1, (1 + 2k, height, width), uint8)``, plane 0 as above, then position
    and goal of agent 0, of agent 1, ... Where boards may have one-way ice or doors, plane 0 is there for each agent, and the four planes of
    exits come last.

    ## Action Space

    ``Discrete(5)`` for every agent, in the order of :data:`frozenlab.lake.board.MOVES`: 0 UP, 1 DOWN, 2 LEFT, 3 RIGHT, 4 WAIT.

    ## Rewards

    One for the team, the same for every agent: 0 until the episode ends, then what :func:`frozenlab.lake.reward.plan_reward` gives for the
    moves made. So the return of an episode is 1 for an optimal plan, 0.7 to 1 for a slower one, and at most 0.1 if it was not solved.

    ## Starting State

    A solved board, every agent on its start. ``reset(seed=...)`` restarts the sequence of boards: the same seed, the same boards;
    ``reset()`` goes on to the next one.

    ## Episode End

    For all agents at once.

    * *Terminated*: all agents stand on their goals after the step (it is solved), or the step broke a rule. The moves of a step at fault
      are not carried out, so the last observation shows the agents where they were.
    * *Truncated*: ``max_steps`` time steps have passed. The fault is then ``goal_not_reached``.

    ## Information

    Of every agent the same: ``instance`` (the board's name), ``optimal_makespan``, ``fault`` (the first fault, None if there is none) and
    ``verdict`` (None until the episode ends, then what :func:`frozenlab.lake.rules.judge` says about the moves made).

    ## Arguments

    * ``boards``: a config, from which boards are drawn without end; solved instances of one team size, of which each episode picks one at
      random; or one board. A Board is solved first.
    * ``max_steps``: when an episode is truncated; by default :func:`frozenlab.lake.envs.vector.step_limit` of its board.
    * ``render_mode``: ``"ansi"`` (text) or ``"rgb_array"`` (uint8 ``[height * 48, width * 48, 3]``).

    Raises:
        ValueError: from the constructor, boards that cannot be used; from :meth:`step`, a joint action that is none; from all that shows
            the board, before the first :meth:`reset`.
        GenerationError: from :meth:`reset`, a config that cannot be filled.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "frozenlab_lake_v0",
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": 4,
        "is_parallelizable": True,
    }

    def __init__(self, boards: Source, *, max_steps: int | None = None, render_mode: Literal["ansi", "rgb_array"] | None = None) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode is {render_mode!r}; use 'ansi', 'rgb_array' or None")
        self.render_mode = render_mode
        self.max_steps = max_steps
        self._supply = Supply(boards)
        self.possible_agents = [f"agent_{i}" for i in range(self._supply.num_agents)]
        self.agents: list[str] = []
        k, shape, exits = self._supply.num_agents, self._supply.shape, len(EXIT_PLANES) * self._supply.furnished
        self.observation_spaces = {agent: _planes(len(PLANES) + exits, shape) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(len(ACTIONS)) for agent in self.possible_agents}
        self.state_space = _planes((k if exits else 1) + 2 * k + exits, shape)

    def observation_space(self, agent: str) -> spaces.Box[np.uint8]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.uint8]], dict[str, dict[str, Any]]]:
        """Begins an episode on the next board. ``options`` has no entries that mean anything here."""
        self.instance = self._supply.next(seed)
        self._lake = VectorLake([self.instance], max_steps=self.max_steps, shape=self._supply.shape, furnished=self._supply.furnished)
        self.plan: Plan = ("",) * self._supply.num_agents
        self.verdict: Verdict | None = None
        self.agents = list(self.possible_agents)
        return self._observations(), self._infos()

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, NDArray[np.uint8]], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        if not self.agents:
            raise ValueError("no episode is running: call reset() first")
        missing = [agent for agent in self.agents if agent not in actions]
        if missing:
            raise ValueError(f"no action for {missing[0]}; every agent acts at every step (4 is WAIT)")
        try:
            joint = [index(actions[agent]) for agent in self.agents]
        except TypeError:
            raise ValueError(f"{[actions[agent] for agent in self.agents]} are no actions: give each agent a whole number") from None
        step = self._lake.step(np.array([joint]))
        self.plan = tuple(motions + ACTIONS[action] for motions, action in zip(self.plan, joint, strict=True))
        reward, terminated, truncated = float(step.rewards[0]), bool(step.terminated[0]), bool(step.truncated[0])
        if terminated or truncated:
            self.verdict = judge(self.instance.board, self.plan, self.instance.solution.makespan)
        outcome = (
            self._observations(),
            dict.fromkeys(self.agents, reward),
            dict.fromkeys(self.agents, terminated),
            dict.fromkeys(self.agents, truncated),
            self._infos(),
        )
        if self.verdict is not None:
            self.agents = []
        return outcome

    @property
    def positions(self) -> tuple[Cell, ...]:
        """Where every agent is."""
        self._check_begun()
        return tuple((int(r), int(c)) for r, c in self._lake.positions[0])

    def state(self) -> NDArray[np.uint8]:
        """The planes of ``state_space``."""
        self._check_begun()
        seen = self._lake.observations[0]
        blocked, own, goals = (seen[:, plane] for plane in range(3))
        ends = np.stack([own, goals], axis=1).reshape(-1, *self._supply.shape)
        if self._supply.furnished:
            return np.concatenate([blocked, ends, seen[0, len(PLANES) :]])
        return np.concatenate([blocked[:1], ends])

    def render(self) -> str | NDArray[np.uint8] | None:
        """The board as it is now, in the form of ``render_mode``; None without one."""
        if self.render_mode is None:
            return None
        self._check_begun()
        if self.render_mode == "ansi":
            return self._text()
        picture = board_image(self.instance.board, self.positions)
        height, width = (48 * side for side in self._supply.shape)
        return np.pad(picture, ((0, height - picture.shape[0]), (0, width - picture.shape[1]), (0, 0)), constant_values=255)

    def _check_begun(self) -> None:
        if not hasattr(self, "instance"):
            raise ValueError("no episode has begun: call reset() first")

    def _text(self) -> str:
        """``F`` frozen, ``H`` hole, ``^v<>`` one-way ice, ``2`` agent 2, ``|2|`` its door, ``(2)`` its goal, ``[2]`` it is on its goal."""
        board = self.instance.board
        shown = {(r, c): letter for r, row in enumerate(board.rows) for c, letter in enumerate(row)}
        shown |= {cell: f"|{letter}|" for letter in DOORS for cell in board.cells_of(letter)}
        shown |= {agent.goal: f"({i})" for i, agent in enumerate(board.agents)}
        shown |= {cell: f"[{i}]" if cell == board.agents[i].goal else str(i) for i, cell in enumerate(self.positions)}
        lines = ["".join(shown[r, c].center(4) for c in range(board.width)).rstrip() for r in range(board.height)]
        outcome = self.verdict.outcome if self.verdict else "running"
        return "\n".join([*lines, f"step {len(self.plan[0])}, optimum {self.instance.solution.makespan}: {outcome}"])

    def _observations(self) -> dict[str, NDArray[np.uint8]]:
        return {agent: self._lake.observations[0, i].copy() for i, agent in enumerate(self.agents)}

    def _infos(self) -> dict[str, dict[str, Any]]:
        fault = None if self.verdict is None else self.verdict.fault
        info = {
            "instance": self.instance.id,
            "optimal_makespan": self.instance.solution.makespan,
            "fault": fault,
            "verdict": self.verdict,
        }
        return {agent: dict(info) for agent in self.agents}


class TeamLakeEnv(gymnasium.Env[NDArray[np.uint8], NDArray[np.int64]]):
    """MAPF-FrozenLake for one controller that moves the whole team; with one agent it is a FrozenLake without slipping.

    ## Description

    That of :class:`LakeEnv`, which this is a view of.

    ## Observation Space

    ``Box(0, 1, (1 + 2k, height, width), uint8)``: plane 0 is 1 where there is a hole or no board; planes 1 + 2i and 2 + 2i hold the
    position and the goal of agent i. With one-way ice or doors as :meth:`LakeEnv.state`.

    ## Action Space

    ``MultiDiscrete([5] * k)``, one action an agent: 0 UP, 1 DOWN, 2 LEFT, 3 RIGHT, 4 WAIT.

    ## Rewards, Starting State, Episode End, Information, Arguments

    Those of :class:`LakeEnv`, of which every agent gets the same. By default the boards are 4x4 with two agents.

    ## Registered as

    ``gymnasium.make("frozenlab.lake.envs.parallel:FrozenLab/Lake-v0", boards=...)``
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}  # type: ignore[misc]

    def __init__(
        self, boards: Source | None = None, *, max_steps: int | None = None, render_mode: Literal["ansi", "rgb_array"] | None = None
    ) -> None:
        source = EnvironmentConfig.uniform((4,), agents=2) if boards is None else boards
        self.lake = LakeEnv(source, max_steps=max_steps, render_mode=render_mode)
        self.render_mode = render_mode
        self.observation_space = self.lake.state_space
        self.action_space = spaces.MultiDiscrete([len(ACTIONS)] * len(self.lake.possible_agents))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        super().reset(seed=seed)
        _, infos = self.lake.reset(seed, options)
        return self.lake.state(), infos["agent_0"]

    def step(self, action: NDArray[np.int64]) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        if np.shape(action) != self.action_space.shape:
            raise ValueError(f"the action has shape {list(np.shape(action))}; give one number an agent, {len(self.lake.possible_agents)}")
        joint = dict(zip(self.lake.possible_agents, action, strict=True))
        _, rewards, terminated, truncated, infos = self.lake.step(joint)
        first = self.lake.possible_agents[0]
        return self.lake.state(), rewards[first], terminated[first], truncated[first], infos[first]

    def render(self) -> str | NDArray[np.uint8] | None:
        return self.lake.render()


def _planes(n: int, shape: tuple[int, int]) -> spaces.Box[np.uint8]:
    return spaces.Box(0, 1, (n, *shape), np.uint8)


gymnasium.register(GYMNASIUM_ID, entry_point="frozenlab.lake.envs.parallel:TeamLakeEnv")
