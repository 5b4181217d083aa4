"""A board as the searches take it, and groups of its agents. Imports numba.

Agents are ordered by distance, the farthest first. A search plans for a *team*: an ascending array of agents, often only some of them.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from frozenlab.lake.kernels.compiled import inlined, kernel
from frozenlab.lake.kernels.graph import distances, number_cells
from frozenlab.lake.kernels.grid import DIRECTIONS
from frozenlab.lake.kernels.judge import DOWN, LEFT, RIGHT, UP, WAIT
from frozenlab.lake.kernels.limits import FAR


class Problem(NamedTuple):
    """The graph of a board with its agents; see :func:`build_problem`."""

    m: int
    """Number of vertices; also stands for *parked*: on the goal for good."""
    starts: NDArray[np.int64]
    """``[agent]`` vertices."""
    goals: NDArray[np.int64]
    exits: NDArray[np.uint8]
    """``[cell]`` the masks of :mod:`frozenlab.lake.exits`; doors name agents of the board, see ``order``."""
    successors: NDArray[np.int64]
    """``[vertex, 4]`` vertices that a move leads to, filled up with -1; doors too, of any agent."""
    predecessors: NDArray[np.int64]
    """``[vertex, 4]`` vertices that a move comes from, filled up with -1."""
    distance: NDArray[np.int16]
    """``[agent, vertex]`` steps to the agent's goal when no other agent is in the way (FAR: no path, or a door of another agent)."""
    component: NDArray[np.int64]
    """``[agent]`` least agent of the same component: agents of different components can never meet."""
    order: NDArray[np.int64]
    """``[agent]`` number of the agent on the board."""
    cell_of: NDArray[np.int64]
    """``[vertex]`` row-major number of the cell."""
    width: int


PROBLEM = types.NamedTuple(
    [
        types.int64,
        types.int64[::1],
        types.int64[::1],
        types.uint8[::1],
        types.int64[:, ::1],
        types.int64[:, ::1],
        types.int16[:, ::1],
        types.int64[::1],
        types.int64[::1],
        types.int64[::1],
        types.int64,
    ],
    Problem,
)
"""Numba's type of it."""


@kernel
def build_problem(exits, width, start_cells, goal_cells):
    """The :class:`Problem` of a board. Where some goal cannot be reached, ``m`` is -1 and the rest means nothing.

    Args:
        exits: uint8 ``[cell]``, row-major, the masks of :mod:`frozenlab.lake.exits`.
        start_cells, goal_cells: int64 ``[agent]``, row-major cell numbers.
    """
    k, cells = start_cells.shape[0], exits.shape[0]
    vertex_of, cell_of = np.empty(cells, np.int64), np.empty(cells, np.int64)
    successors, predecessors = np.empty((cells, DIRECTIONS), np.int64), np.empty((cells, DIRECTIONS), np.int64)
    m = number_cells(exits, width, goal_cells, vertex_of, cell_of, successors, predecessors)
    unsorted = np.empty((k, m), np.int16)
    queue = np.empty(m, np.int64)
    far = np.empty(k, np.int64)
    starts = np.empty(k, np.int64)
    goals = np.empty(k, np.int64)
    component = np.empty(k, np.int64)
    order = np.empty(k, np.int64)
    for i in range(k):
        component[i] = order[i] = i
    for i in range(k):
        distances(predecessors, m, vertex_of[goal_cells[i]], exits, cell_of, i, unsorted[i], queue)
        start = vertex_of[start_cells[i]]
        if start < 0 or unsorted[i, start] == FAR:
            return Problem(-1, starts, goals, exits, successors, predecessors, unsorted, component, order, cell_of, width)
        far[i] = unsorted[i, start]
    for p in range(1, k):  # insertion sort, stable
        for q in range(p, 0, -1):
            if far[order[q - 1]] >= far[order[q]]:
                break
            order[q - 1], order[q] = order[q], order[q - 1]
    distance = np.empty((k, m), np.int16)
    for i in range(k):
        starts[i] = vertex_of[start_cells[order[i]]]
        goals[i] = vertex_of[goal_cells[order[i]]]
        for c in range(m):
            distance[i, c] = unsorted[order[i], c]
        for j in range(i):
            if component[j] != component[i] and can_meet(i, j, distance):
                join_components(component, component[i], component[j])
    return Problem(m, starts, goals, exits, successors, predecessors, distance, component, order, cell_of, width)


@inlined
def can_meet(i, j, distance):
    """Whether agents i and j can both reach their goals from some vertex: on its way an agent is never anywhere else."""
    for c in range(distance.shape[1]):  # noqa: SIM110, Numba has no any() of a generator
        if max(distance[i, c], distance[j, c]) < FAR:
            return True
    return False


@inlined
def join_components(component, one, other):
    """Makes two components one, which is named by the least of its agents."""
    for i in range(component.shape[0]):
        if component[i] == one or component[i] == other:
            component[i] = min(one, other)


@kernel
def vertices_of(team, problem):
    """The vertices from which some agent of ``team`` can reach its goal, ascending."""
    out = np.empty(problem.m, np.int64)
    n = 0
    for c in range(problem.m):
        for i in team:
            if problem.distance[i, c] != FAR:
                out[n] = c
                n += 1
                break
    return out[:n]


@kernel
def agents_of(component, problem):
    """The agents in one connected component, ascending."""
    out = np.empty(problem.starts.shape[0], np.int64)
    n = 0
    for i in range(problem.starts.shape[0]):
        if problem.component[i] == component:
            out[n] = i
            n += 1
    return out[:n]


@kernel
def subset_of(team, mask):
    """The agents of ``team`` whose bits are set in ``mask``."""
    out = np.empty(team.shape[0], np.int64)
    n = 0
    for p in range(team.shape[0]):
        if mask >> p & 1:
            out[n] = team[p]
            n += 1
    return out[:n]


@kernel
def count_bits(mask):
    """How many bits are set."""
    n = 0
    while mask:
        mask &= mask - 1
        n += 1
    return n


@kernel
def bits_per_agent(m):
    """How many bits of a joint state hold one agent's vertex."""
    bits = 1
    while (1 << bits) <= m:
        bits += 1
    return bits


@kernel
def write_plan(team, problem, positions, length, moves, lengths):
    """Writes the plan in ``positions[:length + 1]`` as letters, each agent's up to its arrival for good.

    ``moves[agent, time]`` and ``lengths[agent]`` have the agents in the order of the board.
    """
    m, goals, cell_of, width = problem.m, problem.goals, problem.cell_of, problem.width
    for p in range(team.shape[0]):
        i = team[p]
        arrival = 0
        for t in range(length):
            old = cell_of[goals[i] if positions[t, i] == m else positions[t, i]]
            new = cell_of[goals[i] if positions[t + 1, i] == m else positions[t + 1, i]]
            letter = WAIT
            if new == old + width:
                letter = DOWN
            elif new == old - width:
                letter = UP
            elif new == old + 1:
                letter = RIGHT
            elif new == old - 1:
                letter = LEFT
            if letter != WAIT:
                arrival = t + 1
            moves[problem.order[i], t] = letter
        lengths[problem.order[i]] = arrival
