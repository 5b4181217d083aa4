"""The search through the constraint tree, best bound first: lower bounds on the delay of a node, and its splits. Imports numba."""

import numpy as np

from frozenlab.lake.kernels.cbs.bitboard import BOARD_BITS, DE_BRUIJN, bit, cells_after, count, first, to_bitboards, without_first
from frozenlab.lake.kernels.cbs.mdd import build_mdd, conflict_within, may_step, mdd_conflict
from frozenlab.lake.kernels.cbs.tree import BARRED, LATER, NO_STEP, SETTLED, THROUGH, Constraints, Tree, collect_constraints
from frozenlab.lake.kernels.compiled import inlined, kernel


@kernel
def delay_of_pair(i, j, x, y, at_least, most, grid, constraints, two_mdds, joint):
    """The least delay of agents i and j together, from ``at_least`` on; more than ``most`` where it is above that.

    x and y are their least delays alone. The search follows a staircase: agents that do not conflict within some delays do not conflict
    within larger ones either.
    """
    if at_least > most:
        return at_least
    for part in range(x, at_least - y + 1):
        if conflict_within(i, j, part, at_least - part, grid, constraints, two_mdds, joint) < 0:
            return at_least
    part = x
    while most > at_least and part <= most - y:
        if conflict_within(i, j, part, most - part, grid, constraints, two_mdds, joint) < 0:
            most -= 1
        else:
            part += 1
    return max(at_least, most) + 1


@kernel
def wdg_bound(extra, most):
    """The WDG heuristic: the least total weight on the agents so that any two have at least ``extra[i, j]`` (i > j); cut off at ``most``.

    An edge-weighted minimum vertex cover of the weighted dependency graph, by branch and bound over the agents.
    """
    k = extra.shape[0]
    weight = np.zeros(k, np.int64)
    largest = np.zeros(k, np.int64)  # more than this is of no use, with the weights before
    spent, i = 0, 0
    forward = True
    while True:
        if forward:
            for j in range(i):
                weight[i] = max(weight[i], extra[i, j] - weight[j])
            largest[i] = weight[i]
            for j in range(i + 1, k):
                largest[i] = max(largest[i], extra[j, i])
        if weight[i] <= largest[i] and spent + weight[i] < most:
            forward = i < k - 1
            if forward:
                spent += weight[i]
                i += 1
                weight[i] = 0
                continue
            most = spent + weight[i]
        if i == 0:
            return most
        forward = False
        i -= 1
        spent -= weight[i]
        weight[i] += 1


@kernel
def node_bound(node, tree, most, grid, constraints, mdds, two_mdds, joint):
    """Raises the least delays of each agent and of pairs to what the constraints of a node ask for; fills ``mdds[agent]``.

    Returns:
        a lower bound on the delay of all agents together; more than ``most`` where it is above that
    """
    k = grid.starts.shape[0]
    delay, pair = tree.delay[node], tree.pair_delay[node]
    total = delay.sum()
    for i in range(k):
        while total <= most and not build_mdd(i, grid.distances[i] + delay[i], grid, constraints, mdds[i]):
            delay[i] += 1
            total += 1
    if total > most:
        return total
    changed = np.empty(k, np.bool_)
    for i in range(k):
        mdd_hash = np.int64(0)
        for t in range(1, grid.distances[i] + delay[i] + 1):
            mdd_hash = (mdd_hash * 31 + mdds[i, t, 0]) * DE_BRUIJN + mdds[i, t, 1]
        changed[i] = mdd_hash != tree.mdd_hash[node, i]
        tree.mdd_hash[node, i] = mdd_hash
    extra = np.zeros((k, k), np.int64)
    dependent = False
    for i in range(k):
        for j in range(i):
            alone = delay[i] + delay[j]
            if changed[i] or changed[j]:
                until = max(grid.distances[i] + delay[i], grid.distances[j] + delay[j])
                if pair[i, j] <= alone and mdd_conflict(i, j, until, mdds[i], mdds[j], grid, constraints, joint) < 0:
                    pair[i, j] = alone
                else:
                    pair[i, j] = delay_of_pair(
                        i, j, delay[i], delay[j], max(alone + 1, pair[i, j]), most - total + alone, grid, constraints, two_mdds, joint
                    )
            extra[i, j] = pair[i, j] - alone
            dependent |= extra[i, j] > 0
            if total + extra[i, j] > most:
                return total + extra[i, j]
    if not dependent:
        return total
    return total + wdg_bound(extra, most - total + 1)


@kernel
def choose_paths(end, grid, constraints, mdds, paths, conflicts_from, next_cell):
    """Chooses a path within the MDDs for each agent in turn that conflicts least with those before: ``paths[agent, time]``.

    ``conflicts_from[time, cell]`` and ``next_cell[time, cell]`` are scratch: the conflicts from a cell on, and the best next cell.

    Returns:
        the number of conflicts left
    """
    conflicts = 0
    for i in range(grid.starts.shape[0]):
        for t in range(end, -1, -1):
            low, high = mdds[i, t, 0], mdds[i, t, 1]
            while low or high:
                a = first(low, high)
                low, high = without_first(low, high)
                here = 0
                for j in range(i):
                    here += paths[j, t] == a
                if t == end:
                    conflicts_from[t, a] = here
                    continue
                best = 1 << 30
                on_low, on_high = bit(a)
                on_low, on_high = cells_after(on_low, on_high, grid)
                on_low &= mdds[i, t + 1, 0]
                on_high &= mdds[i, t + 1, 1]
                while on_low or on_high:
                    b = first(on_low, on_high)
                    on_low, on_high = without_first(on_low, on_high)
                    if not may_step(i, t + 1, a, b, constraints):
                        continue
                    cost = conflicts_from[t + 1, b]
                    for j in range(i):
                        cost += a != b and paths[j, t] == b and paths[j, t + 1] == a
                    if cost < best:
                        best = cost
                        next_cell[t, a] = b
                conflicts_from[t, a] = best + here
        a = grid.starts[i]
        conflicts += conflicts_from[0, a]
        paths[i, 0] = a
        for t in range(end):
            a = next_cell[t, a]
            paths[i, t + 1] = a
    return conflicts


@kernel
def worst_pair(node, tree):
    """The agents i > j with the largest gap between their least delay together and the sum of their own; i = j if there are none."""
    most, best_i, best_j = 0, 0, 0
    for i in range(tree.delay.shape[1]):
        for j in range(i):
            gap = tree.pair_delay[node, i, j] - tree.delay[node, i] - tree.delay[node, j]
            if gap > most:
                most, best_i, best_j = gap, i, j
    return best_i, best_j


@kernel
def split_at_pair(i, j, x, y, gap, spare, grid, constraints, two_mdds, joint, out):
    """Writes into ``out`` the two constraints that split a node whose agents i and j need ``gap`` more delay together than x and y alone.

    x and y are raised, by at most ``spare``, as long as the MDDs of the agents conflict: then one of the agents needs more delay. All its
    paths up to the time of the conflict lie in its MDD, so that even with more delay later it cannot be there.
    """
    most_x, most_y = x + spare, y + spare
    x += (gap - 1) // 2
    y += gap // 2
    grow_x, grow_y = True, True
    while grow_x or grow_y:
        grow_y = grow_y and y < most_y and conflict_within(i, j, x, y + 1, grid, constraints, two_mdds, joint) >= 0
        y += grow_y
        grow_x = grow_x and x < most_x and conflict_within(i, j, x + 1, y, grid, constraints, two_mdds, joint) >= 0
        x += grow_x
    t = conflict_within(i, j, x, y, grid, constraints, two_mdds, joint)
    for n in range(2):
        agent, until = (i, grid.distances[i] + x) if n == 0 else (j, grid.distances[j] + y)
        until = min(until, constraints.latest[agent])
        out[n, 0], out[n, 1], out[n, 2] = BARRED, agent, t
        out[n, 3], out[n, 4] = two_mdds[n, min(t, until), 0], two_mdds[n, min(t, until), 1]
        if t > until:
            out[n, 0], out[n, 2] = LATER, until


@kernel
def split_at_conflict(node, end, tree, grid, mdds, paths, out):
    """Writes into ``out`` the two constraints that split a node at a conflict of its paths: the one where the MDDs are narrowest."""
    k = grid.starts.shape[0]
    best = 1 << 30
    for t in range(1, end + 1):
        for i in range(k):
            for j in range(i):
                if paths[i, t] == paths[j, t]:
                    wide_i, wide_j = count(mdds[i, t, 0], mdds[i, t, 1]), count(mdds[j, t, 0], mdds[j, t, 1])
                    if min(wide_i, wide_j) >= best:
                        continue
                    best = min(wide_i, wide_j)
                    agent = i if wide_i <= wide_j else j
                    out[0, 0], out[1, 0] = BARRED, THROUGH
                    for n in range(2):
                        out[n, 1], out[n, 2] = agent, t
                        out[n, 3], out[n, 4] = bit(paths[i, t])
                    if t > grid.distances[agent] + tree.delay[node, agent]:
                        out[0, 0], out[1, 0] = LATER, SETTLED
                elif paths[i, t] == paths[j, t - 1] and paths[i, t - 1] == paths[j, t]:
                    wide = count(mdds[i, t, 0], mdds[i, t, 1]) + count(mdds[j, t, 0], mdds[j, t, 1])
                    if wide >= best:
                        continue
                    best = wide
                    for n in range(2):
                        agent = i if n == 0 else j
                        out[n, 0], out[n, 1], out[n, 2] = NO_STEP, agent, t
                        out[n, 3], out[n, 4] = paths[agent, t - 1], paths[agent, t]


@inlined
def conflict_based_search(team, problem, at_least, known, known_length, budget, nodes, best):
    """The least delay of ``team``, if it is from ``at_least`` on and below ``known``, the delay of a plan that is there already.

    Args:
        budget: most nodes of the tree to expand; they are counted in ``nodes[0]``.
        best: ``[time, agent]``, gets the vertices of a better plan.

    Returns:
        (proven lower bound, delay of the best plan, its length in ``best``, or ``known_length`` if it is the known one)
    """
    k = team.shape[0]
    horizon = known
    for i in team:
        horizon = max(horizon, known + problem.distance[i, problem.starts[i]])
    bit_of = np.empty(problem.m, np.int64)
    grid = to_bitboards(team, problem, horizon, bit_of)
    size = 2 * budget + 2
    tree = Tree(
        np.empty(size, np.int64),
        np.empty((size, 5), np.int64),
        np.empty((size, k), np.int64),
        np.empty((size, k, k), np.int64),
        np.empty((size, k), np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )
    constraints = Constraints(
        np.empty((k, horizon + 1, 2), np.int64),
        np.empty((k, budget + 1, 3), np.int64),
        np.empty(k, np.int64),
        np.empty(k, np.int64),
        np.empty(k, np.int64),
    )
    mdds = np.empty((k, horizon + 1, 2), np.int64)
    two_mdds = np.empty((2, horizon + 1, 2), np.int64)
    joint = np.empty((2, BOARD_BITS, 2), np.int64)
    paths = np.empty((k, horizon + 1), np.int64)
    conflicts_from = np.empty((horizon + 1, BOARD_BITS), np.int64)
    next_cell = np.empty((horizon + 1, BOARD_BITS), np.int64)
    split = np.empty((2, 5), np.int64)
    open_nodes = np.full(known + 1, -1, np.int64)
    tree.parent[0] = -1
    tree.delay[0] = 0
    tree.pair_delay[0] = 0
    tree.mdd_hash[0] = 0
    tree.bound[0] = at_least
    tree.following[0] = -1
    open_nodes[at_least] = 0
    used = 1
    least = at_least
    for _ in range(budget):
        while least < known and open_nodes[least] < 0:
            least += 1
        if least == known:
            break
        nodes[0] += 1
        node = open_nodes[least]
        open_nodes[least] = tree.following[node]
        collect_constraints(node, tree, grid, constraints)
        lower = node_bound(node, tree, known - 1, grid, constraints, mdds, two_mdds, joint)
        if lower > least:
            if lower < known:
                tree.bound[node] = lower
                tree.following[node] = open_nodes[lower]
                open_nodes[lower] = node
            continue
        i, j = worst_pair(node, tree)
        if i != j:
            x, y = tree.delay[node, i], tree.delay[node, j]
            gap, spare = tree.pair_delay[node, i, j] - x - y, known - 1
            for p in range(k):
                spare -= tree.delay[node, p]
            split_at_pair(i, j, x, y, gap, spare, grid, constraints, two_mdds, joint, split)
        else:
            end = np.int64(0)
            for p in range(k):
                end = max(end, grid.distances[p] + tree.delay[node, p])
            if choose_paths(end, grid, constraints, mdds, paths, conflicts_from, next_cell) == 0:
                vertex_at = np.empty(BOARD_BITS, np.int64)
                for vertex in range(problem.m):
                    vertex_at[bit_of[vertex]] = vertex
                for t in range(end + 1):
                    for p in range(k):
                        best[t, team[p]] = vertex_at[paths[p, t]]
                return least, least, end
            split_at_conflict(node, end, tree, grid, mdds, paths, split)
        for n in range(2):
            tree.parent[used] = node
            for q in range(split.shape[1]):
                tree.constraint[used, q] = split[n, q]
            for p in range(k):
                tree.delay[used, p], tree.mdd_hash[used, p] = tree.delay[node, p], tree.mdd_hash[node, p]
                for q in range(k):
                    tree.pair_delay[used, p, q] = tree.pair_delay[node, p, q]
            tree.bound[used] = least
            tree.following[used] = open_nodes[least]
            open_nodes[least] = used
            used += 1
    while least < known and open_nodes[least] < 0:
        least += 1
    return least, known, known_length
