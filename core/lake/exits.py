"""The exits of a cell: a bit mask of the actions that an agent on it can take.

Whatever steps or searches reads the exits and nothing else of the ice, so walls between cells or one-way ice can be data of a board.
Where an exit leads, there need not be one that leads back. A hole has no exits, and no exit leads into it; on any other cell an agent can
at least wait.

Plain Python, so that boards can be judged without numba; kernels/grid.py compiles :func:`write_exits`.
"""

# mypy: disallow-untyped-defs=False
# Numba compiles the function and takes its types from the calls.

from __future__ import annotations

UP, DOWN, LEFT, RIGHT, WAIT = (1 << action for action in range(5))
"""One bit for each action, in the order of MOVES."""


def write_exits(frozen, width, exits):
    """Writes the exits that holes and the border leave: between any two frozen cells side by side, both ways.

    Args:
        frozen: ``[cell]``, row-major, 1 where a cell is frozen, 0 where it is a hole.
        exits: ``[cell]``, gets the masks.
    """
    cells = len(frozen)
    for cell in range(cells):
        exits[cell] = WAIT
    for cell in range(width, cells):
        exits[cell] |= UP * frozen[cell - width]
    for cell in range(cells - width):
        exits[cell] |= DOWN * frozen[cell + width]
    for cell in range(1, cells):
        exits[cell] |= LEFT * frozen[cell - 1]
    for cell in range(cells - 1):
        exits[cell] |= RIGHT * frozen[cell + 1]
    for first in range(0, cells, width):
        exits[first] &= ~LEFT
        exits[first + width - 1] &= ~RIGHT
    for cell in range(cells):
        exits[cell] *= frozen[cell]
