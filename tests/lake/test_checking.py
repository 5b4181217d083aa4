"""Checking in batches says what the plain Python definition says, text by text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.lake.rules import FAULTS, Verdict
from frozenlab.lake.words.answers import judge_answer
from frozenlab.lake.words.checking import Checked, check
from tests.lake.boards import CROSS, boards

PIECES = [
    "agent", "Agent ", "AGENT", "agents", "0", "1", "2", "00", "0000", "7", ":", ": ",
    " : ", "\n", "\n", "\n", "\r\n", " ", "  ", ", ", "\t",
    "UP", "down", "Left", "RIGHT ", "WAIT", "stay", "STAY ", "U ", "d ", "RRD", "dull", "right then left", "wait.", "UPDOWN", "waits",
    "→", " → ", "->", "-", ">", "*", "**", "`", "_", "[", "]", "(", ")", '"', "'",
    ";", ".", "é", "\u2192", "\u2190", "\u2028", "\x85", "\x00",
    "ſtay", "\u0660", "K", "🧊", "\ud800", "{", "@", "`a", "[z", "Agent 0: RIGHT DOWN\n", "Agent 1: L, L\n", "Agent 2: WAIT\nAgent 0:",
]  # fmt: skip
"""Words of the grammar, what is nearly one of them, and what only looks like it (bytes beside the letters, Unicode that folds to ASCII)."""

noise = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=14).map("".join)


@st.composite
def answer_like(draw: st.DrawFn, num_agents: int) -> str:
    """Mostly mentions of the agents in a few notations, with noise here and there."""
    lines = []
    for _ in range(draw(st.integers(0, num_agents + 2))):
        actions = draw(st.lists(st.sampled_from(["UP", "DOWN", "LEFT", "RIGHT", "WAIT", "u", "D", "l", "R", "stay", "RRD"]), max_size=6))
        separator = draw(st.sampled_from([" ", ", ", " -> ", "→", "; "]))
        line = f"Agent {draw(st.integers(0, num_agents))}: {separator.join(actions)}"
        lines.append(draw(noise) + line if draw(st.integers(0, 5)) == 0 else line)
    return "\n".join(lines)


def same(checked: Checked, i: int, verdict: Verdict) -> bool:
    """Whether row ``i`` says what the verdict says."""

    def number(x: int | None) -> int:
        return -1 if x is None else x

    first_two = [*verdict.agents[:2], -1, -1][:2]
    return (
        checked.fault[i] == (-1 if verdict.fault is None else FAULTS.index(verdict.fault))
        and checked.valid[i] == verdict.valid
        and checked.step[i] == number(verdict.step)
        and checked.agents[i].tolist() == first_two
        and checked.makespan[i] == number(verdict.makespan)
        and checked.sum_of_costs[i] == number(verdict.sum_of_costs)
        and checked.optimal[i] == number(verdict.optimal)
        and checked.on_goal[i] == sum(verdict.on_goal)
    )


@given(st.data())
def test_says_what_the_definition_says(data: st.DataObject) -> None:
    pool = data.draw(st.lists(boards(most_side=4, most_agents=3, furnished=True), min_size=1, max_size=3))
    rows = [
        (board, data.draw(st.one_of(answer_like(board.num_agents), noise)), data.draw(st.one_of(st.none(), st.integers(0, 6))))
        for board in data.draw(st.lists(st.sampled_from(pool), min_size=1, max_size=6))
    ]
    drawn, texts, optima = zip(*rows, strict=True)
    checked = check(drawn, texts, optima)
    for i, (board, text, optimum) in enumerate(rows):
        verdict = judge_answer(board, text, optimum)
        assert checked.verdict(i) == verdict
        assert same(checked, i, verdict), (board, text, verdict)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Agent 0: DOWN DOWN\nAgent 1: WAIT RIGHT RIGHT", "optimal"),
        ("Agent 0: W DOWN DOWN\nAgent 1: W WAIT RIGHT RIGHT", "suboptimal"),
        ("Agent 0: DOWN DOWN\nAgent 1: RIGHT RIGHT", "vertex_conflict"),
        ("Agent 0: LEFT DOWN\nAgent 1: WAIT UP", "edge_conflict"),
        ("Agent 0: UP\nAgent 1: RIGHT", "out_of_bounds"),
        ("Agent 0: DD\nAgent 1: WRRD", "hole"),
        ("Agent 0: DOWN", "missing_agent"),
        ("Agent 0: D\nAgent 1: W", "goal_not_reached"),
        ("", "parse_error"),
        ("Agent 3: DOWN", "parse_error"),
    ],
)
def test_outcomes(text: str, outcome: str) -> None:
    checked = check(CROSS, [text], 3)
    assert checked.verdict(0).outcome == outcome
    assert same(checked, 0, checked.verdict(0))


def test_a_batch_is_its_single_answers() -> None:
    """Also where texts meet without a line feed between them, and where a text or the batch is empty."""
    texts = ["Agent 0: DD", "Agent 1: RR", "", "Agent 0: DD\nAgent 1: WRR", "Agent 0: D", "D\nAgent 1: WRR"]
    checked = check(CROSS, texts)
    assert [FAULTS[x] if x >= 0 else None for x in checked.fault] == [judge_answer(CROSS, text).fault for text in texts]
    assert len(check(CROSS, []).fault) == 0


def test_a_very_long_answer_is_read_to_its_end() -> None:
    text = "Agent 0: " + "UD" * 30_000 + "\n" + "thinking " * 30_000 + "\nAgent 1:" + " WAIT" * 70_000 + "\nAgent 0: DD"
    checked = check(CROSS, [text])
    assert (checked.step[0], checked.agents[0].tolist()) == (70_000, [1, -1])


def test_counts_must_agree() -> None:
    with pytest.raises(ValueError, match="2 boards for 1 completions; give one for each, or one for all"):
        check([CROSS, CROSS], ["Agent 0: D"])
    with pytest.raises(ValueError, match="1 optimal makespans for 2 completions"):
        check(CROSS, ["", ""], [3])
