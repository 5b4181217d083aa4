"""Sets of cells as bitboards of two words, and the grid in this form. Imports numba."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.kernels.compiled import inlined, kernel
from frozenlab.lake.kernels.grid import DIRECTIONS, locked

WORD = 62
"""Bits of a word of a bitboard, so that no word is ever negative."""
BOARD_BITS = 2 * WORD
DE_BRUIJN = 0x03F79D71B4CB0A89
_trailing_zeros = np.zeros(64, np.int64)
for _n in range(64):
    _trailing_zeros[((DE_BRUIJN << _n) & 0xFFFF_FFFF_FFFF_FFFF) >> 58] = _n
TRAILING_ZEROS = _trailing_zeros
"""The upper six bits of DE_BRUIJN times a power of two -> the number of trailing zeros of that power."""


class Grid(NamedTuple):
    """The grid and the agents on it. A cell is a bit of a bitboard; rows are ``stride`` bits apart, with one column that is never used."""

    stride: int
    low: int
    high: int
    """All cells, doors too."""
    exits: tuple[int, int, int, int, int, int, int, int]
    """The cells with an exit UP, DOWN, LEFT and RIGHT, two words each."""
    starts: NDArray[np.int64]
    goals: NDArray[np.int64]
    distances: NDArray[np.int64]
    """``[agent]`` steps from the start to the goal when no other agent is in the way."""
    near: NDArray[np.int64]
    """``[agent, steps, word]`` the cells from which an agent's goal is at most this many steps away: no doors of others."""


@kernel
def bit(cell):
    """The bitboard of one cell."""
    if cell < WORD:
        return np.int64(1) << cell, np.int64(0)
    return np.int64(0), np.int64(1) << (cell - WORD)


@kernel
def has(low, high, cell):
    """Whether a cell is in a bitboard."""
    return (low >> cell & 1 if cell < WORD else high >> (cell - WORD) & 1) == 1


@kernel
def first(low, high):
    """The least cell of a bitboard that is not empty."""
    if low:
        return TRAILING_ZEROS[((low & -low) * DE_BRUIJN) >> 58 & 63]
    return WORD + TRAILING_ZEROS[((high & -high) * DE_BRUIJN) >> 58 & 63]


@inlined
def without_first(low, high):
    """The bitboard without its least cell; it must not be empty."""
    return (low & low - 1, high) if low else (low, high & high - 1)


@kernel
def count(low, high):
    """How many cells are in a bitboard."""
    n = 0
    while low:
        low &= low - 1
        n += 1
    while high:
        high &= high - 1
        n += 1
    return n


@kernel
def cells_after(low, high, grid):
    """The cells of a bitboard, and those that an exit of one of them leads to."""
    s = grid.stride
    up_low, up_high, down_low, down_high, left_low, left_high, right_low, right_high = grid.exits
    up_low, up_high, down_low, down_high = up_low & low, up_high & high, down_low & low, down_high & high
    left_low, left_high, right_low, right_high = left_low & low, left_high & high, right_low & low, right_high & high
    low |= up_low >> s | up_high << (WORD - s) | down_low << s | left_low >> 1 | left_high << (WORD - 1) | right_low << 1
    high |= up_high >> s | down_high << s | down_low >> (WORD - s) | left_high >> 1 | right_high << 1 | right_low >> (WORD - 1)
    return low & grid.low, high & grid.high


@kernel
def cells_before(low, high, grid):
    """The cells of a bitboard, and those that have an exit into one of them."""
    s = grid.stride
    up_low, up_high, down_low, down_high, left_low, left_high, right_low, right_high = grid.exits
    from_low = low << s & up_low | (low >> s | high << (WORD - s)) & down_low
    from_low |= low << 1 & left_low | (low >> 1 | high << (WORD - 1)) & right_low
    from_high = (high << s | low >> (WORD - s)) & up_high | high >> s & down_high
    from_high |= (high << 1 | low >> (WORD - 1)) & left_high | high >> 1 & right_high
    return low | from_low, high | from_high


@kernel
def fits_bitboard(cells, width):
    """Whether a board is small enough for bitboards."""
    return width + 1 < WORD and cells // width * (width + 1) <= BOARD_BITS


@kernel
def to_bitboards(team, problem, horizon, bit_of):
    """The :class:`Grid` of a team; ``bit_of[vertex]`` gets the bit of a vertex."""
    cell_of, width = problem.cell_of, problem.width
    stride = width + 1
    low, high = np.int64(0), np.int64(0)
    out = np.zeros((DIRECTIONS, 2), np.int64)
    for vertex in range(problem.m):
        bit_of[vertex] = cell_of[vertex] // width * stride + cell_of[vertex] % width
        bit_low, bit_high = bit(bit_of[vertex])
        low |= bit_low
        high |= bit_high
        for direction in range(DIRECTIONS):
            if problem.exits[cell_of[vertex]] >> direction & 1:
                out[direction, 0] |= bit_low
                out[direction, 1] |= bit_high
    exits = (out[0, 0], out[0, 1], out[1, 0], out[1, 1], out[2, 0], out[2, 1], out[3, 0], out[3, 1])
    k = team.shape[0]
    near = np.empty((k, horizon + 1, 2), np.int64)
    distances = np.empty(k, np.int64)
    grid = Grid(stride, low, high, exits, bit_of[problem.starts[team]], bit_of[problem.goals[team]], distances, near)
    for i in range(k):
        open_low, open_high = grid.low, grid.high
        for vertex in range(problem.m):
            if locked(problem.exits[cell_of[vertex]], problem.order[team[i]]):
                bit_low, bit_high = bit(bit_of[vertex])
                open_low &= ~bit_low
                open_high &= ~bit_high
        low, high = bit(grid.goals[i])
        distances[i] = -1
        for steps in range(horizon + 1):
            near[i, steps, 0], near[i, steps, 1] = low, high
            if distances[i] < 0 and has(low, high, grid.starts[i]):
                distances[i] = steps
            low, high = cells_before(low, high, grid)
            low &= open_low
            high &= open_high
    return grid
