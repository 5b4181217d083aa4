"""Choosing the paths of a node, and splitting it at a conflict. Imports numba."""

from frozenlab.lake.kernels.cbs.bitboard import bit, cells_after, count, first, without_first
from frozenlab.lake.kernels.cbs.mdd import conflict_within, may_step
from frozenlab.lake.kernels.cbs.tree import BARRED, LATER, NO_STEP, SETTLED, THROUGH
from frozenlab.lake.kernels.compiled import kernel


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
