"""A board as planners for many agents take it. Imports numba."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.kernels.compiled import entry, inlined, light_kernel
from frozenlab.lake.kernels.graph import distances, number_cells
from frozenlab.lake.kernels.grid import DIRECTIONS
from frozenlab.lake.kernels.limits import FAR

NOBODY = -1
CHOICES = DIRECTIONS + 1
"""The neighbours of a vertex, and the vertex itself."""


class Crowd(NamedTuple):
    """The graph of a board and the distances of its agents, in the order of the board."""

    starts: NDArray[np.int64]
    """``[agent]`` vertices."""
    goals: NDArray[np.int64]
    successors: NDArray[np.int64]
    """``[vertex, 4]`` vertices that a move leads to, filled up with -1."""
    distance: NDArray[np.int16]
    """``[agent, vertex]`` steps to the agent's goal when no other agent is in the way (FAR: no path, or a door of another agent)."""
    cell_of: NDArray[np.int64]
    """``[vertex]`` row-major number of the cell."""


@entry("planners")
def number_crowd(exits, width, start_cells, goal_cells):
    """(the :class:`Crowd` of a board, whose ``distance`` is not written yet and whose starts are -1 where no goal can be reached from them,
    ``[vertex, 4]`` the vertices that a move comes from)."""
    k, cells = start_cells.shape[0], exits.shape[0]
    vertex_of, cell_of = np.empty(cells, np.int64), np.empty(cells, np.int64)
    successors, predecessors = np.empty((cells, DIRECTIONS), np.int64), np.empty((cells, DIRECTIONS), np.int64)
    m = number_cells(exits, width, goal_cells, vertex_of, cell_of, successors, predecessors)
    crowd = Crowd(vertex_of[start_cells], vertex_of[goal_cells], successors[:m].copy(), np.empty((k, m), np.int16), cell_of[:m].copy())
    return crowd, predecessors[:m].copy()


@entry("planners")
def write_distances(crowd, predecessors, exits, first, last):
    """Writes the distances of the agents ``first`` to ``last - 1``.

    Returns:
        the first of them whose goal cannot be reached, -1 if all can be
    """
    m = crowd.cell_of.shape[0]
    queue = np.empty(m, np.int64)
    for i in range(first, last):
        distances(predecessors, m, crowd.goals[i], exits, crowd.cell_of, i, crowd.distance[i], queue)
        if crowd.starts[i] < 0 or crowd.distance[i, crowd.starts[i]] == FAR:
            return i
    return -1


@inlined
def choice(i, here, direction, crowd):
    """Where agent i may be one step after ``here``, by a number below CHOICES; -1: no exit leads there, or to a door of another agent."""
    there = here if direction == DIRECTIONS else crowd.successors[here, direction]
    return there if there >= 0 and crowd.distance[i, there] != FAR else np.int64(-1)


@light_kernel
def leads(i, here, there, crowd):
    """Whether agent i can go from one vertex to another."""
    for direction in range(DIRECTIONS):  # noqa: SIM110, Numba has no any() of a generator
        if choice(i, here, direction, crowd) == there:
            return True
    return False
