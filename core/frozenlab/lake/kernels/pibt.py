"""PIBT, priority inheritance with backtracking (Okumura, Machida, Defago and Tamura 2022), with swaps (Okumura 2023): where each of many
agents goes next, in time proportional to their number. Imports numba.

An agent takes the neighbour that is nearest to its goal. If another stands there, that one has to choose at once, before all others; if it
finds no place, the first takes its next best neighbour. Two agents that have to change places in a corridor back out of it to a fork.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.kernels.compiled import entry, inlined, light_kernel
from frozenlab.lake.kernels.crowd import CHOICES, NOBODY, choice, leads
from frozenlab.lake.kernels.grid import DIRECTIONS
from frozenlab.lake.kernels.stream import GOLDEN, mix

KEY_CHANCE, KEY_DISTANCE = 32, 44
"""The lowest bits of the draw and of the distance in the number by which a choice is ranked; its vertex is below them."""
CHANCES = np.uint64((1 << (KEY_DISTANCE - KEY_CHANCE)) - 1)


class Room(NamedTuple):
    """Room to work in. Of a step that is being decided, and of the agents who wait for the one whom they push."""

    here: NDArray[np.int32]
    """``[vertex]`` the agent there now, or NOBODY."""
    there: NDArray[np.int32]
    """``[vertex]`` the agent there next, or NOBODY."""
    pushers: NDArray[np.int32]
    """``[depth]`` agents, each pushed by the one before."""
    tried: NDArray[np.int32]
    """``[depth]`` how many of its choices each has tried."""
    choices: NDArray[np.int64]
    """``[depth, 5]`` vertices, the best first."""
    many: NDArray[np.int32]
    """``[depth]`` how many choices it has."""
    swapped: NDArray[np.int32]
    """``[depth]`` the agent with whom it changes places, or NOBODY."""


def new_room(vertices: int, agents: int) -> Room:
    """Room for one step of all agents."""

    def nobody(length: int) -> NDArray[np.int32]:
        return np.full(length, NOBODY, np.int32)

    choices = np.empty((agents, CHOICES), np.int64)
    return Room(nobody(vertices), nobody(vertices), nobody(agents), nobody(agents), choices, nobody(agents), nobody(agents))


@inlined
def rank_choices(i, depth, after, now, crowd, room, state):
    """Writes where agent i may go, the nearest to its goal first, in any order where two are as near; returns the state of the draws."""
    choices = room.choices
    state += GOLDEN
    chance = mix(state)
    n = 0
    for direction in range(CHOICES):
        vertex = choice(i, np.int64(now[i]), direction, crowd)
        if vertex < 0:
            continue
        key = np.int64(crowd.distance[i, vertex]) << KEY_DISTANCE | np.int64(chance & CHANCES) << KEY_CHANCE | vertex
        chance >>= np.uint64(KEY_DISTANCE - KEY_CHANCE)
        place = n  # insertion sort
        while place > 0 and choices[depth, place - 1] > key:
            choices[depth, place] = choices[depth, place - 1]
            place -= 1
        choices[depth, place] = key
        n += 1
    for place in range(n):
        choices[depth, place] &= (1 << KEY_CHANCE) - 1
    room.many[depth] = n
    room.swapped[depth] = partner = swap_partner(i, choices[depth, 0], after, now, crowd, room)
    if partner != NOBODY:
        for place in range(n // 2):
            choices[depth, place], choices[depth, n - 1 - place] = choices[depth, n - 1 - place], choices[depth, place]
    return state


@inlined
def swap_partner(i, best, after, now, crowd, room):
    """The agent that i has to change places with, and can, or NOBODY: the one on its ``best`` choice, or one that it stands before."""
    j = room.here[best]
    if j != NOBODY and j != i and after[j] < 0 and must_swap(i, j, now[i], now[j], crowd, room) and can_swap(now[j], now[i], crowd, room):
        return j
    if best == now[i]:
        return NOBODY
    for direction in range(DIRECTIONS):
        vertex = crowd.successors[now[i], direction]
        if vertex < 0:
            break
        k = room.here[vertex]
        if k < 0 or k == i or now[k] == best:
            continue
        if must_swap(k, i, now[i], best, crowd, room) and can_swap(best, now[i], crowd, room):
            return k
    return NOBODY


@light_kernel
def way_on(behind, vertex, crowd, room):
    """(ways on from ``vertex`` but back to ``behind``, at most 2; the last of them). Dead ends whose agent is at home are none."""
    n, last = 0, -1
    for direction in range(DIRECTIONS):
        other = crowd.successors[vertex, direction]
        if other < 0:
            break
        agent = room.here[other]
        if other == behind or (crowd.successors[other, 1] < 0 and agent != NOBODY and crowd.goals[agent] == other):
            continue
        n, last = n + 1, other
    return n, last


@light_kernel
def must_swap(pusher, puller, pushed_from, pulled_from, crowd, room):
    """Whether the pusher's way leads through the puller, and the puller's through the pusher, up to where the corridor forks."""
    distance = crowd.distance
    behind, ahead = pushed_from, pulled_from
    while distance[pusher, ahead] < distance[pusher, behind]:
        n, further = way_on(behind, ahead, crowd, room)
        if n >= 2:
            return False
        if n == 0:
            break
        behind, ahead = ahead, further
    return distance[puller, behind] < distance[puller, ahead] and (
        distance[pusher, behind] == 0 or distance[pusher, ahead] < distance[pusher, behind]
    )


@light_kernel
def can_swap(pushed_from, pulled_from, crowd, room):
    """Whether the corridor behind the puller comes to a fork."""
    behind, ahead = pushed_from, pulled_from
    while ahead != pushed_from:
        n, further = way_on(behind, ahead, crowd, room)
        if n != 1:
            return n > 1
        behind, ahead = ahead, further
    return False


@inlined
def place(first, now, after, crowd, room, state):
    """Decides where agent ``first`` goes, and those whom it pushes. Returns (whether it did, the state of the draws).

    Where it finds no place it stays, and whoever is left takes account of that.
    """
    there, here = room.there, room.here
    depth = 0
    room.pushers[0], room.tried[0] = first, 0
    state = rank_choices(first, 0, after, now, crowd, room, state)
    placed = False
    back = False  # whether the agent at this depth has an answer of the one whom it pushed
    while depth >= 0:
        i = room.pushers[depth]
        if back and placed:
            done = True
        else:
            done = pushes = False
            while room.tried[depth] < room.many[depth]:
                vertex = room.choices[depth, room.tried[depth]]
                room.tried[depth] += 1
                if there[vertex] != NOBODY:
                    continue
                k = here[vertex]
                if k != NOBODY and after[k] == now[i]:
                    continue
                there[vertex], after[i] = i, vertex
                if k < 0 or k == i or after[k] >= 0:
                    done = True
                else:
                    pushes = True
                break
            if pushes:
                depth += 1
                room.pushers[depth], room.tried[depth] = k, 0
                state = rank_choices(k, depth, after, now, crowd, room, state)
                back = False
                continue
        if done:
            j = room.swapped[depth]
            follows = j != NOBODY and room.tried[depth] == 1 and after[j] < 0 and there[now[i]] == NOBODY
            if follows and leads(j, np.int64(now[j]), now[i], crowd):
                there[now[i]], after[j] = j, now[i]
        else:
            there[now[i]], after[i] = i, now[i]
        placed, back = done, True
        depth -= 1
    return placed, state


@light_kernel
def decide(now, after, turns, crowd, room, state):
    """Writes into ``after`` where all agents go that it says nothing about, in the order of ``turns``; clears the room for the next step.

    ``room.here`` has the agents of ``now``, ``room.there`` those of ``after``. Returns (whether all find a place, the state of the draws).
    """
    fits = True
    for turn in range(now.shape[0]):
        if after[turns[turn]] == NOBODY:
            fits, state = place(turns[turn], now, after, crowd, room, state)
            if not fits:
                break
    clear(now, after, room)
    return fits, state


@light_kernel
def clear(now, after, room):
    """Takes all agents out of the room."""
    for i in range(now.shape[0]):
        room.here[now[i]] = NOBODY
        if after[i] != NOBODY:
            room.there[after[i]] = NOBODY


@light_kernel
def sort_by_urgency(before, turns, urgency):
    """Writes into ``turns`` the agents of ``before``, the most urgent first; from the order one step before, which has hardly changed."""
    for place_ in range(turns.shape[0]):
        i = before[place_]
        while place_ > 0 and urgency[turns[place_ - 1]] < urgency[i]:
            turns[place_] = turns[place_ - 1]
            place_ -= 1
        turns[place_] = i


@light_kernel
def urgency_of(i, where, before, crowd):
    """How urgent it is that agent i moves, who was as urgent as ``before``: more with each step that it is not on its goal."""
    return before - np.floor(before) if where == crowd.goals[i] else before + 1


@entry("planners")
def run_pibt(crowd, positions, first, steps, turns, urgency, room, state):
    """Moves all agents from time ``first`` on, for at most so many steps, until all are on their goals.

    Args:
        positions: int32 ``[time, agent]``, written from ``first + 1`` on.
        turns, urgency: of the agents at ``first``; urgency is float32.

    Returns:
        (the time that they have reached, whether all are on their goals, the state of the draws)
    """
    k = crowd.goals.shape[0]
    for t in range(first, first + steps + 1):
        now = positions[t]
        home = True
        for i in range(k):
            home &= now[i] == crowd.goals[i]
        if home or t == first + steps:
            return t, home, state
        after = positions[t + 1]
        for i in range(k):
            room.here[now[i]] = i
            after[i] = NOBODY
            urgency[i] = urgency_of(i, now[i], urgency[i], crowd)
        sort_by_urgency(turns, turns, urgency)
        _, state = decide(now, after, turns, crowd, room, state)
    return first, False, state
