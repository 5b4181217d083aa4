"""The search through the constraint tree, best bound first. Imports numba."""

import numpy as np

from frozenlab.lake.kernels.cbs.bitboard import BOARD_BITS, to_bitboards
from frozenlab.lake.kernels.cbs.bounds import node_bound
from frozenlab.lake.kernels.cbs.splits import choose_paths, split_at_conflict, split_at_pair, worst_pair
from frozenlab.lake.kernels.cbs.tree import Constraints, Tree, collect_constraints
from frozenlab.lake.kernels.compiled import inlined


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
