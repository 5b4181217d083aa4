"""A board as a short string for an address: bits packed and written in URL-safe base64.

Layout, from the highest bit: a leading 1, height - 1 (5 bits), width - 1 (5), agents - 1 (9), one bit a cell (1 = hole) in row-major
order, then start and goal of every agent as cell numbers (10 bits each). A 10x10 board with five agents takes 37 letters. A board with
one-way ice or doors goes on with 4 bits for each cell that is no hole: 0 plain, 1 to 4 an arrow, 5 to 9 a door.
Boards of more than 32 cells a side or 512 agents have wider numbers (11, 11, 10 and 20 bits), and a ``~`` in front of their code.
"""

from __future__ import annotations

import base64
import re
from typing import NamedTuple

from frozenlab.lake.board import FROZEN, HOLE, Agent, Board, BoardError
from frozenlab.lake.exits import ARROWS, DOORS


class _Bits(NamedTuple):
    """How many bits the numbers of a code have."""

    side: int
    team: int
    cell: int


_BITS = {"": _Bits(5, 9, 10), "~": _Bits(11, 10, 20)}
"""By what a code begins with."""
_KINDS, _KIND = FROZEN + ARROWS + DOORS, 4
_CODE = re.compile(r"[A-Za-z0-9_-]{4,2500}|~[A-Za-z0-9_-]{6,900000}")
_HOLES = str.maketrans({letter: str(int(letter == HOLE)) for letter in _KINDS + HOLE})
_ICE = str.maketrans({HOLE: ""} | {letter: format(number, f"0{_KIND}b") for number, letter in enumerate(_KINDS)})
LONGEST_ADDRESS = 7_000
"""Letters of a code that an address may have: many servers take a line of 8 KB."""


def encode(board: Board) -> str:
    """The code of ``board``; equal boards have equal codes."""
    small, cells = _BITS[""], "".join(board.rows)
    prefix = "~" if board.size > 1 << small.side or board.num_agents > 1 << small.team else ""
    side, team, cell = _BITS[prefix]
    numbers = [(board.height - 1, side), (board.width - 1, side), (board.num_agents - 1, team)]
    bits = "1" + "".join(format(number, f"0{width}b") for number, width in numbers) + cells.translate(_HOLES)
    bits += "".join(format(r * board.width + c, f"0{cell}b") for agent in board.agents for r, c in (agent.start, agent.goal))
    if board.is_furnished:
        bits += cells.translate(_ICE)
    return prefix + base64.urlsafe_b64encode(int(bits, 2).to_bytes((len(bits) + 7) // 8)).decode().rstrip("=")


def decode(code: str) -> Board:
    """The board of a code. Raises BoardError if it is not one (codes come from addresses, which people can write by hand)."""
    if not _CODE.fullmatch(code):
        raise BoardError("not a board code")
    prefix = code[:1] if code[:1] in _BITS else ""
    plain = code.removeprefix(prefix)
    try:
        bits = format(int.from_bytes(base64.urlsafe_b64decode(plain + "=" * (-len(plain) % 4))), "b")
    except ValueError:
        raise BoardError("not a board code") from None
    at = 1

    def take(width: int, count: int = 1) -> str:
        nonlocal at
        at += width * count
        if at > len(bits):
            raise BoardError("the board code is cut off")
        return bits[at - width * count : at]

    side, teams, cell = _BITS[prefix]
    height, width, team = (int(take(length), 2) + 1 for length in (side, side, teams))
    holes = take(1, height * width)
    ends = take(cell, 2 * team)
    numbers = [divmod(int(ends[first : first + cell], 2), width) for first in range(0, len(ends), cell)]
    agents = tuple(map(Agent, numbers[::2], numbers[1::2]))
    ice = holes.translate({ord("0"): FROZEN, ord("1"): HOLE})
    if at < len(bits):
        kinds = take(_KIND, holes.count("0"))
        letters = iter([kind_of(int(kinds[first : first + _KIND], 2)) for first in range(0, len(kinds), _KIND)])
        ice = "".join(HOLE if hole == "1" else next(letters) for hole in holes)
    if at < len(bits):
        raise BoardError("the board code is too long")
    board = Board(tuple(ice[first : first + width] for first in range(0, height * width, width)), agents)
    if encode(board) != code:
        raise BoardError("not a board code")  # another spelling: a board has one address
    return board


def kind_of(number: int) -> str:
    """The letter of a cell that is no hole. Raises BoardError for a number that is none."""
    if number >= len(_KINDS):
        raise BoardError("not a board code")
    return _KINDS[number]
