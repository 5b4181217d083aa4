import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from frozenlab.lake.board import MOVES, Agent, Board, BoardError
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.formats.benchmark import question, read_question
from frozenlab.lake.rules import Paths, judge, judge_paths, walk
from frozenlab.lake.words import compact
from frozenlab.lake.words.answers import INSTRUCTIONS, prompt, write_answer
from frozenlab.lake.words.reading import judge_answer, parse_answer
from recipes.lab_model.guises import disguise
from tests.lake.boards import CROSS, boards

COMPACT = {
    "3x3.txt": (Board.from_text("g H s\nF F G\nF H S"), ("WU", "DLLU")),
    "4x4.txt": (Board.from_text("F H g H\nS > 1 F\nF F G s\nH F F F"), ("DRR", "ULU")),
}


def test_the_prompt_is_the_benchmarks_question_and_how_to_answer() -> None:
    assert prompt(CROSS) == f"{question(CROSS)}\n\n{INSTRUCTIONS}"
    assert read_question(prompt(CROSS)) == CROSS
    assert parse_answer(CROSS, question(CROSS), finished=True).paths is None, "the question names the agents too"


def test_letters_of_one_way_ice_and_doors_are_explained_where_the_map_has_them() -> None:
    text = prompt(Board.from_text("S > G\ns 1 g"))
    assert "one-way ice" in text and "1: a door. Only agent 1 may enter it." in text and read_question(text).rows == ("F>F", "F1F")
    assert "one-way" not in prompt(CROSS) and "door" not in prompt(CROSS)
    assert "one-way" not in prompt(Board.from_text("S 0 G"))


def test_an_agent_without_actions_is_written_as_waiting() -> None:
    assert write_answer(("RW", "")) == "Agent 0: RIGHT WAIT\nAgent 1: WAIT"


# --- the compact question ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMPACT)
def test_the_compact_question_and_its_worked_answer(name: str) -> None:
    board, plan = COMPACT[name]
    golden = (Path(__file__).parent / "compact" / name).read_text()
    assert f"{compact.question(board)}\n\n{compact.worked_answer(board, plan)}\n" == golden


CELLS = re.compile(r" ([a-z])(\d+)(?: ([<>^v\d]))?((?: (?:up|down|left|right))*)")


@given(boards(furnished=True))
def test_a_compact_question_holds_the_whole_board_and_its_ways(board: Board) -> None:
    size, *lines = compact.question(board).splitlines()
    height, width = map(int, size.split("x"))
    rows = [["H"] * width for _ in range(height)]
    cells = {
        (compact.ROWS.index(row), int(column)): (kind, ways)
        for line in lines if line[0] == " " for row, column, kind, ways in CELLS.findall(line)
    }  # fmt: skip
    for (r, c), (kind, ways) in cells.items():
        rows[r][c] = kind or "F"
        steps = [(move, (r + dr, c + dc)) for move, (dr, dc) in MOVES.items() if move != "W"]
        assert ways.split() == [compact.WORDS[move] for move, there in steps if board.has_exit((r, c), there)]
    names = {compact.name(cell): cell for cell in cells}
    ends = [line.split()[1::2] for line in lines if line[0] != " "]
    assert Board(tuple(map("".join, rows)), tuple(Agent(names[start], names[goal]) for start, goal in ends)) == board


def moves_of(paths: Paths) -> tuple[str, ...]:
    letters = {step: letter for letter, step in MOVES.items()}
    return tuple("".join(letters[b[0] - a[0], b[1] - a[1]] for a, b in pairwise(path)) for path in paths)


def test_a_worked_answer_is_read_as_its_plan_however_the_board_is_turned() -> None:
    rng = np.random.default_rng(0)
    for task in generate(EnvironmentConfig.uniform((3, 4, 6), agents=3, hole_ratio=0.2, wait_ratio=0.5), 60, seed=3):
        plan, most = task.solution.plan or (), task.solution.makespan
        paths = walk(task.board, tuple(motions.ljust(most or 0, "W") for motions in plan))
        for board, way in [(task.board, paths), *(disguise(task.board, paths, rng) for _ in range(4))]:
            text = compact.worked_answer(board, moves_of(way))
            assert compact.read_answer(board, text, finished=True).paths == way
            assert judge_paths(board, way, most).outcome == "optimal"
            lines = text.splitlines()
            assert all(line.endswith("home") for line in lines[-3:]) and len(lines) == 3 * (1 + (most or 0))


def test_barred_moves_are_those_that_agents_before_it_leave_no_room_for() -> None:
    board = Board.from_text("S s g\nF F G")
    text = compact.worked_answer(board, ("RRD", "RWW"))
    assert "1 not left wait, right a2 home" in text and "0 not" not in text, "it is followed, and has to go"
    assert "1 not left wait, down b1" in compact.worked_answer(board, ("RRD", "DRU")), "it may neither stay nor change places"


ONE = "0 a1 down left right\n1 b0 up down right"
TWO = "\n0 down b1 up down left right\n1 not right, wait b0 up down right"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (f"{ONE}{TWO}\n0 down c1 home\n1 right b1 up down left right\n0 home\n1 right b2 home", "optimal"),
        (f"{ONE}\n0 home\n1 home{TWO}\n0 down c1\n1 right b1\n0 home\n1 right b2 home", "suboptimal"),
        (f"{ONE}{TWO}\n0 down c1 home", "missing_agent"),
        ("0 a1 down left right", "missing_agent"),
        (f"{ONE}{TWO}", "goal_not_reached"),
        (ONE, "goal_not_reached"),
        (f"{ONE}\n0 down b1\n1 right b1", "vertex_conflict"),
        (f"{ONE}\n0 up a1\n1 home", "out_of_bounds"),
        (f"{ONE}\n0 down b1\n1 home\n0 down c1\n1 down c0\n0 right c2\n1 home", "hole"),
        ("0 a0 down\n1 b0 right", "illegal_jump"),
        (f"{ONE}\n0 down b2 home\n1 home", "parse_error"),
        (f"{ONE}\n1 home\n0 home", "parse_error"),
        (f"{ONE}\n0 down b1 and then\n1 home", "parse_error"),
        (f"{ONE}\n0 jump b1\n1 home", "parse_error"),
        (f"{ONE}\n2 home\n1 home", "parse_error"),
        ("Agent 0: DOWN DOWN\nAgent 1: WAIT RIGHT RIGHT", "parse_error"),
        ("0 down b1", "parse_error"),
        ("", "parse_error"),
    ],
)
def test_an_answer_to_the_compact_question_is_read_in_its_own_form_only(text: str, outcome: str) -> None:
    verdict = judge_answer(CROSS, compact.read_answer(CROSS, text, finished=True), 3)
    assert verdict.outcome == outcome
    assert compact.read_answer(CROSS, text, finished=False).fault == "truncated"
    if outcome == "optimal":
        assert verdict == judge(CROSS, ("DD", "WRR"), 3)


def tokens(text: str) -> int:
    """As models cut it that know these words and cut numbers into digits, which SmolLM2 does to the token."""
    return len(re.findall(r"[a-z]+|[^a-z ]", text))


def test_a_board_takes_few_tokens() -> None:
    tasks = generate(EnvironmentConfig.uniform((3, 4), agents=2, hole_ratio=0.2, wait_ratio=0.2), 200, seed=1)
    asked = [tokens(compact.question(task.board)) for task in tasks]
    written = [tokens(compact.worked_answer(task.board, task.solution.plan or ())) for task in tasks]
    assert np.mean(asked) < 65 and max(asked) < 90 and np.mean(written) < 60 and max(written) < 200


def test_a_board_with_more_rows_than_letters_has_no_compact_question() -> None:
    with pytest.raises(BoardError, match="the board has 27 rows; the compact question has letters for 26"):
        compact.question(Board(("FF",) * 27, (Agent((0, 0), (0, 1)),)))
