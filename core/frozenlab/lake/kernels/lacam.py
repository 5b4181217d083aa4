"""LaCAM*, lazy constraints addition search (Okumura 2023, 2024): a plan for hundreds of agents, which then gets cheaper. Imports numba.

A depth-first search over *configurations*, where all agents are at one time. PIBT says which comes next. When the search comes back to a
configuration, one more agent is told where to go, first one, then two, ...: so in the end every next configuration is tried, and a board
without a plan is proven to have none. Configurations that are met again by a cheaper way are rewired, as by Dijkstra, and the plan follows.

What it makes cheaper is the *sum of loss*: of each time step, how many agents are not at rest on their goals. It is at most the sum of
costs, which also counts the rest of an agent who is pushed off its goal later.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.kernels.compiled import entry, light_kernel
from frozenlab.lake.kernels.crowd import CHOICES, NOBODY, Crowd, choice
from frozenlab.lake.kernels.limits import DONE, FAR, FULL, GOING_ON, IMPROVED
from frozenlab.lake.kernels.pibt import clear, decide, sort_by_urgency, urgency_of
from frozenlab.lake.kernels.stream import below, mix

COUNTERS = 5
NODES, CONSTRAINTS, EDGES, OPEN, GOAL = range(COUNTERS)
"""Counters of :class:`Search`."""
NONE = -1
RESTART = 1_000
"""Of so many returns to a known configuration, one goes on from the start instead."""
MEMORY = 1 << 28
"""Bytes of the configurations that a search keeps."""
MOST_NODES = 1_000_000


class Search(NamedTuple):
    """What a search knows; its arrays are as long as its memory allows."""

    counters: NDArray[np.int64]
    """How many configurations, constraints, edges and open entries there are; the configuration of the goals or NONE."""
    where: NDArray[np.int32]
    """``[node, agent]`` vertices."""
    turns: NDArray[np.int32]
    """``[node, agent]`` the agents in the order in which they choose."""
    urgency: NDArray[np.float32]
    """``[node, agent]`` how long an agent has not been at its goal."""
    parent: NDArray[np.int32]
    cost: NDArray[np.int64]
    """``[node]`` the least loss from the start that is known."""
    rest: NDArray[np.int64]
    """``[node]`` the loss that it takes at least from there."""
    first: NDArray[np.int32]
    """``[node, 3]`` its next constraint, its last one, its last edge."""
    slots: NDArray[np.int32]
    """``[slot]`` nodes by the hash of their configuration, numbered from 1; 0: none. Zeros cost nothing until they are read."""
    constraint: NDArray[np.int32]
    """``[constraint, 5]`` the one that it adds to, agent, vertex, depth, the next one of the node."""
    edge: NDArray[np.int32]
    """``[edge, 2]`` the node that it leads to, the next edge of the node that it leaves."""
    open: NDArray[np.int32]
    """The stack of nodes."""
    queue: NDArray[np.int32]
    """Room for nodes whose neighbours may be met by a cheaper way."""
    queued: NDArray[np.uint8]
    """``[node]`` whether it is in the queue."""


def new_search(agents: int) -> Search:
    """An empty search, with room for as many configurations as :data:`MEMORY` holds."""
    nodes = max(1_000, min(MOST_NODES, MEMORY // (12 * agents)))
    many = 4 * nodes

    def room(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
        return np.empty(shape, np.int32)

    return Search(
        counters=np.zeros(COUNTERS, np.int64), where=room(nodes, agents), turns=room(nodes, agents),
        urgency=np.empty((nodes, agents), np.float32), parent=room(nodes), cost=np.empty(nodes, np.int64), rest=np.empty(nodes, np.int64),
        first=room(nodes, 3), slots=np.zeros(1 << (2 * nodes - 1).bit_length(), np.int32), constraint=room(6 * many, 5), edge=room(many, 2),
        open=room(many), queue=room(nodes), queued=np.zeros(nodes, np.uint8),
    )  # fmt: skip


def cells_to(goal: int, crowd: Crowd, search: Search) -> NDArray[np.int64]:
    """``[time, agent]`` row-major cells of the cheapest known way to a configuration."""
    way = [goal]
    while (before := int(search.parent[way[-1]])) != NONE:
        way.append(before)
    return crowd.cell_of[search.where[way[::-1]]]


@light_kernel
def hash_of(where):
    """A number of 64 bits for a configuration."""
    code = np.uint64(0)
    for vertex in where:
        code = mix(code ^ np.uint64(vertex + 1))
    return code


@light_kernel
def slot_of(where, search):
    """The slot of a configuration: that of its node, or the empty one where it belongs."""
    mask = np.uint64(search.slots.shape[0] - 1)
    slot = hash_of(where) & mask
    while search.slots[slot] > 0:
        known = search.where[search.slots[slot] - 1]
        alike = True
        for i in range(where.shape[0]):
            if known[i] != where[i]:
                alike = False
                break
        if alike:
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


@light_kernel
def add_node(where, parent, slot, crowd, search):
    """Makes a node of a configuration that a step from ``parent`` leads to (NONE: the start); returns its number."""
    node = search.counters[NODES]
    search.counters[NODES] += 1
    k, distance = where.shape[0], crowd.distance
    search.slots[slot] = node + 1
    search.parent[node] = parent
    rest = 0
    for i in range(k):
        search.where[node, i] = where[i]
        far = distance[i, where[i]]
        rest += far
        search.urgency[node, i] = far / FAR if parent == NONE else urgency_of(i, where[i], search.urgency[parent, i], crowd)
        search.turns[node, i] = i
    search.rest[node] = rest
    search.cost[node] = 0 if parent == NONE else search.cost[parent] + loss(parent, node, crowd, search)
    sort_by_urgency(search.turns[node if parent == NONE else parent], search.turns[node], search.urgency[node])
    search.first[node, :] = NONE
    add_constraint(node, NONE, NONE, NONE, 0, search)
    return node


@light_kernel
def add_constraint(node, more_than, agent, vertex, depth, search):
    """Puts one more constraint at the end of a node's list."""
    new = search.counters[CONSTRAINTS]
    search.counters[CONSTRAINTS] += 1
    search.constraint[new, 0], search.constraint[new, 1], search.constraint[new, 2] = more_than, agent, vertex
    search.constraint[new, 3], search.constraint[new, 4] = depth, NONE
    if search.first[node, 0] == NONE:
        search.first[node, 0] = new
    else:
        search.constraint[search.first[node, 1], 4] = new
    search.first[node, 1] = new


@light_kernel
def add_edge(node, to, search):
    new = search.counters[EDGES]
    search.counters[EDGES] += 1
    search.edge[new, 0], search.edge[new, 1] = to, search.first[node, 2]
    search.first[node, 2] = new


@light_kernel
def push_open(node, search):
    search.open[search.counters[OPEN]] = node
    search.counters[OPEN] += 1


@light_kernel
def loss(one, other, crowd, search):
    """The loss of a step between two configurations: how many agents are not at rest on their goals."""
    n = 0
    for i in range(crowd.goals.shape[0]):
        n += search.where[one, i] != crowd.goals[i] or search.where[other, i] != crowd.goals[i]
    return n


@light_kernel
def step_under(node, constraint, after, crowd, search, room, state):
    """Writes into ``after`` where all go from a configuration under a constraint and those that it adds to. Returns (whether there is such
    a step, the state of the draws)."""
    now, here, there = search.where[node], room.here, room.there
    k = now.shape[0]
    for i in range(k):
        here[now[i]] = i
        after[i] = NONE
    fits = True
    while fits and search.constraint[constraint, 1] != NONE:
        i, vertex = search.constraint[constraint, 1], search.constraint[constraint, 2]
        other = here[vertex]
        fits = there[vertex] == NOBODY and not (other != NOBODY and other != i and there[now[i]] == other)
        if fits:
            there[vertex], after[i] = i, vertex
        constraint = search.constraint[constraint, 0]
    if fits:
        return decide(now, after, search.turns[node], crowd, room, state)
    clear(now, after, room)
    return False, state


@light_kernel
def rewire(start, crowd, search):
    """Hands a cheaper way to a configuration on to those after it; opens again what may now lead to a cheaper plan."""
    goal, queue = search.counters[GOAL], search.queue
    head, waiting = 0, 1
    queue[0] = start
    while waiting > 0:
        node = queue[head]
        search.queued[node] = False
        head, waiting = (head + 1) % queue.shape[0], waiting - 1
        edge = search.first[node, 2]
        while edge != NONE:
            to = search.edge[edge, 0]
            cost = search.cost[node] + loss(node, to, crowd, search)
            if cost < search.cost[to]:
                search.cost[to], search.parent[to] = cost, node
                if not search.queued[to]:
                    search.queued[to] = True
                    queue[(head + waiting) % queue.shape[0]] = to
                    waiting += 1
                if goal != NONE and cost + search.rest[to] < search.cost[goal] and search.counters[OPEN] < search.open.shape[0]:
                    push_open(to, search)
            edge = search.edge[edge, 1]


@light_kernel
def is_full(search):
    """Whether the memory may not hold what one more step adds."""
    counters = search.counters
    return (
        counters[NODES] >= search.where.shape[0]
        or counters[CONSTRAINTS] + CHOICES + 1 >= search.constraint.shape[0]
        or counters[EDGES] >= search.edge.shape[0]
        or counters[OPEN] + 1 >= search.open.shape[0]
    )


@entry("planners")
def begin_lacam(crowd, search):
    """Puts the starts into a new search."""
    search.counters[:] = 0
    search.counters[GOAL] = NONE
    where = crowd.starts.astype(np.int32)
    push_open(add_node(where, NONE, slot_of(where, search), crowd, search), search)


@entry("planners")
def go_on_lacam(crowd, search, room, after, state, steps, improve):
    """Searches for at most so many steps of all agents.

    Args:
        after: int32 ``[agent]``, room to work in.
        state: of the draws.
        improve: whether it goes on when it has a plan.

    Returns:
        (one of GOING_ON, IMPROVED, DONE and FULL, the state of the draws)
    """
    k, counters = crowd.goals.shape[0], search.counters
    for _ in range(steps):
        if is_full(search):
            return FULL, state
        while counters[OPEN] > 0:  # to the next configuration that has a constraint left and may be part of a cheaper plan
            node = search.open[counters[OPEN] - 1]
            goal = counters[GOAL]
            worth = goal == NONE or search.cost[node] + search.rest[node] < search.cost[goal]
            if worth and search.first[node, 0] != NONE:
                break
            counters[OPEN] -= 1
        if counters[OPEN] == 0:
            return DONE, state
        if counters[GOAL] == NONE and search.rest[node] == 0:
            counters[GOAL] = node
            return (IMPROVED if improve else DONE), state
        constraint = search.first[node, 0]
        search.first[node, 0] = search.constraint[constraint, 4]
        depth = search.constraint[constraint, 3]
        if depth < k:
            i = search.turns[node, depth]
            here = np.int64(search.where[node, i])
            first = search.counters[CONSTRAINTS]
            for direction in range(CHOICES):
                vertex = choice(i, here, direction, crowd)
                if vertex >= 0:
                    add_constraint(node, constraint, i, vertex, depth + 1, search)
            for place_ in range(search.counters[CONSTRAINTS] - 1, first, -1):  # in any order
                state, other = below(state, place_ - first + 1)
                a, b = search.constraint[place_, 2], search.constraint[first + other, 2]
                search.constraint[place_, 2], search.constraint[first + other, 2] = b, a
        fits, state = step_under(node, constraint, after, crowd, search, room, state)
        if not fits:
            continue
        slot = slot_of(after, search)
        known = search.slots[slot] - 1
        if known == NONE:
            new = add_node(after, node, slot, crowd, search)
            add_edge(node, new, search)
            push_open(new, search)
            continue
        before = search.cost[counters[GOAL]] if counters[GOAL] != NONE else 0
        add_edge(node, known, search)
        rewire(node, crowd, search)
        state, chance = below(state, RESTART)
        push_open(0 if chance == 0 else known, search)
        if counters[GOAL] != NONE and search.cost[counters[GOAL]] < before:
            return IMPROVED, state
    return GOING_ON, state
