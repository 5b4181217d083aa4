import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.board import Agent, Board, BoardError
from frozenlab.lake.formats.benchmark import question, read_question
from frozenlab.lake.rules import judge
from frozenlab.lake.words.answers import ACTIONS, FILLERS, INSTRUCTIONS, judge_answer, prompt, read_answer, write_answer
from tests.lake.boards import CROSS

WORDS = {letter: word for word, letter in ACTIONS.items() if word != "STAY"}


def test_the_prompt_is_the_benchmarks_question_and_how_to_answer() -> None:
    """The example in it is an answer; the question, which names the agents too, is none."""
    assert prompt(CROSS) == f"{question(CROSS)}\n\n{INSTRUCTIONS}"
    assert read_question(prompt(CROSS)) == CROSS
    assert read_answer(INSTRUCTIONS, 5) == {0: "RRDW"}
    assert read_answer(question(CROSS), 5) == {}


def test_letters_of_one_way_ice_and_doors_are_explained_where_the_map_has_them() -> None:
    text = prompt(Board.from_text("S > G\ns 1 g"))
    assert "one-way ice" in text and "1: a door. Only agent 1 may enter it." in text and read_question(text).rows == ("F>F", "F1F")
    assert "one-way" not in prompt(CROSS) and "door" not in prompt(CROSS)
    assert "one-way" not in prompt(Board.from_text("S 0 G"))


def test_a_board_with_more_agents_than_letters_has_no_question() -> None:
    with pytest.raises(BoardError, match="letters for 5 agents, the board has 6"):
        prompt(Board(("FFFFFF",) * 2, tuple(Agent((0, c), (1, c)) for c in range(6))))


@pytest.mark.parametrize(
    ("line", "motions"),
    [
        ("Agent 0: RIGHT RIGHT DOWN WAIT", "RRDW"),
        ("agent 0: right, right, down, stay", "RRDW"),
        ("AGENT 0 : R R D W", "RRDW"),
        ("Agent 0: RRDW", "RRDW"),
        ("- **Agent 0:** Right → Right -> Down; WAIT.\r", "RRDW"),
        ('> "Agent_00": ["RIGHT", "RIGHT", "DOWN", "WAIT"],', "RRDW"),
        ("Agent 0:RIGHT RR\tD→W", "RRRDW"),
        ("Agent0: up", "U"),
        ("Agent 0:", None),
        ("Agent 0: none", None),
        ("Agent 0: RIGHT then DOWN", None),
        ("Agent 0: RIGHTDOWN", None),
        ("Agent 0: RIGHT3", None),
        ("Agent 0 RIGHT", None),
        ("Agent 0: RIGHT Agent 1: LEFT", None),
        ("So Agent 0: RIGHT", None),
        ("Agents 0: RIGHT", None),
        ("Agent 0000: RIGHT", None),
        ("Agent -0: RIGHT", "R"),
        ("Agent 0: \u017ftay", None),
        ("Agent \u0660: RIGHT", None),
        ("Agent 0: RIGHT\u2028Agent 0: LEFT", None),
        ("Agent 0:\nRIGHT", None),
    ],
)
def test_what_is_a_mention(line: str, motions: str | None) -> None:
    assert read_answer(line, 1) == ({} if motions is None else {0: motions})
    assert read_answer(f"Let me think.\n{line}\nThat is all.", 1) == ({} if motions is None else {0: motions})


def test_the_last_mention_of_each_agent_counts_and_unknown_agents_do_not() -> None:
    text = "Agent 0: UP\nAgent 1: LEFT\nNo, better:\nAgent 0: DOWN\nAgent 0: hm\nAgent 7: UP"
    assert read_answer(text, 2) == {0: "D", 1: "L"}


def test_what_the_verdict_says() -> None:
    assert judge_answer(CROSS, "Agent 1: W RIGHT RIGHT\nAgent 0: DOWN DOWN", 3).outcome == "optimal"
    nothing = judge_answer(CROSS, "I cannot solve this.")
    assert (nothing.fault, nothing.agents, nothing.optimal, nothing.on_goal) == ("parse_error", (), False, (False, False))
    half = judge_answer(CROSS, "Agent 0: DD")
    assert (half.fault, half.agents, half.on_goal) == ("missing_agent", (1,), (True, False))
    assert judge_answer(CROSS, "Agent 0: DD\nAgent 1: RR").fault == "vertex_conflict"


@given(st.data())
def test_every_plan_can_be_written_as_an_answer_in_many_ways(data: st.DataObject) -> None:
    plan = tuple(data.draw(st.text("UDLRW", min_size=1, max_size=6)) for _ in range(2))
    filler = st.text(FILLERS, min_size=1, max_size=3)

    def action(letter: str) -> str:
        word = data.draw(st.sampled_from([letter, WORDS[letter], "STAY" if letter == "W" else letter]))
        return data.draw(st.sampled_from([word, word.lower(), word.title()]))

    lines = [f"Agent {i}:" + "".join(data.draw(filler) + action(letter) for letter in motions) for i, motions in enumerate(plan)]
    assert judge_answer(CROSS, "\n".join(lines)) == judge(CROSS, plan)


@given(st.lists(st.text("UDLRW", min_size=1, max_size=6), min_size=1, max_size=9))
def test_a_written_answer_reads_as_its_plan(plan: list[str]) -> None:
    assert read_answer(write_answer(tuple(plan)), len(plan)) == dict(enumerate(plan))


def test_an_agent_without_actions_is_written_as_waiting() -> None:
    assert write_answer(("RW", "")) == "Agent 0: RIGHT WAIT\nAgent 1: WAIT"
