"""Prioritised planning (Erdmann and Lozano-Perez 1987): quick plans without any guarantee. Imports numba."""

import numpy as np
from numba import types

from frozenlab.lake.kernels.compiled import inlined, kernel_of
from frozenlab.lake.kernels.limits import FOUND, GAVE_UP, HORIZON
from frozenlab.lake.kernels.problem import PROBLEM


@inlined
def goal_clear_from(goal, n, first, team, length, positions):
    """The time from which none of the ``n`` agents that have planned already stands on ``goal``."""
    clear = 0
    for o in range(n):
        j = team[(first + o) % team.shape[0]]
        for t in range(length, -1, -1):
            if positions[t, j] == goal:
                clear = max(clear, t + 1)
                break
    return clear


@inlined
def in_the_way(t, here, vertex, n, first, team, length, positions):
    """Whether a step from ``here`` at time t to ``vertex`` conflicts with one of the ``n`` agents that have planned already."""
    for o in range(n):
        j = team[(first + o) % team.shape[0]]
        ahead = positions[min(t + 1, length), j]
        if ahead == vertex or (ahead == here and positions[min(t, length), j] == vertex):
            return True
    return False


@kernel_of(
    types.UniTuple(types.int64, 3)(types.int64[::1], types.int64, PROBLEM, types.boolean, types.boolean, types.int64, types.int16[:, ::1])
)
def plan_by_priority(team, first, problem, waits, by_delay, bound, positions):
    """The agents plan one after the other, each around those before it. That nothing is found proves nothing.

    Each agent takes its earliest arrival for good, by breadth-first search over (time, vertex). The plan is within ``bound``, which is on
    time steps or delay as in :func:`frozenlab.lake.kernels.ida.search`.

    Args:
        first: the agent at this place of the team plans first; then those after it, then those before it.
        waits: whether an agent may wait before it arrives.

    Returns:
        (FOUND, length of the plan in ``positions``, with ``by_delay`` what is left of ``bound``) or (GAVE_UP, 0, the place of
        the agent that finds no path)
    """
    m, starts, goals, successors, distance = problem.m, problem.starts, problem.goals, problem.successors, problem.distance
    k = team.shape[0]
    horizon = bound
    if by_delay:
        for p in range(k):
            horizon = max(horizon, bound + distance[team[p], starts[team[p]]])
    if horizon >= HORIZON:
        return GAVE_UP, 0, 0
    spare = bound
    length = 0
    came = np.empty((horizon + 1, m), np.int16)  # the vertex before, of those that are reached
    frontier = np.empty((2, m), np.int64)
    for n in range(k):
        place = (first + n) % k
        i = team[place]
        goal = goals[i]
        last = spare + distance[i, starts[i]] if by_delay else bound
        clear = goal_clear_from(goal, n, first, team, length, positions)
        if clear > last:
            return GAVE_UP, 0, place
        t, reached = 0, 1
        frontier[0, 0] = starts[i]
        while True:
            now = frontier[t & 1]
            arrived = False
            for f in range(reached):
                if now[f] == goal and t >= clear:
                    arrived = True
            if arrived:
                break
            if t == last or reached == 0:
                return GAVE_UP, 0, place
            then = frontier[(t + 1) & 1]
            came[t + 1, :] = -1
            next_reached = 0
            for f in range(reached):
                here = now[f]
                for direction in range(4 + waits):
                    vertex = here if direction == 4 else successors[here, direction]
                    if vertex < 0 or came[t + 1, vertex] >= 0 or t + 1 + distance[i, vertex] > last:
                        continue
                    if not in_the_way(t, here, vertex, n, first, team, length, positions):
                        came[t + 1, vertex] = here
                        then[next_reached] = vertex
                        next_reached += 1
            reached = next_reached
            t += 1
        for later in range(length + 1, t + 1):
            for o in range(n):
                j = team[(first + o) % k]
                positions[later, j] = positions[length, j]
        length = max(length, t)
        for later in range(t, length + 1):
            positions[later, i] = goal
        vertex = goal
        for back in range(t, 0, -1):
            positions[back, i] = vertex
            vertex = came[back, vertex]
        positions[0, i] = vertex
        if by_delay:
            spare -= t - distance[i, starts[i]]
    return FOUND, length, spare
