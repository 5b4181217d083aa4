"""Compiled search for the optimal sum of costs; apart from search.py so that nobody pays for its compilation who does not ask for it.

Costs are counted as *waste*: what a team spends over the sum of its agents' distances. A plan by prioritised planning is the upper bound.
Then comes Conflict-Based Search (cbs.py), which settles nearly all boards that it has bitboards for. What it leaves is left to the
search of search.py with a rising bound on the waste: its lower bounds come from the exact waste of pairs, triples, ... of the agents, as
agents that have nothing in common waste at least the sum of what they waste apart.
"""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

import numpy as np

from frozenlab.lake.kernels.cbs import fits, resolve
from frozenlab.lake.kernels.compiled import entry, inlined, kernel
from frozenlab.lake.kernels.search import (
    COSTED,
    FAILED,
    FAR,
    FOUND,
    GLANCE,
    HORIZON,
    KEY_BITS,
    STEADY,
    joint_bits,
    keep,
    led_by,
    movement,
    ones,
    part_of,
    plan_in_turn,
    prepare,
    search,
    steps_since,
)

NODE_PRICE = 30
"""So many nodes of the search by floors go for one of Conflict-Based Search."""


@kernel
def pair_waste(i, j, m, starts, goals, since, model, most, out):
    """Exact least waste of agents i and j from every pair of codes, the other agents left out.

    FAR where it is more than ``most``, also counted together with what was wasted on the way there from the starts (``since`` as in
    ``pair_bounds``). Dijkstra back from both being parked, with a bucket for each waste; a step wastes 0 to 4.
    """
    side = m + 1
    for a in range(side):
        for b in range(side):
            out[a, b] = FAR
    alone_i, alone_j = since[i, goals[i]], since[j, goals[j]]
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
                so_far_a = 0 if a2 == m else since[i, a2] + model.least[i, a2] - alone_i
                if waste + waste_a + so_far_a > most:
                    continue
                for q in range(model.n_before[j, b]):
                    b2 = model.before[j, b, q]
                    cell_b2 = goals[j] if b2 == m else b2
                    total = waste + waste_a + (0 if b2 == m else 1 + model.least[j, b] - model.least[j, b2])
                    if out[a2, b2] <= total or cell_a2 == cell_b2 or (cell_a2 == cell_b and cell_b2 == cell_a):
                        continue
                    if total + so_far_a + (0 if b2 == m else since[j, b2] + model.least[j, b2] - alone_j) > most:
                        continue
                    out[a2, b2] = total
                    entries[used, 0] = a2 * side + b2
                    entries[used, 1] = bucket[total]
                    bucket[total] = used
                    used += 1


@kernel
def copy_plan(team, codes, length, best):
    """Keeps a team's plan. (To assign slices would have Numba compile the words of an error message, for seconds.)"""
    for t in range(length + 1):
        for i in team:
            best[t, i] = codes[t, i]


@kernel
def sum_of_floors(mask, floor):
    """The most that two disjoint parts of the agents in ``mask`` are known to waste together."""
    most = 0
    part = (mask - 1) & mask
    while part > 0:
        most = max(most, floor[part] + floor[mask & ~part])
        part = (part - 1) & mask
    return most


@kernel
def waste_by_floors(team, starts, goals, m, adjacent, model, at_least, known, known_length, budgets, memo, codes, best):
    """The least waste of ``team``, if it is from ``at_least`` on and below ``known``, the waste of a plan that is there already.

    Each round spends more nodes on raising the floors of subsets, small ones first, as a subset's floor is one for all that contain it.

    Returns:
        (proven lower bound, waste of the best plan, its length in ``best``, or ``known_length`` if it is the known one)
    """
    k = team.shape[0]
    whole = (1 << k) - 1
    floor = np.zeros(1 << k, np.int64)  # proven least waste of each subset
    exact = np.zeros(1 << k, np.bool_)
    floor[whole] = at_least
    pairs = np.empty((0, 0, 0, 0), np.int16)
    for effort in budgets:
        tables = 20 * effort > k * (k - 1) // 2 * m * m and effort > GLANCE
        if tables and pairs.shape[0] == 0:
            since = steps_since(team, starts, goals, m, adjacent)
            pairs = np.empty((starts.shape[0], starts.shape[0], m + 1, m + 1), np.int16)
            for q in range(k):
                for p in range(q):
                    i, j = team[p], team[q]
                    pair_waste(i, j, m, starts, goals, since, model, known, pairs[i, j])
                    floor[1 << p | 1 << q] = min(known, np.int64(pairs[i, j, starts[i], starts[j]]))
                    exact[1 << p | 1 << q] = k > 2
        for size in range(2, k + 1):
            for mask in range(1 << k):
                if ones(mask) != size or exact[mask] or (effort == GLANCE and 2 < size < k):
                    continue
                floor[mask] = max(floor[mask], sum_of_floors(mask, floor))
                part = part_of(team, mask)
                while floor[mask] < known:
                    status, length = search(part, starts, goals, m, model, pairs, tables, True, floor[mask], effort, memo, codes)
                    if status == FOUND:
                        exact[mask] = True
                        if mask == whole:
                            copy_plan(team, codes, length, best)
                            return floor[mask], floor[mask], length
                    if status != FAILED:
                        break
                    floor[mask] += 1
                if floor[mask] >= known:
                    return known, known, known_length
    return max(floor[whole], sum_of_floors(whole, floor)), known, known_length


@kernel
def waste_in_turn(team, starts, goals, m, adjacent, distance, known, codes, best):
    """The least waste, below ``known``, that prioritised planning comes across, and its plan's length in ``best``; else ``known`` and 0."""
    found = np.int64(0)
    for turn in range(team.shape[0]):
        status, length, spare = plan_in_turn(team, turn, starts, goals, m, adjacent, distance, True, True, known - 1, codes)
        if status == FOUND:
            copy_plan(team, codes, length, best)
            known, found = known - 1 - spare, length
    return known, found


@inlined
def team_waste(team, starts, goals, m, adjacent, distance, cell_of, width, known, budgets, memo, codes, best):
    """The least waste of ``team``, if it is below ``known``, the waste of a plan that is there already.

    Returns:
        (proven lower bound, waste of the best plan, its length in ``best``, or 0 if it is the known one)
    """
    waste, length = waste_in_turn(team, starts, goals, m, adjacent, distance, known, codes, best)
    proven = np.int64(0)  # a plain 0 would have the callees compiled once more, for a literal
    if team.shape[0] > 2 and fits(cell_of.shape[0], width):  # two agents are quicker searched than resolved
        for effort in budgets[:-2]:
            if proven < waste:
                proven, waste, length = resolve(
                    team, starts, goals, m, distance, cell_of, width, proven, waste, length, effort // NODE_PRICE, memo.nodes, best
                )
    if proven < waste:
        model = movement(COSTED, adjacent, m, goals, distance)
        proven, waste, length = waste_by_floors(
            team, starts, goals, m, adjacent, model, proven, waste, length, budgets[:-1], memo, codes, best
        )
    return proven, waste, length


@entry("costs")
def least_costs(free, width, start_cells, goal_cells, label, budgets, memo, costs, needs_wait, moves, lengths):
    """Optimal sums of costs of solvable boards of one shape and, with ``label``, whether their plans need a WAIT (WS).

    Args:
        free, start_cells, goal_cells, budgets, memo: as in ``solve_boards``.
        costs: int64 ``[n, 2]``, gets a lower bound of the sum of costs and that of the plan, which is optimal if they are equal.
        needs_wait: int64 ``[n]``, gets 1, 0 or -1 for undecided if ``label``.
        moves, lengths: as in ``solve_boards``, hold some valid plan and get one of least costs. With ``label`` it waits before an arrival
            only where that is needed or not decided.
    """
    k = start_cells.shape[1]
    codes, best = np.empty((HORIZON + 1, k), np.int16), np.empty((HORIZON + 1, k), np.int16)
    cell_of = np.empty(free.shape[1], np.int64)
    for row in range(free.shape[0]):
        m, adjacent, order, starts, goals, distance, team_of = prepare(free[row], width, start_cells[row], goal_cells[row], cell_of)
        lower, upper, waits = 0, 0, 0
        for leader in range(k):
            team = led_by(leader, team_of)
            alone, known = np.int64(0), np.int64(0)
            for i in team:
                alone += distance[i, starts[i]]
                known += lengths[row, order[i]] - distance[i, starts[i]]
            lower += alone
            upper += alone
            if known == 0:
                continue
            if joint_bits(m) * k > KEY_BITS:  # beyond the reach of the search
                upper, waits = upper + known, -1
                continue
            proven, waste, length = team_waste(
                team, starts, goals, m, adjacent, distance, cell_of, width, known, budgets, memo, codes, best
            )
            if length > 0:
                keep(team, order, cell_of, width, goals, m, best, length, moves[row], lengths[row])
            lower += proven
            upper += waste
            if not label or waste == 0:
                continue
            verdict = -1
            if proven == waste and waste % 2 == 1:
                verdict = 1  # on a grid an agent that never waits wastes an even number of steps
            elif proven == waste:
                steady = movement(STEADY, adjacent, m, goals, distance)
                proven, smooth, length = waste_by_floors(
                    team, starts, goals, m, adjacent, steady, waste, waste + 1, np.int64(0), budgets[:-1], memo, codes, best
                )
                if smooth == waste:
                    keep(team, order, cell_of, width, goals, m, best, length, moves[row], lengths[row])
                    verdict = 0
                elif proven > waste:
                    verdict = 1
            if verdict == 1 or waits == 0:
                waits = verdict
        costs[row, 0], costs[row, 1], needs_wait[row] = lower, upper, waits
