import pytest

from frozenlab.lake.board import Agent, Board, BoardError
from frozenlab.lake.formats.benchmark import question, read_question
from frozenlab.lake.words.answers import INSTRUCTIONS, prompt, write_answer
from frozenlab.lake.words.reading import parse_answer
from tests.lake.boards import CROSS


def test_the_prompt_is_the_benchmarks_question_and_how_to_answer() -> None:
    assert prompt(CROSS) == f"{question(CROSS)}\n\n{INSTRUCTIONS}"
    assert read_question(prompt(CROSS)) == CROSS
    assert parse_answer(CROSS, question(CROSS), finished=True).paths is None, "the question names the agents too"


def test_letters_of_one_way_ice_and_doors_are_explained_where_the_map_has_them() -> None:
    text = prompt(Board.from_text("S > G\ns 1 g"))
    assert "one-way ice" in text and "1: a door. Only agent 1 may enter it." in text and read_question(text).rows == ("F>F", "F1F")
    assert "one-way" not in prompt(CROSS) and "door" not in prompt(CROSS)
    assert "one-way" not in prompt(Board.from_text("S 0 G"))


def test_a_board_with_more_agents_than_letters_has_no_question() -> None:
    with pytest.raises(BoardError, match="letters for 5 agents, the board has 6"):
        prompt(Board(("FFFFFF",) * 2, tuple(Agent((0, c), (1, c)) for c in range(6))))


def test_an_agent_without_actions_is_written_as_waiting() -> None:
    assert write_answer(("RW", "")) == "Agent 0: RIGHT WAIT\nAgent 1: WAIT"
