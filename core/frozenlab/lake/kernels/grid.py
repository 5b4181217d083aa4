"""Compiled steps on a grid, apart from the search, so that boards can be drawn before that is compiled. Imports numba."""

from frozenlab.lake import exits
from frozenlab.lake.exits import DOWN, LEFT, RIGHT, UP
from frozenlab.lake.kernels.compiled import entry, inlined, kernel

DIRECTIONS = 4
"""UP, DOWN, LEFT and RIGHT, numbered in this order: a direction is also the number of its bit in a mask of exits."""

write_exits = inlined(exits.write_exits)
locked = inlined(exits.locked)


@entry("judge")
def write_exits_of_boards(frozen, width, exits):
    """The exits of boards of one shape, one a row, as holes and the border leave them."""
    for row in range(frozen.shape[0]):
        write_exits(frozen[row], width, exits[row])


@kernel
def neighbour(cell, direction, width, cells):
    """The row-major number of the next cell in a direction, negative off the grid."""
    if direction == 0:
        return cell - width
    if direction == 1:
        return cell + width if cell + width < cells else -1
    if direction == 2:
        return cell - 1 if cell % width > 0 else -1
    return cell + 1 if cell % width < width - 1 else -1


@kernel
def cell_towards(cell, direction, width):
    """The next cell in a direction, where there is one."""
    return cell + (-width, width, -1, 1)[direction]


@inlined
def write_entries(exits, width, entries):
    """Writes the sides from which each cell can be entered, one bit for each direction: UP if the cell above has an exit DOWN."""
    cells = exits.shape[0]
    for cell in range(cells):
        sides = 0
        if cell >= width:
            sides |= (exits[cell - width] & DOWN) >> 1
        if cell + width < cells:
            sides |= (exits[cell + width] & UP) << 1
        if cell > 0:
            sides |= (exits[cell - 1] & RIGHT) >> 1
        if cell < cells - 1:
            sides |= (exits[cell + 1] & LEFT) << 1
        entries[cell] = sides
