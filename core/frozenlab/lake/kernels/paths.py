"""The path of one agent among others, for prioritized planning, large neighbourhood search and Conflict-Based Search with many agents.
Imports numba.

A* over (vertex, time) (Silver 2005). The *delay* of an agent at a vertex and a time is that time and its distance there, less its distance
at the start. So a state is a vertex and a delay, and only delays below DELAYS are searched.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.kernels.compiled import light_kernel
from frozenlab.lake.kernels.crowd import CHOICES, NOBODY, Crowd, choice
from frozenlab.lake.kernels.stream import mix

DELAYS = 128
BUCKETS = 256
AROUND, SOON, CAREFUL = map(np.int64, range(3))
"""How a path is looked for: around all traffic, as soon as it can; as soon as its constraints allow, whatever the traffic; with as few
conflicts as its constraints and its largest delay allow."""
NO_PATH, NO_ROOM = -1, -2
"""Instead of a path: there is none within the delays that were allowed; the memory is full."""
MOST_NODES = 1 << 20
"""A search of so many takes a tenth of a second; planners stop only after one."""
NEVER = 1 << 30
EMPTY = -1


class Table(NamedTuple):
    """A hash table from numbers to numbers, both from 0 on."""

    keys: NDArray[np.int64]
    """``[slot]``, as many as a power of two."""
    values: NDArray[np.int32]


class Traffic(NamedTuple):
    """Where other agents are at what time."""

    passing: Table
    """time times the number of vertices, plus the vertex -> the agent there, before its arrival for good."""
    home: NDArray[np.int32]
    """``[vertex]`` the agent that stays there for good, or NOBODY."""
    since: NDArray[np.int32]
    """``[vertex]`` from which time on."""


class Finder(NamedTuple):
    """Room for a search, and the constraints of Conflict-Based Search on its agent."""

    marks: NDArray[np.int32]
    """``[vertex, delay]`` the last search that has been there."""
    node: NDArray[np.int32]
    """``[n, 4]`` vertex (NOBODY: it has ended), time, the node before, the next one in the bucket."""
    bucket: NDArray[np.int32]
    """``[key]`` the last node of this key."""
    searches: NDArray[np.int64]
    barred: Table
    """The steps that it may not take (``step_key``)."""
    must: NDArray[np.int32]
    """``[time]`` the vertex where it has to be, or NOBODY."""
    shut: NDArray[np.int32]
    """``[vertex]`` the time from which it may not be there, or NEVER."""
    begins: NDArray[np.int32]
    """``[time]`` the first node of a time, where all shortest paths are looked at."""
    options: NDArray[np.int64]
    """``[n, 2]`` where it may go next, and with which delay."""


def new_table(size: int) -> Table:
    """Room for ``size`` numbers."""
    slots = 1 << max(4, (2 * size - 1).bit_length())
    return Table(np.full(slots, EMPTY, np.int64), np.empty(slots, np.int32))


def new_traffic(vertices: int, steps: int) -> Traffic:
    """No agents; there is room for ``steps`` time steps of all of them together."""
    return Traffic(new_table(steps), np.full(vertices, NOBODY, np.int32), np.zeros(vertices, np.int32))


def new_finder(vertices: int, horizon: int, constraints: int = 8) -> Finder:
    """Room for searches up to the time ``horizon``."""
    nodes = min(5 * vertices * DELAYS, MOST_NODES)
    return Finder(
        np.zeros((vertices, DELAYS), np.int32), np.empty((nodes, 4), np.int32), np.empty(BUCKETS, np.int32), np.zeros(1, np.int64),
        new_table(constraints), np.full(horizon + 2, NOBODY, np.int32), np.full(vertices, NEVER, np.int32),
        np.empty(horizon + 2, np.int32), np.empty((CHOICES, 2), np.int64),
    )  # fmt: skip


def cells_of(crowd: Crowd, pool: NDArray[np.int32], first: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """``[time, agent]`` row-major cells of paths in a pool of vertices: where each begins, and its arrival for good."""
    times = np.arange(int(lengths.max()) + 1)[:, None]
    return crowd.cell_of[pool[first + np.minimum(times, lengths)]]


@light_kernel
def slot_in(key, table):
    """The slot of a key, or the empty one where it belongs."""
    mask = np.uint64(table.keys.shape[0] - 1)
    slot = mix(np.uint64(key)) & mask
    while table.keys[slot] != EMPTY and table.keys[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


@light_kernel
def look_up(key, table):
    """The number of a key; NOBODY if it has none."""
    slot = slot_in(key, table)
    return table.values[slot] if table.keys[slot] == key else np.int32(NOBODY)


@light_kernel
def put(key, value, table):
    slot = slot_in(key, table)
    table.keys[slot], table.values[slot] = key, value


@light_kernel
def drop(key, table):
    """Takes a key out; those after it move up to where they would be without it."""
    mask = np.uint64(table.keys.shape[0] - 1)
    gap = slot_in(key, table)
    slot = (gap + np.uint64(1)) & mask
    while table.keys[slot] != EMPTY:
        if (slot - mix(np.uint64(table.keys[slot])) & mask) & mask >= (slot - gap) & mask:
            table.keys[gap], table.values[gap] = table.keys[slot], table.values[slot]
            gap = slot
        slot = (slot + np.uint64(1)) & mask
    table.keys[gap] = EMPTY


@light_kernel
def agent_at(t, vertex, traffic):
    """The agent on a vertex at a time, or NOBODY."""
    if traffic.home[vertex] != NOBODY and traffic.since[vertex] <= t:
        return traffic.home[vertex]
    return look_up(t * traffic.home.shape[0] + vertex, traffic.passing)


@light_kernel
def add_to_traffic(i, path, length, traffic):
    for t in range(length):
        put(t * traffic.home.shape[0] + path[t], i, traffic.passing)
    traffic.home[path[length]], traffic.since[path[length]] = i, length


@light_kernel
def take_from_traffic(path, length, traffic):
    for t in range(length):
        drop(t * traffic.home.shape[0] + path[t], traffic.passing)
    traffic.home[path[length]] = NOBODY


@light_kernel
def step_key(t, here, there, vertices):
    """The number of a step so as to be ``there`` at time t; from anywhere if ``here`` is the number of vertices."""
    return (t * (vertices + 1) + here) * vertices + there


@light_kernel
def may_step(t, here, there, finder):
    """Whether the constraints allow a step so as to be ``there`` at time t."""
    m = finder.shut.shape[0]
    must = finder.must[t] if t < finder.must.shape[0] else NOBODY
    return (
        finder.shut[there] > t
        and (must in (NOBODY, there))
        and look_up(step_key(t, m, there, m), finder.barred) == NOBODY
        and look_up(step_key(t, here, there, m), finder.barred) == NOBODY
    )


@light_kernel
def is_met(i, t, here, there, traffic):
    """Whether a step of agent i so as to be ``there`` at time t conflicts with another agent."""
    other = agent_at(t, there, traffic)
    if other != NOBODY and other != i:
        return True
    other = agent_at(t, here, traffic)
    return here != there and other != NOBODY and other != i and agent_at(t - 1, there, traffic) == other


@light_kernel
def find_path(i, crowd, traffic, finder, how, earliest, most, until):
    """A path of agent i.

    Args:
        how: AROUND, which knows no constraints, SOON or CAREFUL.
        earliest: least time of its arrival for good; ``most``: largest delay.
        until: a time from which nobody moves.

    Returns:
        its last node in ``finder``; NO_PATH or NO_ROOM
    """
    node, bucket, options, distance, goal = finder.node, finder.bucket, finder.options, crowd.distance[i], crowd.goals[i]
    base = np.int64(distance[crowd.starts[i]])
    most = min(most, DELAYS - 1)
    finder.searches[0] += 1
    search = finder.searches[0]
    clear = earliest
    if how == AROUND:
        for t in range(until, clear - 1, -1):
            other = agent_at(t, goal, traffic)
            if other != NOBODY and other != i:
                clear = t + 1
                break
    least = max(clear - base, np.int64(0))  # no path has a smaller delay
    if least > most:
        return np.int64(NO_PATH)
    bucket[:] = NO_PATH
    node[0, 0], node[0, 1], node[0, 2], node[0, 3] = crowd.starts[i], 0, NO_PATH, NO_PATH
    bucket[0] = 0
    n, key = 1, 0
    while key < BUCKETS:
        now = bucket[key]
        if now == NO_PATH:
            key += 1
            continue
        bucket[key] = node[now, 3]
        here, t = np.int64(node[now, 0]), np.int64(node[now, 1])
        if here == NOBODY:
            return np.int64(node[now, 2])
        if how == CAREFUL:
            delay = t + distance[here] - base
            if finder.marks[here, delay] == search:
                continue
            finder.marks[here, delay] = search
        if n + CHOICES + 1 > node.shape[0]:
            return np.int64(NO_ROOM)
        if here == goal and t >= clear:
            passing = 0
            if how == CAREFUL:
                for later in range(t + 1, until + 1):
                    other = agent_at(later, goal, traffic)
                    passing += other != NOBODY and other != i
            if passing == 0:
                return np.int64(now)
            worse = min(key + passing, BUCKETS - 1)
            node[n, 0], node[n, 1], node[n, 2], node[n, 3] = NOBODY, t, now, bucket[worse]
            bucket[worse] = n
            n += 1
        many = 0
        for direction in range(CHOICES):
            there = choice(i, here, direction, crowd)
            if there < 0:
                continue
            delay = t + 1 + distance[there] - base
            if delay > most or finder.marks[there, delay] == search or (how != AROUND and not may_step(t + 1, here, there, finder)):
                continue
            place = many  # the most delayed first: the last one in a bucket comes out first
            while place > 0 and options[place - 1, 1] < delay:
                options[place, 0], options[place, 1] = options[place - 1, 0], options[place - 1, 1]
                place -= 1
            options[place, 0], options[place, 1] = there, delay
            many += 1
        for option in range(many):
            there, delay = options[option, 0], options[option, 1]
            met = how != SOON and is_met(i, t + 1, here, there, traffic)
            if met and how == AROUND:
                continue
            if how != CAREFUL:
                finder.marks[there, delay] = search  # all ways to be there then are alike
            next_key = min(key + met, BUCKETS - 1) if how == CAREFUL else max(delay, least)
            node[n, 0], node[n, 1], node[n, 2], node[n, 3] = there, t + 1, now, bucket[next_key]
            bucket[next_key] = n
            n += 1
    return np.int64(NO_PATH)


@light_kernel
def write_path(last, finder, path):
    """Writes ``path[time]`` up to the arrival at the node ``last``; returns the time of that."""
    length = np.int64(finder.node[last, 1])
    for t in range(length, -1, -1):
        path[t] = finder.node[last, 0]
        last = finder.node[last, 2]
    return length
