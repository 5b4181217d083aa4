"""Compiled search for the optimal sum of costs; apart from kernels.py so that nobody pays for its compilation who does not ask for it.

Costs are counted as *waste*: what a team spends over the sum of its agents' distances. The search of kernels.py is run with a rising bound
on it, from the waste of the worst disjoint pairs of agents up to that of a plan which is already known.
"""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

import numpy as np
from numba import njit

from core.lake.kernels import COSTED, FAILED, FAR, FOUND, HORIZON, first_try, led_by, movement, prepare, within


@njit(cache=True, nogil=True)
def pair_waste(i, j, m, goals, model, most, out):
    """Exact least waste of agents i and j from every pair of codes, the other agents left out (FAR: more than ``most``).

    Dijkstra back from both being parked, with a bucket for each waste; a step wastes 0 to 4.
    """
    side = m + 1
    for a in range(side):
        for b in range(side):
            out[a, b] = FAR
    bucket = np.full(most + 5, -1, np.int64)
    entries = np.empty((5 * side * side + 1, 2), np.int64)  # state, next entry of its bucket; a state is lowered at most 5 times
    out[m, m] = 0
    entries[0, 0] = m * side + m
    entries[0, 1] = -1
    bucket[0] = 0
    used = 1
    for waste in range(most + 1):
        while bucket[waste] >= 0:
            entry = bucket[waste]
            bucket[waste] = entries[entry, 1]
            a, b = entries[entry, 0] // side, entries[entry, 0] % side
            if out[a, b] < waste:
                continue
            cell_a = goals[i] if a == m else a
            cell_b = goals[j] if b == m else b
            for p in range(model.n_before[i, a]):
                a2 = model.before[i, a, p]
                cell_a2 = goals[i] if a2 == m else a2
                waste_a = 0 if a2 == m else 1 + model.least[i, a] - model.least[i, a2]
                for q in range(model.n_before[j, b]):
                    b2 = model.before[j, b, q]
                    cell_b2 = goals[j] if b2 == m else b2
                    total = waste + waste_a + (0 if b2 == m else 1 + model.least[j, b] - model.least[j, b2])
                    if total > most or out[a2, b2] <= total or cell_a2 == cell_b2 or (cell_a2 == cell_b and cell_b2 == cell_a):
                        continue
                    out[a2, b2] = total
                    entries[used, 0] = a2 * side + b2
                    entries[used, 1] = bucket[total]
                    bucket[total] = used
                    used += 1


@njit(cache=True, nogil=True)
def disjoint_waste(team, starts, pairs):
    """A lower bound on a team's waste from its starts: the most that pairs without a common agent waste together."""
    k = team.shape[0]
    best = np.zeros(1 << k, np.int64)  # over the agents in the mask
    for mask in range(1, 1 << k):
        for q in range(k):
            if mask >> q & 1:
                best[mask] = max(best[mask], best[mask & ~(1 << q)])
                for p in range(q):
                    if mask >> p & 1:
                        pair = np.int64(pairs[team[p], team[q], starts[team[p]], starts[team[q]]])
                        best[mask] = max(best[mask], best[mask & ~(1 << p) & ~(1 << q)] + pair)
    return best[(1 << k) - 1]


@njit(cache=True, nogil=True)
def least_costs(free, width, start_cells, goal_cells, arrivals, budgets, memo):
    """Optimal sum of costs of a board, or -1 if the budget does not suffice.

    Args:
        arrivals: int64 ``[k]``, when each agent arrives in some valid plan; the other arguments as in ``solve_board``.
    """
    cell_of = np.empty(free.shape[0], np.int64)
    m, adjacent, order, starts, goals, distance, team_of = prepare(free, width, start_cells, goal_cells, cell_of)
    k = starts.shape[0]
    model = movement(COSTED, adjacent, m, goals, distance)
    codes = np.empty((HORIZON + 1, k), np.int16)
    costs = 0
    for leader in range(k):
        team = led_by(leader, team_of)
        if team.shape[0] == 0:
            continue
        most = 0  # waste of the known plan
        for i in team:
            costs += distance[i, starts[i]]
            most += arrivals[order[i]] - distance[i, starts[i]]
        if most == 0:
            continue
        status, _ = first_try(team, starts, goals, m, model, True, 0, budgets, memo, codes)
        if status == FOUND:
            continue
        pairs = np.empty((k, k, m + 1, m + 1), np.int16)
        for q in range(team.shape[0]):
            for p in range(q):
                pair_waste(team[p], team[q], m, goals, model, most, pairs[team[p], team[q]])
        waste = disjoint_waste(team, starts, pairs)
        known = np.full(1 << team.shape[0], FAR, np.int64)
        while waste < most:
            status, _ = within(team, starts, goals, m, model, pairs, True, waste, budgets, memo, codes, known)
            if status == FOUND:
                break
            if status != FAILED:
                return -1
            waste += 1
        costs += waste
    return costs
