"""A warehouse that never ends: who reaches a goal gets the next one, and what counts is how many goals are reached."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frozenlab.base import seeds
from frozenlab.lake.board import Board
from frozenlab.lake.planners.planner import Clock, crowd_of, prepare
from frozenlab.lake.solvers.solver import stacked


class Shift(NamedTuple):
    """What a team did in some steps."""

    cells: NDArray[np.int64]
    """``[time, agent]`` row-major numbers of the cells, from time 0 on."""
    reached: NDArray[np.int64]
    """``[agent]`` goals that it has reached."""

    @property
    def throughput(self) -> float:
        """Goals that the team reached in a step, on average."""
        return float(self.reached.sum()) / (len(self.cells) - 1)


def work(board: Board, steps: int, seed: int) -> Shift:
    """A shift in which PIBT moves every agent step by step (Okumura, Machida, Defago and Tamura 2022), as lifelong MAPF is defined by Li,
    Tinka, Kiesel, Durham, Kumar and Koenig 2021: an agent on its goal gets another one, drawn from all cells that it can reach.

    Args:
        board: its goals are the first ones; from every cell that is no hole every other one can be reached, in both directions.
        seed: of the goals and of PIBT's draws.

    Raises:
        ValueError: some cell cannot be reached.
    """
    from frozenlab.lake.kernels.pibt import new_room, run_pibt
    from frozenlab.lake.planners.pibt import PIBT

    prepare(PIBT)
    crowd = crowd_of(board, stacked([board]), Clock(60.0))
    if crowd is None:
        raise ValueError("an agent cannot reach its goal")
    k, m = crowd.distance.shape
    away = distances_between_all(crowd.successors)
    if (away < 0).any():
        raise ValueError("not every cell can be reached from every other one")
    goals, draws = crowd.goals.copy(), seeds.rng(seed, "planners/lifelong")
    crowd = crowd._replace(goals=goals, distance=away[goals].astype(np.int16))
    positions = np.empty((steps + 1, k), np.int32)
    positions[0] = crowd.starts
    turns, urgency = np.arange(k, dtype=np.int32), crowd.distance[np.arange(k), crowd.starts].astype(np.float32) / np.float32(1 << 15)
    room, state, reached = new_room(m, k), np.uint64(seeds.derive(seed, "planners/lifelong-pibt")), np.zeros(k, np.int64)
    for time in range(steps):
        for i in np.flatnonzero(positions[time] == goals):
            reached[i] += time > 0
            goals[i] = draws.choice(np.flatnonzero(np.arange(m) != positions[time, i]))
            crowd.distance[i] = away[goals[i]]
        _, _, state = run_pibt(crowd, positions, time, 1, turns, urgency, room, np.uint64(state))
    reached += positions[steps] == goals
    return Shift(crowd.cell_of[positions], reached)


def distances_between_all(successors: NDArray[np.int64]) -> NDArray[np.int32]:
    """``[goal, vertex]`` steps from each vertex to each goal where every way can be gone in both directions; -1: no way."""
    m = len(successors)
    away = np.full((m, m), -1, np.int32)
    for goal in range(m):
        away[goal, goal] = 0
        front = np.array([goal])
        steps = 0
        while len(front):
            steps += 1
            after = np.unique(successors[front])
            front = after[(after >= 0) & (away[goal, after] < 0)]
            away[goal, front] = steps
    return away
