"""Exact tables of all pairs of agents, as lower bounds on the makespan. Imports numba."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

import numpy as np

from frozenlab.lake.kernels.compiled import kernel
from frozenlab.lake.kernels.limits import FAR


@kernel
def pair_bounds(i, j, problem, model, done_i, done_j, from_start, limit, out, queue):
    """Exact fewest steps until agents i and j are both done, from every pair of vertices, without the other agents.

    Args:
        done_i, done_j: where both are done.
        from_start: ``[agent, vertex]`` least number of steps from an agent's start to a vertex.
        limit: pairs of vertices that the two cannot reach in time for a plan of so many steps get FAR too.
        out: ``[vertex of i, vertex of j]``, gets the steps, FAR for never.
        queue: scratch with room for every pair of vertices.
    """
    m, goals, before, n_before = problem.m, problem.goals, model.before, model.n_before
    side = m + 1
    for a in range(side):
        for b in range(side):
            out[a, b] = FAR
    out[done_i, done_j] = 0
    queue[0, 0], queue[0, 1] = done_i, done_j
    head, tail = 0, 1
    while head < tail:
        a, b = queue[head, 0], queue[head, 1]
        head += 1
        steps = out[a, b] + 1
        cell_a = goals[i] if a == m else a
        cell_b = goals[j] if b == m else b
        for p in range(n_before[i, a]):
            a2 = before[i, a, p]
            cell_a2 = goals[i] if a2 == m else a2
            if from_start[i, a2] + steps > limit:
                continue
            for q in range(n_before[j, b]):
                b2 = before[j, b, q]
                if out[a2, b2] != FAR or from_start[j, b2] + steps > limit:
                    continue
                cell_b2 = goals[j] if b2 == m else b2
                if cell_a2 == cell_b2 or (cell_a2 == cell_b and cell_b2 == cell_a):
                    continue
                out[a2, b2] = steps
                queue[tail, 0], queue[tail, 1] = a2, b2
                tail += 1


@kernel
def all_pairs(team, problem, model, from_start, limit, parks):
    """``[i, j, vertex, vertex]`` of :func:`pair_bounds` for all i < j of the team; ``parks``: agents that are done have parked."""
    m, goals = problem.m, problem.goals
    pairs = np.empty((goals.shape[0], goals.shape[0], m + 1, m + 1), np.int16)
    queue = np.empty(((m + 1) * (m + 1), 2), np.int16)
    for q in range(team.shape[0]):
        for p in range(q):
            i, j = team[p], team[q]
            done_i, done_j = (m, m) if parks else (goals[i], goals[j])
            pair_bounds(i, j, problem, model, done_i, done_j, from_start, limit, pairs[i, j], queue)
    return pairs


@kernel
def largest_pair_bound(team, problem, pairs):
    """The largest of the pairs' bounds from the starts."""
    most = 0
    for q in range(team.shape[0]):
        for p in range(q):
            i, j = team[p], team[q]
            most = max(most, pairs[i, j, problem.starts[i], problem.starts[j]])
    return most
