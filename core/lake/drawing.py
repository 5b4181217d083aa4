"""Compiled drawing of random boards in bulk: a counter-based random stream, uniform placement, and the canonical hash.

Draw number d of a cell (size, agents, holes, seed) depends on nothing but these numbers, so the same boards come out on any machine, in
any order and in chunks of any size. Imports numba, as kernels.py does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from core.lake.kernels import HORIZON, UNDECIDED, UNSOLVABLE, solve_board

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
UNREACHABLE, NO_SOLUTION, NOT_DECIDED, SURPLUS, EXCLUDED, ACCEPTED = range(6)
"""What became of a draw: the columns of the tally."""


class Rows(NamedTuple):
    """Room for solved boards, one row each."""

    free: NDArray[np.uint8]
    """``[row, cell]``, 1 where the cell is frozen."""
    starts: NDArray[np.int64]
    """``[row, agent]``, row-major cell numbers."""
    goals: NDArray[np.int64]
    makespans: NDArray[np.int64]
    needs_wait: NDArray[np.uint8]
    moves: NDArray[np.uint8]
    """``[row, agent, time]``, ASCII letters of the plan."""
    lengths: NDArray[np.int64]
    """``[row, agent]``, how many letters."""


def new_rows(n: int, size: int, agents: int) -> Rows:
    return Rows(
        np.empty((n, size * size), np.uint8),
        np.empty((n, agents), np.int64),
        np.empty((n, agents), np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.uint8),
        np.empty((n, agents, HORIZON), np.uint8),
        np.zeros((n, agents), np.int64),
    )


@njit(cache=True, nogil=True)
def mix(x):
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection of 64 bits that looks random."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@njit(cache=True, nogil=True)
def draw(key, number, holes, k, free, cells, starts, goals):
    """Draw ``number`` of the stream ``key``: ``holes`` holes and 2k frozen cells, as the head of a uniform random permutation."""
    n = free.shape[0]
    for c in range(n):
        cells[c] = c
        free[c] = 1
    state = mix(key + (np.uint64(number) + np.uint64(1)) * GOLDEN)
    for place in range(holes + 2 * k):
        state += GOLDEN
        # the high half of a 32-bit product: a whole number below n - place, biased by less than 1e-6
        other = place + np.int64(((mix(state) >> np.uint64(32)) * np.uint64(n - place)) >> np.uint64(32))
        cells[place], cells[other] = cells[other], cells[place]
        if place < holes:
            free[cells[place]] = 0
    for i in range(k):
        starts[i] = cells[holes + 2 * i]
        goals[i] = cells[holes + 2 * i + 1]


@njit(cache=True, nogil=True)
def reachable(free, width, starts, goals, label, queue):
    """Whether every agent's goal can be reached when no other agent is in the way."""
    n = free.shape[0]
    for c in range(n):
        label[c] = -1
    for i in range(starts.shape[0]):
        if label[starts[i]] < 0:
            label[starts[i]] = i
            queue[0] = starts[i]
            head, tail = 0, 1
            while head < tail:
                cell = queue[head]
                head += 1
                column = cell % width
                for direction in range(4):
                    if direction == 0:
                        other = cell - width
                    elif direction == 1:
                        other = cell + width if cell + width < n else -1
                    elif direction == 2:
                        other = cell - 1 if column > 0 else -1
                    else:
                        other = cell + 1 if column < width - 1 else -1
                    if other >= 0 and free[other] and label[other] < 0:
                        label[other] = i
                        queue[tail] = other
                        tail += 1
        if label[goals[i]] != label[starts[i]]:
            return False
    return True


@njit(cache=True, nogil=True)
def canonical(free, height, width, starts, goals):
    """A 64-bit hash that is the same for all 8 rotations and mirror images of a board and for all orders of its agents.

    Each image is hashed as a commutative sum over its holes and agents; the least of the eight hashes stands for all.
    """
    best = np.uint64(0xFFFFFFFFFFFFFFFF)
    for image in range(8):
        turned = image & 1
        total = np.uint64(0)
        for cell in range(free.shape[0]):
            if not free[cell]:
                total += mix(np.uint64(1) + place(cell, height, width, image))
        for i in range(starts.shape[0]):
            start = place(starts[i], height, width, image)
            goal = place(goals[i], height, width, image)
            total += mix((np.uint64(1) + start) * GOLDEN + mix(np.uint64(1 << 20) + goal))
        shape = np.uint64(width * 64 + height if turned else height * 64 + width)
        best = min(best, mix(total + mix(shape * GOLDEN)))
    return best


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def fill(size, holes, key, first, last, wanted, excluded, budgets, memo, rows, tally):
    """Draws square boards ``first, first + 1, ...`` of a cell, solves them, and keeps what is wanted.

    Args:
        last: draws end before this number; they also end when ``rows`` is full or nothing more is wanted.
        wanted: int64 ``[2]``, how many boards without and with a necessary WAIT are still to be found; counted down.
        excluded: uint64, ascending, the canonical hashes of boards that must not come out.
        rows: gets one row a board that is kept.
        tally: int64 ``[6]``, what became of the draws; added to.

    Returns:
        (boards kept, number of the next draw)
    """
    k = rows.starts.shape[1]
    cells = np.empty(size * size, np.int64)
    label = np.empty(size * size, np.int64)
    codes = np.empty((HORIZON + 1, k), np.int16)
    kept = 0
    number = first
    while number < last and wanted[0] + wanted[1] > 0 and kept < rows.free.shape[0]:
        free, starts, goals = rows.free[kept], rows.starts[kept], rows.goals[kept]
        draw(key, number, holes, k, free, cells, starts, goals)
        number += 1
        if not reachable(free, size, starts, goals, label, cells):
            tally[UNREACHABLE] += 1
            continue
        status, makespan, waits = solve_board(free, size, starts, goals, budgets, memo, codes, rows.moves[kept], rows.lengths[kept])
        if status == UNSOLVABLE:
            tally[NO_SOLUTION] += 1
            continue
        if status == UNDECIDED or waits < 0:
            tally[NOT_DECIDED] += 1
            continue
        if wanted[waits] == 0:
            tally[SURPLUS] += 1
            continue
        if excluded.shape[0] > 0:
            hashed = canonical(free, size, size, starts, goals)
            slot = np.searchsorted(excluded, hashed)
            if slot < excluded.shape[0] and excluded[slot] == hashed:
                tally[EXCLUDED] += 1
                continue
        tally[ACCEPTED] += 1
        wanted[waits] -= 1
        rows.makespans[kept] = makespan
        rows.needs_wait[kept] = waits
        kept += 1
    return kept, number
