"""Countdown in the browser: a task as a card, an answer as its equation, and why it counts or not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from frozenlab.app.ui.components import text_of
from frozenlab.app.ui.figures import Series
from frozenlab.app.views.view import Shown, View, word_by_word
from frozenlab.base.numbers import counted
from frozenlab.tasks.countdown.answer import Verdict, check
from frozenlab.tasks.countdown.family import OUTCOMES
from frozenlab.tasks.countdown.steps import LARGEST, Chain, Numbers, Step, shortest_chains, value

EXAMPLE = pd.Series({"numbers": "[3, 7, 12]", "target": 33, "optimal_steps": 2, "completion": ""})
"""A task for the rules; answers to it follow."""
RIGHT = {"steps": '[[7, "*", 3, 21], [21, "+", 12, 33]]', "outcome": "optimal"}
WRONG = {"steps": '[[7, "*", 3, 21], [21, "+", 7, 28]]', "outcome": "used_twice"}
STYLE = f"<style>{text_of(__file__, 'countdown.css')}</style>"
SIGNS = {"+": "+", "-": "\N{MINUS SIGN}", "*": "\N{MULTIPLICATION SIGN}"}


class CountdownView(View):
    """Answers as chains of steps."""

    def rules(self) -> None:
        st.header("The rules of Countdown", anchor="rules-countdown")
        words, cards = st.columns([1, 1.3], gap="large", vertical_alignment="center")
        words.markdown(
            "- A task is a few numbers and a target.\n"
            "- A step adds, subtracts or multiplies two numbers: those of the list, or results of earlier steps.\n"
            "- Every number and every result is used at most once; not all have to be used.\n"
            "- An answer is **valid** if its last result is the target and nothing below goes wrong. It is **optimal** if no valid answer "
            "has fewer steps; trying out all steps proves that."
        )
        with cards:
            for place, label, answer in zip(st.columns(2), ("7 is used twice", "two steps are enough"), (WRONG, RIGHT), strict=True):
                place.html(answer_card(pd.concat([EXAMPLE, pd.Series(answer)]), label))
        st.markdown("**What can go wrong.** Only the first fault counts. Every chart uses these words and colours.")
        st.html(self.rules_table())

    def columns(self, rows: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "numbers": [", ".join(map(str, json.loads(numbers))) for numbers in rows["numbers"]],
                "target": rows["target"].to_numpy(),
                "outcome": [OUTCOMES[name].label for name in rows["outcome"]],
                "steps": [len(chain_of(row)) or None for _, row in rows.iterrows()],
                "optimum": rows["optimal_steps"].to_numpy(),
            }
        )

    def play(self, shown: Sequence[Shown], *, key: str, height: int, autoplay: bool = False) -> None:
        for answer, place in zip(shown, st.columns(len(shown)), strict=True):
            place.html(answer_card(answer.row, answer.label))

    def still(self, row: pd.Series) -> dict[str, Any]:
        given, steps = ", ".join(map(str, json.loads(row["numbers"]))), [written(step) for step in chain_of(row)]
        return {"lines": [f"{given} → {int(row['target'])}", *(steps or [row["completion"] or ""])]}

    def show(self, shown: Shown, before: Series | None, *, key: str, **options: Any) -> None:
        """An answer next to the earlier one, with the shortest ways on demand."""
        super().show(shown, before, key=key, **options)
        ways = shortest_chains(tuple(json.loads(shown.row["numbers"])), int(shown.row["target"]))
        with st.expander(f"The shortest way{'s' if len(ways) > 1 else ''} ({len(ways)})"):
            st.text("\n".join(",  ".join(map(written, way)) for way in ways))
        word_by_word(shown.row)


def answer_card(row: pd.Series, label: str) -> str:
    """The card of one row of a table of judged answers."""
    numbers, target, chain = tuple(json.loads(row["numbers"])), int(row["target"]), chain_of(row)
    verdict = check(numbers, target, chain) if chain else None
    steps = (
        f"<ol>{''.join(step_line(chain, i, verdict) for i in range(len(chain)))}</ol>"
        if verdict
        else f"<pre>{escape(row['completion'])}</pre>"
    )
    outcome = OUTCOMES[row["outcome"]]
    mark = f'<span style="color:{outcome.color}" aria-hidden="true">■</span>'
    said = sentence(row["outcome"], target, int(row["optimal_steps"]), chain, verdict)
    return f'{STYLE}<div class="fl-countdown"><h3>{escape(label)}</h3>{given(numbers, target)}{steps}<p>{mark} {escape(said)}</p></div>'


def chain_of(row: pd.Series) -> Chain:
    """The steps of a row; none if they could not be read."""
    return tuple(Step(*step) for step in json.loads(row["steps"])) if isinstance(row["steps"], str) else ()


def given(numbers: Numbers, target: int) -> str:
    chips = "".join(f"<span>{number}</span>" for number in numbers)
    return f'<div class="given">{chips}<i>to</i><b>{target}</b></div>'


def written(step: Step) -> str:
    """
    >>> written(Step(7, "*", 3, 21))
    '7 × 3 = 21'
    """
    return f"{step.left} {SIGNS[step.operation]} {step.right} = {step.result}"


def step_line(chain: Chain, place: int, verdict: Verdict) -> str:
    """A step, marked if the answer ends with it or breaks a rule there."""
    last = place == len(chain) - 1
    wrong = place == verdict.sound or (last and verdict.fault == "wrong_total")
    kind = "is-fault" if wrong else "is-after" if place > verdict.sound else "is-reached" if last else ""
    note = (
        "not the target" if wrong and verdict.fault == "wrong_total" else OUTCOMES[verdict.fault].label if wrong and verdict.fault else ""
    )
    return f'<li class="{kind}">{written(chain[place])}{f"<small>{note}</small>" if note else ""}</li>'


def sentence(outcome: str, target: int, fewest: int, chain: Chain, verdict: Verdict | None) -> str:
    """What became of the answer."""
    if verdict is None:
        said = OUTCOMES[outcome].sentence
        return f"{said[:1].upper()}{said[1:]}."
    if verdict.fault is None:
        enough = "and no way is shorter" if len(chain) == fewest else f"and {counted(fewest, 'step')} would be enough"
        return f"It reaches {target} in {counted(len(chain), 'step')}, {enough}."
    if verdict.fault == "wrong_total":
        return f"It ends with {chain[-1].result}, not with {target}."
    step = chain[verdict.sound]
    if verdict.fault == "not_on_list":
        why = f"{verdict.operand} is neither on the list nor an earlier result"
    elif verdict.fault == "used_twice":
        why = f"{verdict.operand} has been used already"
    else:
        right = value(step.left, step.operation, step.right)
        formula = f"{step.left} {SIGNS[step.operation]} {step.right}"
        why = f"{formula} is {right}, not {step.result}" if right != step.result else f"{right} is not between 0 and {LARGEST}"
    return f"Step {verdict.sound + 1}: {why}."
