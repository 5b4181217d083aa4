"""A board as a short string for an address: bits packed and written in URL-safe base64.

Layout, from the highest bit: a leading 1, height - 1 (5 bits), width - 1 (5), agents - 1 (9), one bit a cell (1 = hole) in row-major
order, then start and goal of every agent as cell numbers (10 bits each). A 10x10 board with five agents takes 37 letters. A board with
one-way ice or doors goes on with 4 bits for each cell that is no hole: 0 plain, 1 to 4 an arrow, 5 to 9 a door.
"""

from __future__ import annotations

import base64
import re

from frozenlab.lake.board import FROZEN, HOLE, Agent, Board, BoardError
from frozenlab.lake.exits import ARROWS, DOORS

_SIDE, _TEAM, _CELL = 5, 9, 10
_KINDS, _KIND = FROZEN + ARROWS + DOORS, 4
_CODE = re.compile(r"[A-Za-z0-9_-]{4,2500}")


def encode(board: Board) -> str:
    """The code of ``board``; equal boards have equal codes."""
    fields = [(1, 1), (board.height - 1, _SIDE), (board.width - 1, _SIDE), (board.num_agents - 1, _TEAM)]
    fields += [(int(letter == HOLE), 1) for row in board.rows for letter in row]
    fields += [(r * board.width + c, _CELL) for agent in board.agents for r, c in (agent.start, agent.goal)]
    ice = [letter for row in board.rows for letter in row if letter != HOLE]
    if set(ice) != {FROZEN}:
        fields += [(_KINDS.index(letter), _KIND) for letter in ice]
    bits = 0
    for value, width in fields:
        bits = bits << width | value
    return base64.urlsafe_b64encode(bits.to_bytes((bits.bit_length() + 7) // 8)).decode().rstrip("=")


def decode(code: str) -> Board:
    """The board of a code. Raises BoardError if it is not one (codes come from addresses, which people can write by hand)."""
    if not _CODE.fullmatch(code):
        raise BoardError("not a board code")
    try:
        bits = int.from_bytes(base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)))
    except ValueError:
        raise BoardError("not a board code") from None
    left = bits.bit_length() - 1

    def take(width: int) -> int:
        nonlocal left
        left -= width
        if left < 0:
            raise BoardError("the board code is cut off")
        return bits >> left & (1 << width) - 1

    height, width, team = take(_SIDE) + 1, take(_SIDE) + 1, take(_TEAM) + 1
    holes = [bool(take(1)) for _ in range(height * width)]
    agents = tuple(Agent(divmod(take(_CELL), width), divmod(take(_CELL), width)) for _ in range(team))
    furnished = left > 0
    ice = "".join(HOLE if hole else kind_of(take(_KIND)) if furnished else FROZEN for hole in holes)
    if left:
        raise BoardError("the board code is too long")
    board = Board(tuple(ice[at : at + width] for at in range(0, height * width, width)), agents)
    if encode(board) != code:
        raise BoardError("not a board code")  # another spelling: a board has one address
    return board


def kind_of(number: int) -> str:
    """The letter of a cell that is no hole. Raises BoardError for a number that is none."""
    if number >= len(_KINDS):
        raise BoardError("not a board code")
    return _KINDS[number]
