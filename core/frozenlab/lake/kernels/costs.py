"""The optimal sum of costs; apart from makespan.py, so that only those who ask for it wait for its compilation. Imports numba.

Costs are counted as *delay*: what a team spends over the sum of its agents' distances. A plan by prioritised planning is the upper bound.
Then comes Conflict-Based Search (the folder cbs), which settles nearly all boards that fit into its bitboards. What it leaves open goes to
a search with a rising bound on the delay, with exact tables of pairs of agents. Teams whose joint states do not fit a number are left to
ecbs.py.
"""

import numpy as np

from frozenlab.lake.kernels.cbs.bitboard import fits_bitboard
from frozenlab.lake.kernels.cbs.search import conflict_based_search
from frozenlab.lake.kernels.compiled import entry, inlined, kernel
from frozenlab.lake.kernels.graph import steps_from_start
from frozenlab.lake.kernels.joint_space import Scratch, search
from frozenlab.lake.kernels.limits import FAILED, FAR, FOUND, HORIZON, KEY_BITS, QUICK_NODES
from frozenlab.lake.kernels.moves import NO_WAIT, PARKING, from_starts, movement
from frozenlab.lake.kernels.prioritised import plan_by_priority
from frozenlab.lake.kernels.problem import agents_of, bits_per_agent, build_problem, count_bits, subset_of, write_plan


@kernel
def pair_delays(i, j, problem, model, from_start, most, out):
    """Exact least delay of agents i and j from every pair of vertices, without the other agents.

    Dijkstra back from both being parked, with a bucket for each delay.

    Args:
        from_start: ``[agent, vertex]`` least number of steps from an agent's start to a vertex.
        most: pairs of vertices get FAR if they need more delay, the delay on the way there from the starts included.
        out: ``[vertex of i, vertex of j]``, gets the delays.
    """
    m, goals = problem.m, problem.goals
    side = m + 1
    for a in range(side):
        for b in range(side):
            out[a, b] = FAR
    distance_i, distance_j = from_start[i, goals[i]], from_start[j, goals[j]]
    bucket = np.full(most + 1, -1, np.int64)
    levels = 1 + min(most, largest_delay(i, problem, model) + largest_delay(j, problem, model))  # a state is lowered at most so often
    entries = np.empty((levels * side * side + 1, 2), np.int64)  # state, next entry of its bucket
    out[m, m] = 0
    entries[0, 0] = m * side + m
    entries[0, 1] = -1
    bucket[0] = 0
    used = 1
    for delay in range(most + 1):
        while bucket[delay] >= 0:
            entry = bucket[delay]
            bucket[delay] = entries[entry, 1]
            a, b = entries[entry, 0] // side, entries[entry, 0] % side
            if out[a, b] < delay:
                continue
            cell_a = goals[i] if a == m else a
            cell_b = goals[j] if b == m else b
            for p in range(model.n_before[i, a]):
                a2 = model.before[i, a, p]
                cell_a2 = goals[i] if a2 == m else a2
                delay_a = 0 if a2 == m else 1 + model.least[i, a] - model.least[i, a2]
                so_far_a = 0 if a2 == m else from_start[i, a2] + model.least[i, a2] - distance_i
                if delay + delay_a + so_far_a > most:
                    continue
                for q in range(model.n_before[j, b]):
                    b2 = model.before[j, b, q]
                    cell_b2 = goals[j] if b2 == m else b2
                    total = delay + delay_a + (0 if b2 == m else 1 + model.least[j, b] - model.least[j, b2])
                    if out[a2, b2] <= total or cell_a2 == cell_b2 or (cell_a2 == cell_b and cell_b2 == cell_a):
                        continue
                    if total + so_far_a + (0 if b2 == m else from_start[j, b2] + model.least[j, b2] - distance_j) > most:
                        continue
                    out[a2, b2] = total
                    entries[used, 0] = a2 * side + b2
                    entries[used, 1] = bucket[total]
                    bucket[total] = used
                    used += 1


@kernel
def largest_delay(i, problem, model):
    """The largest delay that one step of agent i can add, where it can still reach its goal after it."""
    most = 0
    for a in range(problem.m):
        for n in range(model.n_after[i, a]):
            b = model.after[i, a, n]
            if model.least[i, b] < FAR:
                most = max(most, 1 + model.least[i, b] - model.least[i, a])
    return most


@kernel
def copy_plan(team, positions, length, best):
    """Copies a team's plan. (Assigning slices would make Numba compile the text of an error message, which takes seconds.)"""
    for t in range(length + 1):
        for i in team:
            best[t, i] = positions[t, i]


@kernel
def sum_of_bounds(mask, bounds):
    """A lower bound on the delay of the agents in ``mask``: the best sum over two disjoint parts of them."""
    most = 0
    part = (mask - 1) & mask
    while part > 0:
        most = max(most, bounds[part] + bounds[mask & ~part])
        part = (part - 1) & mask
    return most


@kernel
def delay_by_subsets(team, problem, model, at_least, known, known_length, budgets, scratch, best):
    """The least delay of ``team``, if it is from ``at_least`` on and below ``known``, the delay of a plan that is there already.

    The search with a rising bound, for subsets of the agents too: agents in disjoint subsets need at least the sum of their delays. Each
    round spends more nodes. Small subsets come first, as a subset's bound holds for all that contain it.

    Returns:
        (proven lower bound, delay of the best plan, its length in ``best``, or ``known_length`` if it is the known one)
    """
    starts = problem.starts
    k, m = team.shape[0], problem.m
    whole = (1 << k) - 1
    bounds = np.zeros(1 << k, np.int64)  # proven least delay of each subset
    exact = np.zeros(1 << k, np.bool_)
    bounds[whole] = at_least
    pairs = np.empty((0, 0, 0, 0), np.int16)
    for effort in budgets:
        worth_tables = 20 * effort > k * (k - 1) // 2 * m * m and effort > QUICK_NODES
        if worth_tables and pairs.shape[0] == 0:
            from_start = steps_from_start(team, problem)
            pairs = np.empty((starts.shape[0], starts.shape[0], m + 1, m + 1), np.int16)
            for q in range(k):
                for p in range(q):
                    i, j = team[p], team[q]
                    pair_delays(i, j, problem, model, from_start, known, pairs[i, j])
                    bounds[1 << p | 1 << q] = min(known, from_starts(i, j, problem, model, True, pairs[i, j]))
                    exact[1 << p | 1 << q] = k > 2
        for size in range(2, k + 1):
            for mask in range(1 << k):
                if count_bits(mask) != size or exact[mask] or (effort == QUICK_NODES and 2 < size < k):
                    continue
                bounds[mask] = max(bounds[mask], sum_of_bounds(mask, bounds))
                part = subset_of(team, mask)
                while bounds[mask] < known:
                    status, length = search(part, problem, model, pairs, True, bounds[mask], effort, scratch)
                    if status == FOUND:
                        exact[mask] = True
                        if mask == whole:
                            copy_plan(team, scratch.positions, length, best)
                            return bounds[mask], bounds[mask], length
                    if status != FAILED:
                        break
                    bounds[mask] += 1
                if bounds[mask] >= known:
                    return known, known, known_length
    return max(bounds[whole], sum_of_bounds(whole, bounds)), known, known_length


@kernel
def delay_by_priority(team, problem, known, positions, best):
    """The least delay, below ``known``, that prioritised planning finds, and the length of its plan in ``best``; else ``known`` and 0."""
    found = np.int64(0)
    for first in range(team.shape[0]):
        status, length, spare = plan_by_priority(team, first, problem, True, True, known - 1, positions)
        if status == FOUND:
            copy_plan(team, positions, length, best)
            known, found = known - 1 - spare, length
    return known, found


NODE_PRICE = 30
"""A node of Conflict-Based Search costs about as much as this many nodes of the depth-first search."""


@inlined
def least_delay(team, problem, known, budgets, scratch, best):
    """The least delay of ``team``, if it is below ``known``, the delay of a plan that is there already.

    Returns:
        (proven lower bound, delay of the best plan, its length in ``best``, or 0 if it is the known one)
    """
    delay, length = delay_by_priority(team, problem, known, scratch.positions, best)
    proven = np.int64(0)  # a plain 0 would have the callees compiled once more, for a literal
    if team.shape[0] > 2 and fits_bitboard(problem.cell_of.shape[0], problem.width):  # for two agents the depth-first search is quicker
        for effort in budgets[:-2]:
            if proven < delay:
                proven, delay, length = conflict_based_search(
                    team, problem, proven, delay, length, effort // NODE_PRICE, scratch.memo.nodes, best
                )
    if proven < delay:
        model = movement(PARKING, problem)
        proven, delay, length = delay_by_subsets(team, problem, model, proven, delay, length, budgets[:-1], scratch, best)
    return proven, delay, length


@entry("costs")
def least_costs(exits, width, start_cells, goal_cells, label, budgets, memo, costs, needs_wait, moves, lengths):
    """Optimal sums of costs of solvable boards of one shape and, with ``label``, whether their plans need a WAIT (WS).

    Args:
        exits, start_cells, goal_cells, budgets, memo: as in ``solve_boards``.
        costs: int64 ``[n, 2]``, gets a lower bound on the sum of costs and the cost of the plan, which is optimal if they are equal.
        needs_wait: int64 ``[n]``, gets 1, 0 or -1 for undecided if ``label``.
        moves, lengths: as in ``solve_boards``, hold some valid plan and get one of least costs. With ``label`` it waits before an arrival
            only where that is needed or not decided.
    """
    k = start_cells.shape[1]
    scratch, best = Scratch(memo, np.empty((HORIZON + 1, k), np.int16)), np.empty((HORIZON + 1, k), np.int16)
    for row in range(exits.shape[0]):
        problem = build_problem(exits[row], width, start_cells[row], goal_cells[row])
        lower, upper, waits = 0, 0, 0
        for component in range(k):
            team = agents_of(component, problem)
            distances, known = np.int64(0), np.int64(0)
            for i in team:
                distance = problem.distance[i, problem.starts[i]]
                distances += distance
                known += lengths[row, problem.order[i]] - distance
            lower += distances
            upper += distances
            if known == 0:
                continue
            if bits_per_agent(problem.m) * k > KEY_BITS:  # beyond the reach of the search
                upper, waits = upper + known, -1
                continue
            proven, delay, length = least_delay(team, problem, known, budgets, scratch, best)
            if length > 0:
                write_plan(team, problem, best, length, moves[row], lengths[row])
            lower += proven
            upper += delay
            if not label or delay == 0:
                continue
            verdict = -1
            if proven == delay and delay % 2 == 1:
                verdict = 1  # on a grid the delay of an agent that never waits is even
            elif proven == delay:
                no_wait = movement(NO_WAIT, problem)
                proven, without_wait, length = delay_by_subsets(
                    team, problem, no_wait, delay, delay + 1, np.int64(0), budgets[:-1], scratch, best
                )
                if without_wait == delay:
                    write_plan(team, problem, best, length, moves[row], lengths[row])
                    verdict = 0
                elif proven > delay:
                    verdict = 1
            if verdict == 1 or waits == 0:
                waits = verdict
        costs[row, 0], costs[row, 1], needs_wait[row] = lower, upper, waits
