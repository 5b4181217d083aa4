"""Prioritized planning of some agents among others, and large neighbourhood search, which plans a few of them again and again (Li, Chen,
Harabor, Stuckey and Koenig 2021, MAPF-LNS). Imports numba.
"""

import numpy as np

from frozenlab.lake.kernels.compiled import entry, light_kernel
from frozenlab.lake.kernels.crowd import CHOICES, NOBODY, choice
from frozenlab.lake.kernels.grid import DIRECTIONS
from frozenlab.lake.kernels.paths import AROUND, DELAYS, add_to_traffic, agent_at, find_path, take_from_traffic, write_path
from frozenlab.lake.kernels.stream import below

LARGEST = 16
"""Agents of a neighbourhood."""
WALKS = 8
"""Walks for each agent of a neighbourhood that are tried to find one more."""


@light_kernel
def plan_one(i, crowd, traffic, finder, paths, lengths, most):
    """Plans agent i around the traffic, and adds it; returns whether there is a path of a delay of at most ``most``."""
    last = find_path(i, crowd, traffic, finder, AROUND, np.int64(0), most, paths.shape[1] - 1)
    if last < 0:
        return False
    lengths[i] = write_path(last, finder, paths[i])
    add_to_traffic(i, paths[i], lengths[i], traffic)
    return True


@entry("planners")
def plan_in_order(order, first, many, crowd, traffic, finder, paths, lengths):
    """Plans the agents at the places from ``first`` on, at most so many, each around those before it.

    Args:
        paths: int32 ``[agent, time]``, written up to ``lengths[agent]``, the arrival for good.

    Returns:
        the place after the last one that was planned: less than asked for if the agent there finds no path
    """
    for place in range(first, min(first + many, order.shape[0])):
        if not plan_one(order[place], crowd, traffic, finder, paths, lengths, np.int64(DELAYS)):
            return place
    return min(first + many, order.shape[0])


@entry("planners")
def fill_traffic(traffic, paths, lengths):
    """Replaces the traffic by that of the paths."""
    traffic.passing.keys[:] = -1
    traffic.home[:] = NOBODY
    for i in range(lengths.shape[0]):
        add_to_traffic(i, paths[i], lengths[i], traffic)


@light_kernel
def meet_on_walks(size, chosen, crowd, traffic, paths, lengths, state):
    """Adds to ``chosen[0]`` agents that stand in the way of shorter paths of those who are chosen: on walks from their paths that would
    still arrive sooner. Returns (how many there are, the state of the draws)."""
    n = 1
    for _ in range(WALKS * size):
        if n >= size:
            break
        state, place = below(state, n)
        i = chosen[place]
        state, t = below(state, lengths[i] + 1)
        here = np.int64(paths[i, t])
        while n < size and t + 1 < lengths[i]:
            state, direction = below(state, CHOICES)
            there = choice(i, here, direction, crowd)
            if there < 0 or t + 1 + crowd.distance[i, there] >= lengths[i]:
                break
            n = add_if_new(agent_at(t + 1, there, traffic), chosen, n)
            here, t = there, t + 1
    return n, state


@light_kernel
def gather_around(size, chosen, crowd, traffic, paths, lengths, seen, queue, mark, state):
    """Adds to ``chosen[0]`` the agents that are nearest to it at some time; returns as :func:`meet_on_walks`."""
    state, t = below(state, lengths[chosen[0]] + 1)
    queue[0] = paths[chosen[0], t]
    seen[queue[0]] = mark
    head, tail, n = 0, 1, 1
    while head < tail and n < size:
        here = queue[head]
        head += 1
        n = add_if_new(agent_at(t, here, traffic), chosen, n)
        for direction in range(DIRECTIONS):
            there = crowd.successors[here, direction]
            if there >= 0 and seen[there] != mark:
                seen[there] = mark
                queue[tail] = there
                tail += 1
    return n, state


@light_kernel
def add_if_new(agent, chosen, n):
    if agent == NOBODY:
        return n
    for place in range(n):
        if chosen[place] == agent:
            return n
    chosen[n] = agent
    return n + 1


@light_kernel
def most_delayed_of(tries, crowd, lengths, state):
    """(the agent of the largest delay among some, the state of the draws)."""
    best, largest = 0, -1
    for _ in range(tries):
        state, i = below(state, lengths.shape[0])
        delay = lengths[i] - crowd.distance[i, crowd.starts[i]]
        if delay > largest:
            best, largest = i, delay
    return best, state


@entry("planners")
def replan_neighbourhoods(crowd, traffic, finder, paths, lengths, old, seen, queue, first, saved, steps, every, state):
    """Plans small groups of agents anew, and keeps what is not dearer.

    Args:
        traffic: of all ``paths``.
        old: int32 ``[LARGEST, time]``, seen: int64 ``[vertex]``, queue: int32 ``[vertex]``; room to work in.
        first: the number of neighbourhoods tried before; saved: the costs saved since the last report. It ends sooner at a multiple of
            ``every`` where there is something to report.

    Returns:
        (the number of neighbourhoods tried, the costs saved since the last report, the state of the draws)
    """
    k = lengths.shape[0]
    chosen, old_lengths = np.empty(LARGEST, np.int64), np.empty(LARGEST, np.int64)
    for step in range(first, first + steps):
        if saved > 0 and step % every == 0:
            return step, saved, state
        state, more = below(state, min(k, LARGEST))
        state, way = below(state, 2)
        chosen[0], state = most_delayed_of(4, crowd, lengths, state)
        if way == 0:
            n, state = meet_on_walks(1 + more, chosen, crowd, traffic, paths, lengths, state)
        else:
            n, state = gather_around(1 + more, chosen, crowd, traffic, paths, lengths, seen, queue, step + 1, state)
        before, bases = 0, 0
        for place in range(n - 1, -1, -1):  # in any order
            state, other = below(state, place + 1)
            chosen[place], chosen[other] = chosen[other], chosen[place]
        for place in range(n):
            i = chosen[place]
            old_lengths[place] = lengths[i]
            before += lengths[i]
            bases += crowd.distance[i, crowd.starts[i]]
            old[place, : lengths[i] + 1] = paths[i, : lengths[i] + 1]
            take_from_traffic(paths[i], lengths[i], traffic)
        if before == bases:  # nothing can be saved
            planned = 0
        else:
            planned, spare = 0, before - bases
            while planned < n and spare >= 0:
                i = chosen[planned]
                if not plan_one(i, crowd, traffic, finder, paths, lengths, spare):
                    break
                spare -= lengths[i] - crowd.distance[i, crowd.starts[i]]
                planned += 1
            if planned == n and spare >= 0:
                saved += spare
                continue
        for place in range(planned):
            take_from_traffic(paths[chosen[place]], lengths[chosen[place]], traffic)
        for place in range(n):
            i = chosen[place]
            lengths[i] = old_lengths[place]
            paths[i, : lengths[i] + 1] = old[place, : lengths[i] + 1]
            add_to_traffic(i, paths[i], lengths[i], traffic)
    return first + steps, saved, state
