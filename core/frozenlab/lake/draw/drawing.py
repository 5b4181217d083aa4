"""Compiled drawing of random boards in bulk: scattered holes, placement of the agents, and the canonical hash.

Draw number d of a stream depends on the stream's key and d only, so the same boards come out on any machine, in any order and in chunks
of any size. Imports numba, as the kernels do.
"""

import numpy as np

from frozenlab.lake.exits import DOOR
from frozenlab.lake.kernels.compiled import entry, inlined, kernel
from frozenlab.lake.kernels.grid import DIRECTIONS, cell_towards, locked, neighbour, write_exits
from frozenlab.lake.kernels.stream import GOLDEN, below, mix

UNIFORM, CONNECTED = 0, 1
"""The placements, as indices in PLACEMENTS."""


@kernel
def shuffled_head(state, cells, first, last):
    """Makes ``cells[first:last]`` a uniform random choice, in random order, from ``cells[first:]``; gives back the next state."""
    for place in range(first, last):
        state, skip = below(state, cells.shape[0] - place)
        cells[place], cells[place + skip] = cells[place + skip], cells[place]
    return state


@inlined
def first_state(key, number):
    """The state of the random stream at which draw ``number`` of the stream ``key`` begins."""
    return mix(key + (np.uint64(number) + np.uint64(1)) * GOLDEN)


@kernel
def place_agents(state, placement, holes, size, free, cells, label, exits, starts, goals):
    """Writes the exits of a board of ``holes`` holes, and places the agents: (the next state, False if they are not placed).

    UNIFORM: starts and goals uniform over the frozen cells, and False if some goal cannot be reached. CONNECTED: one agent after the
    other, its start uniform over the free cells from which another free cell can be reached, its goal uniform over those.

    Args:
        cells: all cells, holes first; scratch afterwards.
    """
    k = starts.shape[0]
    write_exits(free, size, exits)
    if placement == UNIFORM:
        state = shuffled_head(state, cells, holes, holes + 2 * k)
        for i in range(k):
            starts[i] = cells[holes + 2 * i]
            goals[i] = cells[holes + 2 * i + 1]
        return state, reachable(exits, size, starts, goals, label, cells)
    return place_connected(state, size, exits, cells, label, starts, goals)


@kernel
def place_connected(state, size, exits, cells, label, starts, goals):
    """Places the agents as CONNECTED says, where exits lead both ways: (the next state, False if there is no room for one of them)."""
    n = exits.shape[0]
    label[:] = -1
    room = np.zeros(n, np.int64)  # free cells of each component, the components named by their first cell
    for c in range(n):
        if exits[c] and label[c] < 0:
            room[c] = flood(exits, size, 0, c, np.int64(-1), c, label, cells)
    for i in range(starts.shape[0]):
        component = -1
        for role in range(2):
            choices = 0
            for c in range(n):
                if label[c] >= 0 and (label[c] == component if role else room[label[c]] > 1):
                    cells[choices] = c
                    choices += 1
            if choices == 0:
                return state, False
            state, pick = below(state, choices)
            component = label[cells[pick]]
            label[cells[pick]] = -1
            room[component] -= 1
            if role:
                goals[i] = cells[pick]
            else:
                starts[i] = cells[pick]
    return state, True


@kernel
def flood(exits, width, agent, source, target, name, label, queue):
    """Labels the cells that an agent can reach from ``source`` with ``name``, all or until ``target`` is; gives back how many there are."""
    label[source] = name
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        cell = queue[head]
        head += 1
        for direction in range(DIRECTIONS):
            if exits[cell] >> direction & 1:
                other = cell_towards(cell, direction, width)
                if label[other] != name and not locked(exits[other], agent):
                    label[other] = name
                    queue[tail] = other
                    tail += 1
                    if other == target:
                        return tail
    return tail


@kernel
def reachable(exits, width, starts, goals, label, queue):
    """Whether every agent's goal can be reached when no other agent is in the way."""
    label[:] = -1
    for i in range(starts.shape[0]):
        flood(exits, width, i, starts[i], goals[i], i, label, queue)
        if label[goals[i]] != i:
            return False
    return True


@inlined
def canonical(exits, height, width, starts, goals):
    """A 64-bit hash that is the same for all 8 rotations and mirror images of a board and for all orders of its agents.

    Each image is hashed as a commutative sum over its holes, agents, doors and missing exits; the least of the eight hashes stands for all.
    So an arrow counts where it keeps an agent from going somewhere.
    """
    missing = missing_exits(exits, height, width)
    best = np.uint64(0xFFFFFFFFFFFFFFFF)
    for image in range(8):
        turned = image & 1
        total = np.uint64(0)
        for cell in range(exits.shape[0]):
            if exits[cell] == 0:
                total += mix(np.uint64(1) + place(cell, height, width, image))
            elif exits[cell] >> DOOR:
                i = (exits[cell] >> DOOR) - 1
                owner = pair(starts[i], goals[i], 20, height, width, image)
                total += mix(owner + np.uint64(1 << 21) + place(cell, height, width, image))
        for i in range(starts.shape[0]):
            total += pair(starts[i], goals[i], 20, height, width, image)
        for n in range(missing.shape[0]):
            total += pair(missing[n, 0], missing[n, 1], 22, height, width, image)
        shape = np.uint64(width * 64 + height if turned else height * 64 + width)
        best = min(best, mix(total + mix(shape * GOLDEN)))
    return best


@kernel
def missing_exits(exits, height, width):
    """``[n, 2]`` cells side by side, neither a hole, where no exit leads from the first to the second."""
    out = np.empty((DIRECTIONS * exits.shape[0], 2), np.int64)
    n = 0
    for cell in range(exits.shape[0]):
        for direction in range(DIRECTIONS):
            if exits[cell] and exits[cell] >> direction & 1 == 0:
                other = neighbour(cell, direction, width, exits.shape[0])
                if other >= 0 and exits[other]:
                    out[n, 0], out[n, 1] = cell, other
                    n += 1
    return out[:n]


@kernel
def pair(one, two, kind, height, width, image):
    """The hash of two cells in one of the 8 images; ``kind`` keeps pairs of different meaning apart."""
    first = place(one, height, width, image)
    second = place(two, height, width, image)
    return mix((np.uint64(1) + first) * GOLDEN + mix((np.uint64(1) << np.uint64(kind)) + second))


@kernel
def place(cell, height, width, image):
    """Where ``cell`` lies in one of the 8 images, as ``64 * row + column``."""
    r, c = cell // width, cell % width
    if image & 2:
        r = height - 1 - r
    if image & 4:
        c = width - 1 - c
    if image & 1:
        r, c = c, r
    return np.uint64(64 * r + c)


@entry("boards")
def draw_boards(key, first, last, placement, holes, size, exits, starts, goals, numbers):
    """Draws ``first, first + 1, ...`` until all rows of ``exits`` are scatter boards whose agents can reach their goals, or up to ``last``.

    Args:
        exits: uint8 ``[row, cell]``, row-major, gets the masks of :mod:`frozenlab.lake.exits`.
        starts, goals: int64 ``[row, agent]``, get row-major cell numbers.
        numbers: int64 ``[row]``, gets the number of each board's draw.

    Returns:
        (how many rows were filled, the number of the next draw)
    """
    free = np.empty(size * size, np.uint8)
    cells, label = np.empty(size * size, np.int64), np.empty(size * size, np.int64)
    rows, number = 0, first
    while rows < exits.shape[0] and number < last:
        for c in range(size * size):
            free[c], cells[c] = 1, c
        state = shuffled_head(first_state(key, number), cells, np.int64(0), holes)
        for place in range(holes):
            free[cells[place]] = 0
        state, placed = place_agents(state, placement, holes, size, free, cells, label, exits[rows], starts[rows], goals[rows])
        if placed:
            numbers[rows] = number
            rows += 1
        number += 1
    return rows, number


@entry("boards")
def canonical_of_boards(exits, height, width, starts, goals):
    """:func:`canonical` of boards of one shape, one a row."""
    out = np.empty(exits.shape[0], np.uint64)
    for row in range(exits.shape[0]):
        out[row] = canonical(exits[row], height, width, starts[row], goals[row])
    return out
