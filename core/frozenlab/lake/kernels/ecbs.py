"""Conflict-Based Search for boards and teams of any size, optimal or within a factor of that: CBS (Sharon, Stern, Felner and Sturtevant
2015) and ECBS (Barer, Sharon, Stern and Felner 2014). Imports numba.

The folder cbs is the quicker one for boards that fit its bitboards. Here paths come from paths.py. A node of the constraint tree is chosen
from *focal*, the nodes that cost at most ``factor`` times the lower bound: the one with the fewest conflicts. An agent's path is the one
with the fewest conflicts among those within ``factor`` of its shortest. With a factor of 1 that is CBS, whose lower bound counts disjoint
pairs of agents in *cardinal* conflicts (ICBS, Boyarski et al. 2015; CG heuristic, Felner et al. 2018), and which splits disjointly (Li et
al. 2019). Both bypass conflicts (Boyarski et al. 2015) and reason about targets (Li et al. 2021). kernels/cbs/tree.py has the constraints.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.kernels.cbs.tree import BARRED, LATER, NO_STEP, SETTLED, THROUGH
from frozenlab.lake.kernels.compiled import entry, kernel, light_kernel
from frozenlab.lake.kernels.crowd import CHOICES, NOBODY, choice
from frozenlab.lake.kernels.limits import DONE, FULL, GOING_ON, IMPROVED
from frozenlab.lake.kernels.paths import (
    CAREFUL,
    DELAYS,
    EMPTY,
    NEVER,
    NO_ROOM,
    SOON,
    add_to_traffic,
    find_path,
    may_step,
    put,
    step_key,
    write_path,
)

COUNTERS = 11
OPEN, WAITING, FOCAL, NODES, PATHS, POOL, STAMP, TURN, BEST, BOUND, CUT = map(np.int64, range(COUNTERS))
"""Sizes of the three heaps; nodes, paths, and vertices of paths; the last mark of ``seen``; nodes expanded; the node of the best plan, or
-1; the lower bound; the least that a plan costs in what is left out for good: nodes with a plan, and those of which an agent might
have a path with DELAYS or more (NEVER: none)."""
NODE_BITS, MINOR_BITS = 22, 16  # which leaves 25 for the larger figure: 1,000 agents cost up to 30 million
LAST_NODE, MOST_MINOR = (1 << NODE_BITS) - 1, (1 << MINOR_BITS) - 1
ROOT = np.int64(0)
DEEPEST = 4_000
"""Constraints of a node at most."""
SWEEP = 8
"""With a factor above 1, one of so many nodes is the one of the least bound, so that the bound rises."""
MEET, REST, SWAP = 0, 1, 2
"""Kinds of conflicts: two agents come to a vertex; one comes to a vertex where another has arrived before; two change places."""


class Tree(NamedTuple):
    """The constraint tree, one node a row."""

    counters: NDArray[np.int64]
    parent: NDArray[np.int32]
    constraint: NDArray[np.int64]
    """``[node, 5]`` kind, agent, time, vertex, the vertex before."""
    depth: NDArray[np.int32]
    ways: NDArray[np.int32]
    """``[node, agent]`` the number of the agent's path."""
    cost: NDArray[np.int64]
    least: NDArray[np.int64]
    """``[node]`` the sum of the agents' least arrivals under its constraints."""
    bound: NDArray[np.int64]
    conflicts: NDArray[np.int64]
    expanded: NDArray[np.uint8]
    heaps: NDArray[np.int64]
    """``[OPEN, WAITING or FOCAL, place]`` two figures of a node and its number: bound and conflicts; cost or bound; conflicts and cost."""
    path: NDArray[np.int64]
    """``[path, 3]`` its place in the pool, its length, and the least length that the agent could have."""
    pool: NDArray[np.int32]
    """The vertices of all paths."""
    single: NDArray[np.uint8]
    """Whether all paths of the least length are at that vertex then."""
    seen: NDArray[np.int64]
    """``[2, vertex]`` marks of who was there last at an even and at an odd time."""
    owner: NDArray[np.int32]
    """``[vertex]`` the agent whose goal it is, or NOBODY."""
    paired: NDArray[np.bool_]
    """``[agent]`` whether it is in one of the disjoint pairs."""
    conflict: NDArray[np.int64]
    """Kind, two agents, time, vertex, the vertex of the first one before: the conflict to split on."""


def new_tree(agents: int, vertices: int, goals: NDArray[np.int64], nodes: int, pool: int) -> Tree:
    """Room for ``nodes`` nodes, and for ``pool`` vertices of their paths."""
    owner = np.full(vertices, NOBODY, np.int32)
    owner[goals] = np.arange(agents)
    counters = np.zeros(COUNTERS, np.int64)
    counters[BEST], counters[CUT] = -1, NEVER
    cost, least, bound, conflicts = (np.empty(nodes, np.int64) for _ in range(4))
    return Tree(
        counters, np.empty(nodes, np.int32), np.empty((nodes, 5), np.int64), np.empty(nodes, np.int32), np.empty((nodes, agents), np.int32),
        cost, least, bound, conflicts, np.empty(nodes, np.uint8), np.empty((3, nodes), np.int64),
        np.empty((2 * nodes + agents, 3), np.int64), np.empty(pool, np.int32), np.empty(pool, np.uint8),
        np.zeros((2, vertices), np.int64), owner, np.empty(agents, np.bool_), np.zeros(6, np.int64),
    )  # fmt: skip


@light_kernel
def push(heap, major, minor, node, tree):
    """Puts a node into a heap, by two figures; of equal ones the newest comes first."""
    place, keys = tree.counters[heap], tree.heaps[heap]
    tree.counters[heap] += 1
    key = (major << (MINOR_BITS + NODE_BITS)) | (min(minor, MOST_MINOR) << NODE_BITS) | (LAST_NODE - node)
    while place > 0 and keys[(place - 1) // 2] > key:
        keys[place] = keys[(place - 1) // 2]
        place = (place - 1) // 2
    keys[place] = key


@light_kernel
def pop(heap, tree):
    """Takes the first node out of a heap."""
    keys = tree.heaps[heap]
    tree.counters[heap] -= 1
    n, place = tree.counters[heap], 0
    key = keys[n]
    while 2 * place + 1 < n:
        lower = 2 * place + 1
        if lower + 1 < n and keys[lower + 1] < keys[lower]:
            lower += 1
        if keys[lower] >= key:
            break
        keys[place] = keys[lower]
        place = lower
    keys[place] = key


@light_kernel
def top(heap, tree):
    """The first node of a heap that is not expanded; -1 if there is none."""
    while tree.counters[heap] > 0:
        node = LAST_NODE - (tree.heaps[heap, 0] & LAST_NODE)
        if not tree.expanded[node]:
            return node
        pop(heap, tree)
    return np.int64(-1)


@light_kernel
def at(path, t, tree):
    """The vertex of a path at a time."""
    return np.int64(tree.pool[tree.path[path, 0] + min(t, tree.path[path, 1])])


@light_kernel
def is_single(path, t, tree):
    """Whether all shortest paths of the agent are there at that time."""
    return t <= tree.path[path, 1] and tree.single[tree.path[path, 0] + t] == 1


@light_kernel
def violates(j, path, constraint, crowd, tree):
    """Whether a path of agent j breaks a constraint."""
    kind, i, t, vertex, before = constraint
    if kind == BARRED:
        return i == j and at(path, t, tree) == vertex
    if kind == NO_STEP:
        return i == j and at(path, t, tree) == vertex and at(path, t - 1, tree) == before
    if kind == THROUGH:
        return (at(path, t, tree) == vertex) != (i == j)
    if kind == LATER:
        return i == j and tree.path[path, 1] <= t
    if i == j:
        return tree.path[path, 1] > t
    for later in range(t, tree.path[path, 1] + 1):  # noqa: SIM110, Numba has no any() of a generator
        if at(path, later, tree) == crowd.goals[i]:
            return True
    return False


@light_kernel
def set_constraints(j, node, crowd, tree, finder):
    """Tells the finder what agent j may not do at a node; returns (the least and the largest time of its arrival for good)."""
    m, goal = crowd.cell_of.shape[0], crowd.goals[j]
    earliest, latest = np.int64(0), np.int64(NEVER)
    finder.barred.keys[:] = EMPTY
    while node > 0:
        kind, i, t, vertex, before = tree.constraint[node]
        if (kind == BARRED and i == j) or (kind == THROUGH and i != j):
            put(step_key(t, m, vertex, m), i, finder.barred)
            if vertex == goal:
                earliest = max(earliest, t + 1)
        elif kind == NO_STEP and i == j:
            put(step_key(t, before, vertex, m), i, finder.barred)
        elif kind == THROUGH:
            finder.must[t] = vertex
            if vertex != goal:
                earliest = max(earliest, t + 1)
        elif kind == LATER and i == j:
            earliest = max(earliest, t + 1)
        elif kind == SETTLED and i == j:
            latest = min(latest, t)
        elif kind == SETTLED:
            finder.shut[crowd.goals[i]] = min(t, finder.shut[crowd.goals[i]])
        node = tree.parent[node]
    return earliest, latest


@light_kernel
def clear_constraints(node, crowd, tree, finder):
    while node > 0:
        finder.must[tree.constraint[node, 2]] = NOBODY
        finder.shut[crowd.goals[tree.constraint[node, 1]]] = NEVER
        node = tree.parent[node]


@light_kernel
def mark_single(j, arrival, crowd, finder, single):
    """Writes for each time whether all paths of agent j that arrive at that time, the least, are at one vertex; where there is no room to
    find out, that they are not."""
    base, distance, goal = np.int64(crowd.distance[j, crowd.starts[j]]), crowd.distance[j], crowd.goals[j]
    begins = finder.begins
    finder.searches[0] += 2
    reached, alive = finder.searches[0] - 1, finder.searches[0]
    finder.node[0, 0] = crowd.starts[j]
    begins[0], begins[1] = 0, 1
    n = 1
    for t in range(arrival):
        for now in range(begins[t], begins[t + 1]):
            if n + CHOICES > finder.node.shape[0]:
                single[:] = 0
                return
            here = np.int64(finder.node[now, 0])
            for direction in range(CHOICES):
                there = choice(j, here, direction, crowd)
                if there < 0:
                    continue
                delay = t + 1 + distance[there] - base
                if delay <= arrival - base and finder.marks[there, delay] != reached and may_step(t + 1, here, there, finder):
                    finder.marks[there, delay] = reached
                    finder.node[n, 0] = there
                    n += 1
        begins[t + 2] = n
    finder.marks[goal, arrival - base] = alive
    single[arrival] = 1
    for t in range(arrival - 1, -1, -1):
        living = 0
        for now in range(begins[t], begins[t + 1]):
            here = np.int64(finder.node[now, 0])
            for direction in range(CHOICES):
                there = choice(j, here, direction, crowd)
                if there < 0:
                    continue
                delay = t + 1 + distance[there] - base
                if delay <= arrival - base and finder.marks[there, delay] == alive and may_step(t + 1, here, there, finder):
                    finder.marks[here, t + distance[here] - base] = alive
                    living += 1
                    break
        single[t] = living == 1


@light_kernel
def plan_agent(j, node, factor, until, crowd, tree, traffic, finder):
    """Gives agent j a path at a node; returns whether there is one. What it leaves out, long paths or all for want of room, is noted."""
    earliest, latest = set_constraints(j, node, crowd, tree, finder)
    base = np.int64(crowd.distance[j, crowd.starts[j]])
    most = min(np.int64(DELAYS - 1), latest - base)
    last = np.int64(-1)
    if most >= 0:
        last = find_path(j, crowd, traffic, finder, SOON, earliest, most, until)
    if last == NO_ROOM or (last < 0 and latest - base >= DELAYS):
        rest = tree.least[node] - tree.path[tree.ways[node, j], 2] if node > 0 else 0
        tree.counters[CUT] = min(tree.counters[CUT], rest + base + (0 if last == NO_ROOM else DELAYS))
    if last >= 0:
        least = np.int64(finder.node[last, 1])
        allowed = min(most, np.int64(factor * least + 1e-9) - base)
        careful = find_path(j, crowd, traffic, finder, CAREFUL, earliest, allowed, until)
        path, first = tree.counters[PATHS], tree.counters[POOL]
        if careful < 0:  # no room to be careful
            careful = find_path(j, crowd, traffic, finder, SOON, earliest, most, until)
        length = write_path(careful, finder, tree.pool[first:])
        tree.path[path, 0], tree.path[path, 1], tree.path[path, 2] = first, length, least
        if factor == 1.0:
            mark_single(j, length, crowd, finder, tree.single[first : first + length + 1])
        else:
            tree.single[first : first + length + 1] = 0
        tree.counters[PATHS] += 1
        tree.counters[POOL] += length + 1
        tree.ways[node, j] = path
    clear_constraints(node, crowd, tree, finder)
    return last >= 0


@light_kernel
def assess(node, bound, crowd, tree):
    """Finds the conflicts of a node, and with them its bound; writes the one to split on: a cardinal one, else the first."""
    k, ways, seen = crowd.goals.shape[0], tree.ways[node], tree.seen
    cost, least, end = 0, 0, 0
    for i in range(k):
        cost += tree.path[ways[i], 1]
        least += tree.path[ways[i], 2]
        end = max(end, tree.path[ways[i], 1])
    paired = tree.paired
    paired[:] = False
    stamp = tree.counters[STAMP] + k
    tree.counters[STAMP] = stamp + (end + 1) * k
    conflicts, pairs, best = 0, 0, -1
    for t in range(end + 1):
        now, before = seen[t & 1], seen[(t + 1) & 1]
        for i in range(k):
            if t > tree.path[ways[i], 1]:
                continue
            there = at(ways[i], t, tree)
            mark = stamp + t * k
            kind, j = -1, np.int64(tree.owner[there])
            if j != NOBODY and j != i and tree.path[ways[j], 1] < t:
                kind = REST
            else:
                j = now[there] - mark
                if 0 <= j < k:
                    kind = MEET
                else:
                    now[there] = mark + i
                    here = at(ways[i], t - 1, tree) if t > 0 else there
                    j = before[there] - (mark - k)
                    if t > 0 and 0 <= j < i and at(ways[j], t, tree) == here:
                        kind = SWAP
            if kind < 0:
                continue
            conflicts += 1
            score = np.int64(is_single(ways[i], t, tree) and (kind != SWAP or is_single(ways[i], t - 1, tree)))
            score += kind == REST or (is_single(ways[j], t, tree) and (kind != SWAP or is_single(ways[j], t - 1, tree)))
            if score == 2 and not paired[i] and not paired[j]:
                paired[i] = paired[j] = True
                pairs += 1
            if score > best:
                best = score
                conflict = tree.conflict
                conflict[0], conflict[1], conflict[2], conflict[3], conflict[4] = kind, i, j, t, there
                conflict[5] = at(ways[i], max(t - 1, 0), tree)
    tree.cost[node], tree.least[node], tree.conflicts[node] = cost, least, conflicts
    tree.bound[node] = max(bound, least + (pairs if cost == least else 0))


@light_kernel
def write_splits(node, disjoint, tree, two):
    """Writes the two constraints that split a node at its conflict."""
    kind, i, j, t, vertex, before = tree.conflict
    two[:, 2], two[:, 3], two[:, 4] = t, vertex, before
    if kind == REST:
        two[0, 0], two[1, 0], two[0, 1], two[1, 1] = LATER, SETTLED, j, j
    elif kind == SWAP:
        two[:, 0], two[0, 1], two[1, 1] = NO_STEP, i, j
        two[1, 3], two[1, 4] = before, vertex
    elif disjoint:
        agent = i if is_single(tree.ways[node, i], t, tree) else j
        two[0, 0], two[1, 0], two[0, 1], two[1, 1] = BARRED, THROUGH, agent, agent
    else:
        two[:, 0], two[0, 1], two[1, 1] = BARRED, i, j


@kernel
def add_child(node, constraint, factor, crowd, tree, traffic, finder):
    """The node below another with one more constraint; -1 if an agent has no path any more."""
    new, paths, pool = tree.counters[NODES], tree.counters[PATHS], tree.counters[POOL]
    tree.parent[new], tree.depth[new], tree.expanded[new] = node, tree.depth[node] + 1, 0
    tree.constraint[new] = constraint
    tree.ways[new] = tree.ways[node]
    tree.least[new] = tree.least[node]
    for j in range(crowd.goals.shape[0]):
        if violates(j, tree.ways[new, j], constraint, crowd, tree):
            until = set_traffic(new, j, crowd, tree, traffic)
            if not plan_agent(j, new, factor, until, crowd, tree, traffic, finder):
                tree.counters[PATHS], tree.counters[POOL] = paths, pool
                return np.int64(-1)
    tree.counters[NODES] += 1
    assess(new, tree.bound[node], crowd, tree)
    return new


@light_kernel
def set_traffic(node, without, crowd, tree, traffic):
    """Replaces the traffic by that of a node but for one agent; returns the time from which nobody moves."""
    traffic.passing.keys[:] = EMPTY
    until = 0
    for i in range(crowd.goals.shape[0]):
        traffic.home[crowd.goals[i]] = NOBODY
    for i in range(crowd.goals.shape[0]):
        first, length, _ = tree.path[tree.ways[node, i]]
        until = max(until, length)
        if i != without:
            add_to_traffic(i, tree.pool[first : first + length + 1], length, traffic)
    return until


@entry("planners")
def begin_ecbs(first, many, factor, crowd, tree, traffic, finder):
    """Plans agents for the root, from ``first`` on, at most so many; the traffic has those before.

    Returns:
        the agent to go on with; -1 if one has no path of less than DELAYS delays, which is on no board
    """
    k = crowd.goals.shape[0]
    until = finder.must.shape[0] - 2
    for j in range(first, min(first + many, k)):
        tree.ways[0, j] = 0
        if not plan_agent(j, ROOT, factor, until, crowd, tree, traffic, finder):
            return -1
        begin, length, _ = tree.path[tree.ways[0, j]]
        add_to_traffic(j, tree.pool[begin : begin + length + 1], length, traffic)
    if first + many >= k:
        tree.counters[NODES], tree.depth[0], tree.expanded[0] = 1, 0, 0
        assess(ROOT, ROOT, crowd, tree)
        push(OPEN, tree.bound[0], tree.conflicts[0], ROOT, tree)
        push(WAITING, max(tree.cost[0], tree.bound[0]), tree.cost[0], ROOT, tree)
    return min(first + many, k)


@entry("planners")
def go_on_ecbs(steps, factor, crowd, tree, traffic, finder):
    """Expands at most so many nodes.

    Returns:
        GOING_ON, IMPROVED, DONE or FULL; the best plan and the bound are in the counters
    """
    counters, two = tree.counters, np.empty((2, 5), np.int64)
    k, longest = crowd.goals.shape[0], finder.must.shape[0]
    for _ in range(steps):
        if (
            counters[NODES] + 2 > tree.parent.shape[0]
            or counters[PATHS] + 2 * k > tree.path.shape[0]
            or counters[POOL] + 2 * k * longest > tree.pool.shape[0]
        ):
            return FULL
        node = top(OPEN, tree)
        bound = tree.bound[node] if node >= 0 else np.int64(NEVER)
        if counters[BEST] >= 0:
            bound = min(bound, tree.cost[counters[BEST]])
        counters[BOUND] = max(counters[BOUND], min(bound, counters[CUT]))
        limit = np.int64(factor * min(counters[BOUND], NEVER) + 1e-9)
        if node < 0 or (counters[BEST] >= 0 and tree.cost[counters[BEST]] <= limit):
            return DONE
        while counters[WAITING] > 0 and tree.heaps[WAITING, 0] >> (MINOR_BITS + NODE_BITS) <= limit:
            cheap = top(WAITING, tree)
            if cheap < 0 or max(tree.cost[cheap], tree.bound[cheap]) > limit:
                break
            pop(WAITING, tree)
            push(FOCAL, tree.conflicts[cheap], tree.cost[cheap], cheap, tree)
        counters[TURN] += 1
        chosen = top(FOCAL, tree)
        if chosen >= 0 and (factor == 1.0 or counters[TURN] % SWEEP != 0):
            node = chosen
        if tree.depth[node] >= DEEPEST:
            return FULL
        assess(node, tree.bound[node], crowd, tree)
        if tree.conflicts[node] == 0:
            tree.expanded[node] = 1
            if tree.cost[node] > tree.bound[node]:  # there may be a cheaper plan under its constraints
                counters[CUT] = min(counters[CUT], tree.bound[node])
            if counters[BEST] < 0 or tree.cost[node] < tree.cost[counters[BEST]]:
                counters[BEST] = node
                return IMPROVED
            continue
        write_splits(node, factor == 1.0, tree, two)
        before, bypass = counters[NODES], np.int64(-1)
        for n in range(2):
            child = add_child(node, two[n], factor, crowd, tree, traffic, finder)
            if child < 0:
                continue
            same = tree.least[child] == tree.least[node] and tree.cost[child] <= max(tree.cost[node], limit)
            if same and tree.conflicts[child] < tree.conflicts[node]:
                bypass = child
                break
        if bypass >= 0:  # the node's turn comes again, with the paths of the child
            tree.ways[node] = tree.ways[bypass]
            counters[NODES] = before
            continue
        tree.expanded[node] = 1
        for child in range(before, counters[NODES]):
            push(OPEN, tree.bound[child], tree.conflicts[child], child, tree)
            push(WAITING, max(tree.cost[child], tree.bound[child]), tree.cost[child], child, tree)
    return GOING_ON
