import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.board import Agent, Board, BoardError, read_board
from tests.lake.boards import boards


@given(boards(furnished=True, shared=True))
def test_both_forms_give_the_board_back(board: Board) -> None:
    assert read_board(json.dumps(board.to_dict())) == board
    if board.has_letters:
        assert read_board(board.to_text()) == board


def test_where_a_start_is_a_goal_too_the_text_form_has_no_letter_for_it() -> None:
    board = Board(("FF",), (Agent((0, 0), (0, 0)),))
    with pytest.raises(BoardError, match="one letter a cell, and a start is also a goal: use JSON"):
        board.to_text()


def test_six_agents_need_the_json_form() -> None:
    board = Board(("FFF",) * 4, tuple(Agent((i // 3, i % 3), (2 + i // 3, i % 3)) for i in range(6)))
    with pytest.raises(BoardError, match="letters for 5 agents, the board has 6"):
        board.to_text()
    assert read_board(json.dumps(board.to_dict())) == board


def test_blank_lines_count_in_line_numbers_but_not_as_rows() -> None:
    assert read_board("\n\nS F\n\nF G\n").height == 2
    with pytest.raises(BoardError, match="line 3, cell 2: 'x'"):
        read_board("\nS F\nG x")


def test_a_thousand_agents_on_the_largest_board_are_read_at_once() -> None:
    rows = ("F" * 512,) * 2047 + ("FH" * 256,)
    board = Board(rows, tuple(Agent(divmod(7 * i, 512), divmod(7 * i + 3, 512)) for i in range(1000)))
    began = time.process_time()
    again = read_board(json.dumps(board.to_dict()))
    exits = again.exits
    assert time.process_time() - began < 0.5, "0.08 s"
    assert again == board and (exits[0], exits[511], exits[-1], exits[-2]) == (26, 22, 0, 17)
    with pytest.raises(BoardError, match="the board has 1001 agents; the largest team allowed is 1000"):
        Board(("F" * 512,) * 4, tuple(Agent(divmod(i, 512), divmod(i, 512)) for i in range(1001)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no cells"),
        ("F F\nF F", "no agents"),
        ("S F\nG", "row 1 has 1 cells, row 0 has 2"),
        ("S F Z", "line 1, cell 3: 'Z'"),
        ("S S G", "a second start 'S' of agent 0"),
        ("S F F", "a start 'S' but no goal 'G'"),
        ("G F F", "a goal 'G' but no start 'S'"),
        ("S A G a", "agent 2 is on the board but agent 1 is not"),
        ("S " + "F " * 2048 + "G", "largest side allowed is 2048"),
        ("S G " + "F " * 2047 + "x x", "line 1: a cell too many"),
        ("S G\n" + "F F\n" * 2048 + "x", "line 2049: a row too many; the largest side allowed is 2048"),
        ('{"map": 1}', '"map" must be a list'),
        ('{"map": ["S G"]}', '"agents" must be a list'),
        ('{"map": ["S G"], "agents": [{"start": [0, 0]}]}', 'agent 0: "goal" must be'),
        ('{"map": ["F F"], "agents": [{"start": [0, true], "goal": [0, 1]}]}', "two whole numbers"),
        ('{"map": ["F F"], "agents": [{"start": [0, 0], "goal": [0, 2]}]}', "off the 1x2 board"),
        ('{"map": ["F F"], "agents": [{"start": [0, -1], "goal": [0, 1]}]}', "off the 1x2 board"),
        ('{"map": ["F H"], "agents": [{"start": [0, 0], "goal": [0, 1]}]}', "is a hole"),
        ('{"map": ["F ^"], "agents": [{"start": [0, 0], "goal": [0, 1]}]}', "is one-way ice"),
        ('{"map": ["0 F"], "agents": [{"start": [0, 0], "goal": [0, 1]}]}', "is a door"),
        ("S 1 G", "is a door of agent 1, whom the board does not have"),
        ("S >> G", "line 1, cell 2: '>>' is no cell"),
        (
            '{"map": ["F F"], "agents": [{"start": [0, 0], "goal": [0, 1]}, {"start": [0, 1], "goal": [0, 1]}]}',
            "is also the goal of agent 0",
        ),
        ('{"map": ["G S"], "agents": [{"start": [0, 0], "goal": [0, 1]}]}', 'but "agents" says otherwise'),
        ('{"map": ["S G"', "not a JSON board: .* line 1, column"),
        ('{"a":' * 100_000, "not a JSON board"),
        ('{"map": ' + "9" * 5000 + "}", "not a JSON board"),
    ],
)
def test_a_bad_board_gives_one_line_that_says_why(text: str, reason: str) -> None:
    with pytest.raises(BoardError, match=reason) as caught:
        read_board(text)
    assert "\n" not in str(caught.value)


@given(st.text() | st.text(alphabet='SsABCGgabcFH \n{}[]":,019mapgents'))
def test_no_text_brings_the_reader_down(text: str) -> None:
    try:
        read_board(text)
    except BoardError as error:
        assert "\n" not in str(error)


@given(boards(), st.data())
def test_no_damaged_json_brings_the_reader_down(board: Board, data: st.DataObject) -> None:
    text = json.dumps(board.to_dict())
    place = data.draw(st.integers(0, len(text) - 1))
    try:
        read_board(text[:place] + data.draw(st.text(max_size=3)) + text[place + 1 :])
    except BoardError as error:
        assert "\n" not in str(error)


def test_distances_go_around_holes_and_leave_out_what_is_cut_off() -> None:
    board = Board.from_text("S H F H\nF H F H\nF F G F")
    distances = board.distances_to_goal(0)
    assert distances[(0, 0)] == 4 and distances[(0, 2)] == 2 and (1, 1) not in distances
    assert len(distances) == 8 and board.hole_ratio == pytest.approx(4 / 12)
