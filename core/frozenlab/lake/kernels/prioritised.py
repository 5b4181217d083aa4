"""Prioritised planning (Erdmann and Lozano-Perez 1987): quick plans without any guarantee. Imports numba.

It is all that plans boards which are too large for an exact search; there it also says how good the plan can at best be.
"""

import numpy as np
from numba import types

from frozenlab.lake.kernels.compiled import entry, inlined, kernel_of
from frozenlab.lake.kernels.limits import BOUNDED, FOUND, GAVE_UP, HORIZON, PATIENCE, SOLVED, TRIES, UNDECIDED, UNSOLVABLE
from frozenlab.lake.kernels.problem import PROBLEM, build_problem, write_plan


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
    time steps or delay as in :func:`frozenlab.lake.kernels.joint_space.search`.

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


@inlined
def bound_large(exits, width, start_cells, goal_cells, tries, positions, moves, lengths):
    """A plan of a large board, and a lower bound; the other arguments as in :func:`frozenlab.lake.kernels.makespan.solve_board`.

    The agents plan in turn within a horizon, from the longest of their distances on. Who finds no path goes to the front in the next try.

    Args:
        tries: how many orders of the agents are tried for each horizon.

    Returns:
        (SOLVED if the plan is optimal, BOUNDED, UNSOLVABLE or UNDECIDED, the longest distance, the makespan of the plan,
        needs_wait as 0 or -1 for undecided)
    """
    problem = build_problem(exits, width, start_cells, goal_cells)
    if problem.m < 0:
        return UNSOLVABLE, 0, 0, 0
    least = np.int64(problem.distance[0, problem.starts[0]])
    team = np.arange(start_cells.shape[0])
    horizon = least
    while horizon < HORIZON and horizon <= 2 * least + PATIENCE:
        for waits in (False, True):
            for _ in range(tries):
                status, length, late = plan_by_priority(team, 0, problem, waits, False, horizon, positions)
                if status == FOUND:
                    write_plan(team, problem, positions, length, moves, lengths)
                    makespan = 0
                    for i in team:
                        makespan = max(makespan, lengths[i])
                    if makespan == least:
                        return SOLVED, least, makespan, (-1 if waits else 0)
                    return BOUNDED, least, makespan, -1
                first = team[late]
                for place in range(late, 0, -1):
                    team[place] = team[place - 1]
                team[0] = first
        horizon += 1 + (horizon - least)
    return UNDECIDED, least, 0, -1


@entry("large")
def bound_large_boards(exits, width, starts, goals, statuses, makespans, needs_wait, moves, lengths):
    """:func:`bound_large` for the boards that ``solve_boards`` left UNDECIDED; ``makespans`` gets the lower bound and the plan's."""
    positions = np.empty((HORIZON + 1, starts.shape[1]), np.int16)
    for row in range(exits.shape[0]):
        if statuses[row] == UNDECIDED:
            status, least, makespan, waits = bound_large(
                exits[row], width, starts[row], goals[row], TRIES, positions, moves[row], lengths[row]
            )
            statuses[row], needs_wait[row] = status, waits
            makespans[row, 0], makespans[row, 1] = least, makespan
