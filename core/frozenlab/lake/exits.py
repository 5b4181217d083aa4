"""The exits of a cell: a bit mask of the actions that an agent on it can take.

Whatever steps or searches reads the exits and nothing else of the ice. A hole has no exits, and no exit leads into it; on any other cell
an agent can at least wait. Where an exit leads, there need not be one that leads back: *one-way ice* has only the exit of its arrow, none
if that points at a hole or off the board. The upper bits of a mask hold a *door*: 0 where there is none, else 1 + the number of the only
agent that may enter the cell. Exits lead into doors as into any cell; code that moves an agent also checks :func:`locked`.

Plain Python, so that boards can be judged without numba; kernels/grid.py compiles :func:`write_exits` and :func:`locked`.
"""

UP, DOWN, LEFT, RIGHT, WAIT = (1 << action for action in range(5))
"""One bit for each action, in the order of MOVES."""
DOOR = 5
"""The lowest bit of the door; a mask is one byte, so at most five agents have doors."""
ARROWS, DOORS = "^v<>", "01234"
"""The letters of one-way ice, in the order of MOVES, and of doors: each is the number of the agent that has the key."""
KEPT = bytes(WAIT | 1 << ARROWS.index(chr(letter)) if chr(letter) in ARROWS else 255 for letter in range(256))
"""Letter of a cell -> the actions that its ice leaves of those that holes and the border leave."""
ADDED = bytes(1 + DOORS.index(chr(letter)) << DOOR if chr(letter) in DOORS else 0 for letter in range(256))
"""Letter of a cell -> its door."""

_FROZEN = bytes(chr(letter) != "H" for letter in range(256))


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


def exits_of(letters: bytes, width: int) -> bytes:
    """The masks of a board, as :func:`write_exits` gives them, with its arrows and doors: all cells at once, one byte each of a number.

    Args:
        letters: ``[cell]``, row-major, ASCII.
    """
    cells = len(letters)

    def number(per_cell: bytes) -> int:
        return int.from_bytes(per_cell, "little")

    frozen = number(letters.translate(_FROZEN))
    inner = number((b"\0" + b"\1" * (width - 1)) * (cells // width))  # 1 where a cell has another at its left
    exits = frozen * WAIT | (frozen << 8 * width) * UP | (frozen >> 8 * width) * DOWN
    exits |= (frozen << 8 & inner) * LEFT | ((frozen & inner) >> 8) * RIGHT
    exits &= frozen * 255 & number(letters.translate(KEPT))
    return (exits | number(letters.translate(ADDED))).to_bytes(cells, "little")


def locked(mask, agent):
    """Whether the cell with this mask is a door that ``agent`` has no key for."""
    return mask >> DOOR != 0 and mask >> DOOR != agent + 1
