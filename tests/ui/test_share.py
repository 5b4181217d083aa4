"""A board survives encoding and decoding, and codes from an address are not trusted."""

import time
from contextlib import suppress
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.app.views.lake.share import decode, encode
from frozenlab.lake.board import Agent, Board, BoardError
from tests.lake.boards import furnish


@st.composite
def boards(draw: st.DrawFn) -> Board:
    height, width = draw(st.integers(2, 12)), draw(st.integers(2, 12))
    cells = [(r, c) for r in range(height) for c in range(width)]
    order = draw(st.permutations(cells))
    team = draw(st.integers(1, min(6, len(cells) // 2)))
    holes = set(order[2 * team : 2 * team + draw(st.integers(0, len(cells) - 2 * team))])
    rows = tuple("".join("H" if (r, c) in holes else "F" for c in range(width)) for r in range(height))
    board = Board(rows, tuple(Agent(order[2 * i], order[2 * i + 1]) for i in range(team)))
    return furnish(board, draw(st.randoms(use_true_random=False)), *draw(st.sampled_from(((0.0, 0.0), (0.3, 0.3)))))


@given(boards())
def test_a_board_survives_its_code(board: Board) -> None:
    code = encode(board)
    assert decode(code) == board
    assert code.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize("letter", ["F", ">"])
def test_the_largest_board_survives_its_code_in_no_time(letter: str) -> None:
    rows = ("F" * 512,) * 2047 + (letter * 512,)
    board = Board(rows, tuple(Agent(divmod(3 * i, 512), divmod(3 * i + 1, 512)) for i in range(1000)))
    began = time.process_time()
    assert decode(encode(board)) == board and encode(board).startswith("~")
    assert time.process_time() - began < 2, "0.05 and 0.6 s"


def test_the_codes_of_boards_that_fitted_before_are_those_of_before() -> None:
    rows = ("F" * 32,) * 31 + ("H" * 31 + "F",)
    board = Board(rows, tuple(Agent(divmod(i, 32), divmod(i + 1, 32)) for i in range(512)))
    assert sha256(encode(board).encode()).hexdigest()[:12] == "221adcab9317"
    assert encode(Board(rows, (*board.agents, Agent((16, 0), (16, 1))))).startswith("~"), "one agent too many for the old code"


def test_the_code_of_a_large_board_is_short() -> None:
    board = Board(("F" * 10,) * 10, tuple(Agent((0, i), (9, i)) for i in range(5)))
    assert len(encode(board)) <= 38


@given(st.text(max_size=60) | st.text("ABCabc019-_", max_size=60))
def test_any_text_is_a_board_or_a_board_error(text: str) -> None:
    with suppress(BoardError):
        decode(text)


def test_a_cut_code_says_so() -> None:
    code = encode(Board(("F" * 6,) * 6, (Agent((0, 0), (5, 5)),)))
    with pytest.raises(BoardError, match=r"cut off|too long"):
        decode(code[:-4])


@given(boards(), st.integers(0, 63))
def test_a_board_has_one_address(board: Board, last: int) -> None:
    code = encode(board)
    other = code[:-1] + "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[last]
    with suppress(BoardError):
        assert encode(decode(other)) == other
