"""The moves of single agents: three movement models that share one search. Imports numba.

* ``FREE``: an agent moves or waits; it is done when all stand on their goals at once. Decides the makespan.
* ``NO_WAIT``: an agent moves at every step until it parks. A plan of the optimal makespan here means that no WAIT is needed.
* ``PARKING``: an agent moves or waits until it parks, and each step before that costs one. Decides the sum of costs.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from frozenlab.lake.kernels.compiled import inlined, kernel, kernel_of
from frozenlab.lake.kernels.grid import DIRECTIONS
from frozenlab.lake.kernels.limits import FAR
from frozenlab.lake.kernels.problem import PROBLEM

FREE, NO_WAIT, PARKING = 0, 1, 2
BRANCH = 6
"""Most successors of a vertex: four moves, WAIT, and the goal cell both passing and parking."""


class Model(NamedTuple):
    """The tables of one movement model; see :func:`movement`."""

    after: NDArray[np.int16]
    """``[agent, vertex, n]`` vertices one step after a vertex, nearest to the goal first."""
    n_after: NDArray[np.int16]
    before: NDArray[np.int16]
    """``[agent, vertex, n]`` vertices one step before a vertex."""
    n_before: NDArray[np.int16]
    least: NDArray[np.int16]
    """``[agent, vertex]`` fewest steps from a vertex to being done when no other agent is in the way."""


MODEL = types.NamedTuple(
    [types.int16[:, :, ::1], types.int16[:, ::1], types.int16[:, :, ::1], types.int16[:, ::1], types.int16[:, ::1]], Model
)
"""Numba's type of it."""


@inlined
def steps_around(i, goal, problem):
    """The fewest steps in which agent i, on its goal, leaves it and comes back (FAR: there is no way back)."""
    least = FAR
    for b in problem.successors[goal]:
        if b >= 0 and problem.distance[i, b] < FAR:
            least = min(least, 1 + problem.distance[i, b])
    return least


@kernel
def from_starts(i, j, problem, model, by_delay, pairs):
    """What a table ``[vertex of i, vertex of j]`` of steps, or of delays, says of the starts. An agent that starts on its goal is done
    there, or leaves it and comes back."""
    m, starts, goals, distance = problem.m, problem.starts, problem.goals, problem.distance
    found = np.int64(FAR)
    for parked_i in range(1 + (starts[i] == goals[i])):
        a = m if parked_i else starts[i]
        for parked_j in range(1 + (starts[j] == goals[j])):
            b = m if parked_j else starts[j]
            more = model.least[i, a] - distance[i, starts[i]] + model.least[j, b] - distance[j, starts[j]] if by_delay else 0
            found = min(found, np.int64(pairs[a, b]) + more)
    return found


@kernel_of(MODEL(types.int64, PROBLEM))
def movement(model, problem):
    """The tables of movement model ``model`` (FREE, NO_WAIT or PARKING)."""
    m, goals, distance = problem.m, problem.goals, problem.distance
    successors, predecessors = problem.successors, problem.predecessors
    k = goals.shape[0]
    after = np.empty((k, m + 1, BRANCH), np.int16)
    before = np.empty((k, m + 1, BRANCH), np.int16)
    n_after = np.zeros((k, m + 1), np.int16)
    n_before = np.zeros((k, m + 1), np.int16)
    least = np.empty((k, m + 1), np.int16)
    for i in range(k):
        goal = goals[i]
        for c in range(m):
            least[i, c] = distance[i, c]
        least[i, m] = 0
        if model != FREE:
            least[i, goal] = steps_around(i, goal, problem)
        for c in range(m):
            if distance[i, c] == FAR:
                continue
            n = 0
            for q in range(DIRECTIONS):
                b = successors[c, q]
                if b < 0:
                    break
                if distance[i, b] != FAR:
                    after[i, c, n] = b
                    n += 1
            if model != NO_WAIT:
                after[i, c, n] = c
                n += 1
            if model != FREE and distance[i, c] == 1:
                after[i, c, n] = m
                n += 1
            n_after[i, c] = n
            for p in range(1, n):  # insertion sort, stable, by what is left to go
                vertex = after[i, c, p]
                q = p - 1
                while q >= 0 and least[i, after[i, c, q]] > least[i, vertex]:
                    after[i, c, q + 1] = after[i, c, q]
                    q -= 1
                after[i, c, q + 1] = vertex
            n = 0
            for q in range(DIRECTIONS):
                b = predecessors[c, q]
                if b < 0:
                    break
                if distance[i, b] != FAR:
                    before[i, c, n] = b
                    n += 1
            if model != NO_WAIT:
                before[i, c, n] = c
                n += 1
            n_before[i, c] = n
        if model != FREE:
            after[i, m, 0] = m
            n_after[i, m] = 1
            before[i, m, 0] = m
            n = 1
            for q in range(DIRECTIONS):
                b = predecessors[goal, q]
                if b < 0:
                    break
                if distance[i, b] != FAR:
                    before[i, m, n] = b
                    n += 1
            n_before[i, m] = n
    return Model(after, n_after, before, n_before, least)
