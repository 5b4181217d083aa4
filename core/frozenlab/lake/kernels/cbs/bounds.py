"""Lower bounds on the delay of a node: of each agent, of pairs, and of all by the WDG heuristic. Imports numba."""

import numpy as np

from frozenlab.lake.kernels.cbs.bitboard import DE_BRUIJN
from frozenlab.lake.kernels.cbs.mdd import build_mdd, conflict_within, mdd_conflict
from frozenlab.lake.kernels.compiled import kernel


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
