"""The optimal makespan of a board and the certificate of ``needs_wait``; proofs that there is no solution. Imports numba.

Importing this module compiles (or loads from the cache) every kernel it needs, so import it only where boards are solved.

Plans come from prioritised planning and from a depth-first search with a rising bound (joint_space.py). Lower bounds come from subsets of
the agents (if three cannot do it in time, neither can five) and from exact tables of all pairs of agents. Joint spaces that resist and are
small enough are enumerated, which also proves that a board has no solution. Boards that are too large for joint states get what prioritised
planning finds (prioritised.py).
"""

import numpy as np
from numba import types

from frozenlab.lake.kernels.compiled import entry, inlined, kernel, kernel_of
from frozenlab.lake.kernels.graph import steps_from_start
from frozenlab.lake.kernels.joint_space import SCRATCH, Scratch, enumerate_joint_space, search
from frozenlab.lake.kernels.limits import (
    FAILED,
    FAR,
    FOUND,
    GAVE_UP,
    HORIZON,
    KEY_BITS,
    LARGE_SPACE,
    PATIENCE,
    QUICK_NODES,
    SMALL_SPACE,
    SOLVED,
    UNDECIDED,
    UNSOLVABLE,
)
from frozenlab.lake.kernels.moves import FREE, MODEL, NO_WAIT, from_starts, movement
from frozenlab.lake.kernels.prioritised import plan_by_priority
from frozenlab.lake.kernels.problem import PROBLEM, agents_of, bits_per_agent, build_problem, count_bits, subset_of, vertices_of, write_plan


@kernel_of(types.UniTuple(types.int64, 2)(types.int64[::1], PROBLEM, MODEL, types.boolean, types.int64, types.int64[::1], SCRATCH))
def quick_search(team, problem, model, waits, bound, known, scratch):
    """A first search for a plan of ``team`` within ``bound`` steps: few nodes, no tables; returns what :func:`search` does.

    The whole team comes first, as most boards have a plan at once; then its pairs and triples, as most bounds that are too low are too
    low for two or three agents already. ``known[mask]`` is the least bound so far at which a plan of that subset was found (FAR: none);
    it is read and updated.
    """
    no_pairs = np.empty((0, 0, 0, 0), np.int16)
    k = team.shape[0]
    for effort in (QUICK_NODES, 10 * QUICK_NODES):
        outcome = search(team, problem, model, no_pairs, False, bound, effort, scratch)
        if outcome[0] != GAVE_UP:
            return outcome
        if effort == QUICK_NODES:
            for first in range(k):
                status, length, _ = plan_by_priority(team, first, problem, waits, False, bound, scratch.positions)
                if status == FOUND:
                    return FOUND, length
        for size in range(2, min(k, 4)):
            for mask in range(1 << k):
                if count_bits(mask) != size or known[mask] <= bound:
                    continue
                status, _ = search(subset_of(team, mask), problem, model, no_pairs, False, bound, effort, scratch)
                if status == FAILED:
                    return FAILED, 0
                if status == FOUND:
                    known[mask] = bound
    return GAVE_UP, 0


@kernel
def search_within(team, problem, model, pairs, bound, budgets, known, scratch):
    """Looks for a plan of ``team`` within ``bound`` with rising effort, small subsets first; returns what :func:`search` does."""
    k = team.shape[0]
    for effort in budgets:
        for size in range(3, k + 1):
            for mask in range(1 << k):
                if count_bits(mask) != size or known[mask] <= bound:
                    continue
                status, length = search(subset_of(team, mask), problem, model, pairs, False, bound, effort, scratch)
                if status == FAILED or (size == k and status == FOUND):
                    return status, length
                if status == FOUND:
                    known[mask] = bound
    return GAVE_UP, 0


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
def largest_pair_bound(team, problem, model, pairs):
    """The largest of the pairs' bounds from the starts."""
    most = 0
    for q in range(team.shape[0]):
        for p in range(q):
            i, j = team[p], team[q]
            most = max(most, from_starts(i, j, problem, model, False, pairs[i, j]))
    return most


@inlined
def least_makespan(team, problem, model, at_least, budgets, scratch):
    """The least makespan from ``at_least`` on with which ``team``, all in one component, has a plan.

    Returns:
        (SOLVED | UNSOLVABLE | UNDECIDED, makespan, length of the plan in ``scratch.positions``)
    """
    memo = scratch.memo
    bound = at_least
    k = team.shape[0]
    known = np.empty(1 << k, np.int64)
    known[:] = FAR
    status, length = GAVE_UP, 0
    for bound in range(at_least, at_least + PATIENCE):
        status, length = quick_search(team, problem, model, True, bound, known, scratch)
        if status != FAILED:
            break
    if status == FOUND:
        return SOLVED, bound, length
    cells = vertices_of(team, problem).shape[0]
    if float(cells) ** k <= SMALL_SPACE:
        status, length = enumerate_joint_space(team, problem, model, scratch.positions)
        return status, max(bound, length), length

    from_start = steps_from_start(team, problem)
    for limit in (bound + PATIENCE, HORIZON - 1):
        pairs = all_pairs(team, problem, model, from_start, limit, False)
        pair_bound = np.int64(largest_pair_bound(team, problem, model, pairs))
        if pair_bound >= FAR and limit == HORIZON - 1:
            return UNSOLVABLE, 0, 0
        bound = max(bound, min(limit + 1, pair_bound))
        status = FAILED
        before = memo.nodes[0]
        while bound <= limit and status == FAILED and memo.nodes[0] - before < 4 * budgets[-2]:
            status, length = search_within(team, problem, model, pairs, bound, budgets[1:-1], known, scratch)
            bound += status == FAILED
        if status == FOUND:
            return SOLVED, bound, length
        if limit == HORIZON - 1:
            break
        if float(cells) ** k <= LARGE_SPACE:
            status, length = enumerate_joint_space(team, problem, model, scratch.positions)
            return status, max(bound, length), length
        for size in range(3, k + 1):
            if float(cells) ** size > budgets[-1]:
                break
            for mask in range(1 << k):
                if count_bits(mask) != size or known[mask] <= bound:
                    continue
                status, length = enumerate_joint_space(subset_of(team, mask), problem, model, scratch.positions)
                if status == UNSOLVABLE:
                    return UNSOLVABLE, 0, 0
                bound = max(bound, length)
                known[mask] = length
                if size == k:
                    return SOLVED, bound, length
    return UNDECIDED, 0, 0


@inlined
def search_without_waits(team, problem, model, bound, budgets, scratch):
    """Looks for a plan of ``team`` within ``bound`` steps in which no agent waits before arriving; returns what :func:`search` does."""
    known = np.empty(1 << team.shape[0], np.int64)
    known[:] = FAR
    outcome = quick_search(team, problem, model, False, bound, known, scratch)
    if outcome[0] != GAVE_UP:
        return outcome
    pairs = all_pairs(team, problem, model, steps_from_start(team, problem), bound, True)
    if largest_pair_bound(team, problem, model, pairs) > bound:
        return FAILED, 0
    return search_within(team, problem, model, pairs, bound, budgets[1:-1], known, scratch)


@inlined
def solve_board(exits, width, start_cells, goal_cells, budgets, scratch, moves, lengths):
    """Optimal makespan, ``needs_wait`` and a plan of one board.

    Args:
        exits, start_cells, goal_cells: as in :func:`build_problem`.
        budgets: BUDGET_BULK or BUDGET_FULL.
        moves: uint8 ``[agent, HORIZON]``, gets the letters of the plan; ``lengths``: int64 ``[agent]``, how many of them each agent has.

    Returns:
        (SOLVED | UNSOLVABLE | UNDECIDED, makespan, needs_wait as 1, 0 or -1 for undecided, sum of the agents' distances). The plan waits
        before an arrival only where ``needs_wait`` is not 0.
    """
    positions = scratch.positions
    problem = build_problem(exits, width, start_cells, goal_cells)
    k = start_cells.shape[0]
    if problem.m < 0:
        return UNSOLVABLE, 0, 0, 0
    if bits_per_agent(problem.m) * k > KEY_BITS:
        return UNDECIDED, 0, -1, 0

    bound = np.int64(problem.distance[0, problem.starts[0]])
    distances = 0
    everybody = np.empty(k, np.int64)
    for i in range(k):
        everybody[i] = i
        distances += problem.distance[i, problem.starts[i]]
    for first in (0, k - 1):
        status, length, _ = plan_by_priority(everybody, first, problem, False, True, 0, positions)
        if status == FOUND:  # everybody on a shortest path: best in every respect
            write_plan(everybody, problem, positions, length, moves, lengths)
            return SOLVED, bound, 0, distances

    no_wait = movement(NO_WAIT, problem)
    no_pairs = np.empty((0, 0, 0, 0), np.int16)
    for by_delay in (True, False):  # all agents on shortest paths; or at least none waiting and none late
        status = FOUND
        for component in range(k):
            team = agents_of(component, problem)
            if team.shape[0] > 0 and status == FOUND:
                most = 0 if by_delay else bound
                status, length = search(team, problem, no_wait, no_pairs, by_delay, most, QUICK_NODES, scratch)
                if status == FOUND:
                    write_plan(team, problem, positions, length, moves, lengths)
        if status == FOUND:
            return SOLVED, bound, 0, distances

    model = movement(FREE, problem)
    undecided = False
    for component in range(k):
        team = agents_of(component, problem)
        if team.shape[0] == 0:
            continue
        status, makespan, length = least_makespan(team, problem, model, bound, budgets, scratch)
        if status == UNSOLVABLE:
            return UNSOLVABLE, 0, 0, 0
        if status == UNDECIDED:
            undecided = True
        else:
            bound = makespan
            write_plan(team, problem, positions, length, moves, lengths)
    if undecided:
        return UNDECIDED, 0, -1, 0

    needs_wait = 0
    for component in range(k):
        team = agents_of(component, problem)
        if team.shape[0] == 0:
            continue
        status, length = search_without_waits(team, problem, no_wait, bound, budgets, scratch)
        if status == FOUND:
            write_plan(team, problem, positions, length, moves, lengths)
        elif status == FAILED:
            needs_wait = 1
        elif needs_wait == 0:
            needs_wait = -1
    return SOLVED, bound, needs_wait, distances


@entry("solver")
def solve_boards(exits, width, starts, goals, budgets, memo, statuses, makespans, needs_wait, moves, lengths):
    """:func:`solve_board` for boards of one shape, one a row.

    Args:
        statuses: int64 ``[n]``, gets SOLVED, UNSOLVABLE or UNDECIDED.
        makespans: int64 ``[n, 3]``, gets the makespan twice (it is its own lower bound) and the sum of the agents' distances.
        needs_wait: int64 ``[n]``, gets 1, 0 or -1 for undecided.
    """
    scratch = Scratch(memo, np.empty((HORIZON + 1, starts.shape[1]), np.int16))
    for row in range(exits.shape[0]):
        status, makespan, waits, distances = solve_board(
            exits[row], width, starts[row], goals[row], budgets, scratch, moves[row], lengths[row]
        )
        statuses[row], needs_wait[row] = status, waits
        makespans[row, 0], makespans[row, 1], makespans[row, 2] = makespan, makespan, distances
