"""A warehouse that never ends: who reaches a goal gets the next one, and what counts is how many goals are reached."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frozenlab.base import seeds
from frozenlab.lake.board import HOLE, Agent, Board
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
        board: its goals are the first ones; from every cell that is no hole every other one can be reached.
        seed: of the goals and of PIBT's draws.

    Raises:
        ValueError: some cell cannot be reached.
        BoardError: more than 1,000 cells are no holes.
    """
    from frozenlab.lake.kernels.limits import FAR
    from frozenlab.lake.kernels.pibt import new_room, run_pibt
    from frozenlab.lake.planners.pibt import PIBT

    prepare(PIBT)
    free = [(r, c) for r, row in enumerate(board.rows) for c, letter in enumerate(row) if letter != HOLE]
    everywhere = Board(board.rows, tuple(Agent(cell, cell) for cell in free))  # its crowd knows the distances from and to each cell
    crowd = crowd_of(everywhere, stacked([everywhere]), Clock(60.0))
    if crowd is None or (crowd.distance == FAR).any():
        raise ValueError("not every cell can be reached from every other one")
    number, away = {cell: n for n, cell in enumerate(free)}, crowd.distance
    vertices, targets = crowd.goals, np.array([number[agent.goal] for agent in board.agents])
    starts = vertices[[number[agent.start] for agent in board.agents]]
    k, m = board.num_agents, len(free)
    crowd = crowd._replace(starts=starts, goals=vertices[targets], distance=away[targets])
    positions = np.empty((steps + 1, k), np.int32)
    positions[0] = crowd.starts
    turns, urgency = np.arange(k, dtype=np.int32), crowd.distance[np.arange(k), crowd.starts].astype(np.float32) / np.float32(1 << 15)
    room, state, reached = new_room(m, k), np.uint64(seeds.derive(seed, "planners/lifelong-pibt")), np.zeros(k, np.int64)
    draws = seeds.rng(seed, "planners/lifelong")
    for time in range(steps):
        for i in np.flatnonzero(positions[time] == crowd.goals):
            reached[i] += time > 0
            target = draws.choice(np.flatnonzero(vertices != positions[time, i]))
            crowd.goals[i], crowd.distance[i] = vertices[target], away[target]
        _, _, state = run_pibt(crowd, positions, time, 1, turns, urgency, room, np.uint64(state))
    reached += positions[steps] == crowd.goals
    return Shift(crowd.cell_of[positions], reached)
