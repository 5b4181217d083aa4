"""Many boards stepped at once, as NumPy arrays: the lake for learners that are hungry for steps.

    lake = VectorLake(instances)
    observations = lake.reset()
    step = lake.step(actions)        # int8 [n, k]: one joint action a row

Rules, rewards and the end of an episode are those of :class:`frozenlab.lake.envs.parallel.LakeEnv`, which is one row of this.
The compiled code is in kernels/step.py and is imported with the first VectorLake.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.board import MOVES, Board
from frozenlab.lake.instance import Instance

ACTIONS = tuple(MOVES)
"""Action number -> letter: U D L R W."""
PLANES = ("blocked", "self", "goal", "others", "other goals")
"""What the planes of an observation show, each cell 0 or 1: holes, the doors of others and whatever lies beyond the board, the agent
itself, its goal, the other agents, their goals."""
EXIT_PLANES = ("exit up", "exit down", "exit left", "exit right")
"""Further planes, where there is one-way ice or a door on some board: whether the cell can be left that way."""


class Boards(NamedTuple):
    """``m`` boards as the kernel reads them, padded to one height and width."""

    blocked: NDArray[np.uint8]
    """``[m, height, width]``, 1 at holes and beyond the board: the plane of that name, but for the doors of others."""
    exits: NDArray[np.uint8]
    """``[m, height, width]``, the masks of :mod:`frozenlab.lake.exits`."""
    sides: NDArray[np.int64]
    """``[m, 2]``, height and width of each board."""
    starts: NDArray[np.int16]
    """``[m, k, 2]``, row and column."""
    goals: NDArray[np.int16]
    optima: NDArray[np.int64]
    """``[m]``, optimal makespans."""
    limits: NDArray[np.int64]
    """``[m]``, time steps after which an episode is truncated."""


class Rows(NamedTuple):
    """The state of ``n`` episodes, written by the kernel."""

    board: NDArray[np.int64]
    """``[n]``, the board on which each row plays."""
    cells: NDArray[np.int16]
    """``[n, k, 2]``, row and column of every agent."""
    steps: NDArray[np.int64]
    faults: NDArray[np.int8]
    rewards: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    observations: NDArray[np.uint8]
    """``[n, k, planes, height, width]``."""


class Step(NamedTuple):
    """What one time step did to ``n`` episodes."""

    positions: NDArray[np.int16]
    """``[n, k, 2]``, row and column of every agent. A move at fault is not carried out: the agents stay where they were."""
    faults: NDArray[np.int8]
    """``[n]``, index of the first fault in :data:`frozenlab.lake.rules.FAULTS`, -1 where there is none."""
    steps: NDArray[np.int64]
    """``[n]``, time steps of the episode so far; where it is solved, its makespan."""
    rewards: NDArray[np.float32]
    """``[n]``, the team's reward: 0 until the episode ends, then :func:`frozenlab.lake.reward.plan_reward` of the moves made."""
    terminated: NDArray[np.bool_]
    """``[n]``, all agents stand on their goals, or a rule was broken."""
    truncated: NDArray[np.bool_]
    """``[n]``, time is up."""

    @property
    def done(self) -> NDArray[np.bool_]:
        """``[n]``, whether the episode has ended."""
        return self.terminated | self.truncated


def step_limit(board: Board, optimum: int) -> int:
    """When an episode is truncated if nothing else is asked for: after four times (height + width) steps, or twice the optimum if more."""
    return max(4 * (board.height + board.width), 2 * optimum)


class VectorLake:
    """``n`` episodes side by side on solved boards of one team size; smaller boards are padded.

    Row i plays board i, and with ``auto_reset`` after it the boards i + n, i + 2n, ..., from the front again after the last. The step that
    ends an episode shows how it ended; the next one ignores the row's actions and shows the start of the new episode instead (Gymnasium's
    next-step autoreset). Without ``auto_reset`` a row stays as it ended, with reward 0, until :meth:`reset`.

    Args:
        instances: solved boards.
        n: number of rows; as many as there are instances if None.
        max_steps: when an episode is truncated; :func:`step_limit` if None.
        shape: height and width to pad to; the largest of the boards if None.
        furnished: whether observations have EXIT_PLANES too; if None, where some board has one-way ice or a door.

    Raises:
        ValueError: no boards, a board whose optimal makespan is not known, teams of different size, or a bad ``n``, ``max_steps`` or
            ``shape``.
    """

    def __init__(
        self,
        instances: Sequence[Instance],
        n: int | None = None,
        *,
        max_steps: int | None = None,
        auto_reset: bool = False,
        shape: tuple[int, int] | None = None,
        furnished: bool | None = None,
    ) -> None:
        self.instances = list(instances)
        self.auto_reset = auto_reset
        check_solved(self.instances)
        if n is not None and not 1 <= n <= len(self.instances):
            raise ValueError(f"n is {n}; {len(self.instances)} boards allow 1 to {len(self.instances)} rows")
        if max_steps is not None and max_steps < 1:
            raise ValueError(f"max_steps is {max_steps}; an episode has at least one step")
        self.boards = _pack(self.instances, max_steps, shape or largest(self.instances))
        if furnished is None:
            furnished = any(instance.board.is_furnished for instance in self.instances)
        planes = len(PLANES) + len(EXIT_PLANES) * furnished
        rows, (_, height, width), k = n or len(self.instances), self.boards.blocked.shape, self.boards.starts.shape[1]
        self.rows = Rows(
            board=np.arange(rows),
            cells=np.empty((rows, k, 2), np.int16),
            steps=np.empty(rows, np.int64),
            faults=np.empty(rows, np.int8),
            rewards=np.empty(rows, np.float32),
            terminated=np.empty(rows, np.bool_),
            truncated=np.empty(rows, np.bool_),
            observations=np.empty((rows, k, planes, height, width), np.uint8),
        )
        self._after = np.empty((k, 2), np.int64)
        self.reset()

    @property
    def observations(self) -> NDArray[np.uint8]:
        """``[n, k, planes, height, width]``, see PLANES: what every agent sees. Overwritten by the next step: copy what you keep."""
        return self.rows.observations

    @property
    def positions(self) -> NDArray[np.int16]:
        """``[n, k, 2]``, row and column of every agent."""
        return self.rows.cells.copy()

    def reset(self) -> NDArray[np.uint8]:
        """Begins an episode on board i in row i, and returns the observations."""
        from frozenlab.lake.kernels.step import begin

        self.rows.board[:] = np.arange(len(self.rows.board))
        for row in range(len(self.rows.board)):
            begin(row, self.boards, self.rows)
        return self.observations

    def step(self, actions: NDArray[Any]) -> Step:
        """One joint action a row.

        Args:
            actions: whole numbers ``[n, k]``, indices into ACTIONS.

        Raises:
            ValueError: another shape, or a number that is no action; nothing has moved then.
        """
        from frozenlab.lake.kernels.step import step_rows

        actions = np.asarray(actions)
        if actions.shape != self.rows.cells.shape[:2] or actions.dtype.kind not in "iu":
            raise ValueError(f"actions are {actions.dtype}{list(actions.shape)}; give whole numbers {list(self.rows.cells.shape[:2])}")
        if actions.min() < 0 or actions.max() >= len(ACTIONS):
            row, agent = np.argwhere((actions < 0) | (actions >= len(ACTIONS)))[0]
            known = ", ".join(f"{i} {letter}" for i, letter in enumerate(ACTIONS))
            raise ValueError(f"row {row}, agent {agent}: {actions[row, agent]} is no action; use {known}")
        rows = self.rows
        step_rows(np.ascontiguousarray(actions, np.int8), self.boards, rows, self.auto_reset, self._after)
        return Step(
            rows.cells.copy(), rows.faults.copy(), rows.steps.copy(), rows.rewards.copy(), rows.terminated.copy(), rows.truncated.copy()
        )


def check_solved(instances: Sequence[Instance]) -> None:
    """Raises ValueError unless there are boards, all with a known optimal makespan and one team size."""
    if not instances:
        raise ValueError("there are no boards")
    first = instances[0]
    for instance in instances:
        if instance.solution.status != "solved" or instance.solution.makespan is None:
            raise ValueError(f"board {instance.id!r} is {instance.solution.status}: give boards whose optimal makespan is known")
        if instance.board.num_agents != first.board.num_agents:
            raise ValueError(
                f"board {instance.id!r} has {instance.board.num_agents} agents and board {first.id!r} has {first.board.num_agents}; "
                "all boards have one team size"
            )


def largest(instances: Sequence[Instance]) -> tuple[int, int]:
    """Height and width that every board fits into."""
    return max(instance.board.height for instance in instances), max(instance.board.width for instance in instances)


def _pack(instances: Sequence[Instance], max_steps: int | None, shape: tuple[int, int]) -> Boards:
    if shape[0] < largest(instances)[0] or shape[1] < largest(instances)[1]:
        raise ValueError(f"shape {shape} is too small for boards of up to {largest(instances)}")
    exits = np.zeros((len(instances), *shape), np.uint8)
    for i, instance in enumerate(instances):
        board = instance.board
        exits[i, : board.height, : board.width] = np.frombuffer(board.exits, np.uint8).reshape(board.height, board.width)
    optima = [instance.solution.makespan or 0 for instance in instances]
    return Boards(
        (exits == 0).astype(np.uint8),
        exits,
        np.array([(instance.board.height, instance.board.width) for instance in instances], np.int64),
        np.array([[agent.start for agent in instance.board.agents] for instance in instances], np.int16),
        np.array([[agent.goal for agent in instance.board.agents] for instance in instances], np.int16),
        np.array(optima, np.int64),
        np.array([max_steps or step_limit(instance.board, best) for instance, best in zip(instances, optima, strict=True)], np.int64),
    )
