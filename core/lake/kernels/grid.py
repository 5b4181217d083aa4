"""Compiled steps on a grid, apart from the search, so that boards can be drawn before that is compiled. Imports numba."""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

from frozenlab.lake.kernels.compiled import kernel


@kernel
def neighbour(cell, direction, width, cells):
    """The row-major number of the next cell in a direction, -1 off the grid."""
    if direction == 0:
        return cell - width
    if direction == 1:
        return cell + width if cell + width < cells else -1
    if direction == 2:
        return cell - 1 if cell % width > 0 else -1
    return cell + 1 if cell % width < width - 1 else -1
