"""Answers on pages: the task, the steps with the fault marked, and what became of them in a sentence."""

import pytest

from frozenlab.app.views.countdown import CountdownView, answer_card
from frozenlab.models.evaluation import answer_row, frame
from frozenlab.models.policy import Completion
from frozenlab.tasks.countdown.drawing import CountdownTask
from frozenlab.tasks.countdown.family import COUNTDOWN

TASK = CountdownTask.certified("one", "numbers4", (3, 7, 12, 5), 33)


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ("7 * 3 = 21\n21 + 12 = 33", "It reaches 33 in 2 steps, and no way is shorter.", 'is-reached">21 + 12 = 33<'),
        ("7 - 5 = 2\n2 + 3 = 5\n7 * 3 = 21", "Step 3: 7 has been used already.", 'is-fault">7 × 3 = 21<small>a number used twice<'),
        ("7 * 4 = 28\n28 + 5 = 33", "Step 1: 4 is neither on the list nor an earlier result.", 'is-after">28 + 5 = 33<'),
        ("7 * 3 = 20", "Step 1: 7 × 3 is 21, not 20.", 'is-fault">7 × 3 = 20<'),
        ("3 - 7 = -4", "Step 1: -4 is not between 0 and 99.", "is-fault"),
        ("7 + 3 = 10", "It ends with 10, not with 33.", 'is-fault">7 + 3 = 10<small>not the target<'),
        ("<b>none</b>", "The answer cannot be read.", "<pre>&lt;b&gt;none&lt;/b&gt;</pre>"),
    ],
)
def test_a_card_says_what_became_of_an_answer(text: str, said: str, line: str) -> None:
    answer = COUNTDOWN.plain.read(TASK, text, finished=True)
    table = frame([answer_row(COUNTDOWN, TASK, Completion(text, 9, True), answer)], COUNTDOWN)
    card = answer_card(table.iloc[0], "after <stage> 1")
    assert said in card and line in card and "<span>12</span>" in card and "<h3>after &lt;stage&gt; 1</h3>" in card
    listed = CountdownView(COUNTDOWN).columns(table)
    assert listed["numbers"].tolist() == ["3, 7, 12, 5"] and listed["outcome"].tolist() == [COUNTDOWN.outcomes[table["outcome"][0]].label]


def test_a_longer_way_is_told() -> None:
    text = "5 - 2 = 3\n9 - 2 = 7"
    task = CountdownTask.certified("one", "numbers4", (2, 2, 5, 9), 7)
    answer = COUNTDOWN.plain.read(task, text, finished=True)
    table = frame([answer_row(COUNTDOWN, task, Completion(text, 9, True), answer)], COUNTDOWN)
    assert "It reaches 7 in 2 steps, and 1 step would be enough." in answer_card(table.iloc[0], "now")
    assert CountdownView(COUNTDOWN).still(table.iloc[0]) == {"lines": ["2, 2, 5, 9 → 7", "5 − 2 = 3", "9 − 2 = 7"]}
