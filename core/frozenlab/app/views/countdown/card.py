"""A Countdown task with one answer to it, as HTML: numbers and target, the steps with the fault marked, and a sentence."""

from __future__ import annotations

import json
from html import escape

import pandas as pd

from frozenlab.app.ui.components import text_of
from frozenlab.base.numbers import counted
from frozenlab.tasks.countdown.answer import Verdict, check
from frozenlab.tasks.countdown.steps import LARGEST, Chain, Numbers, Step, value
from frozenlab.tasks.countdown.words import OUTCOMES

STYLE = f"<style>{text_of(__file__, 'countdown.css')}</style>"
SIGNS = {"+": "+", "-": "\N{MINUS SIGN}", "*": "\N{MULTIPLICATION SIGN}"}


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
    return f'{STYLE}<div class="fl-countdown"><h4>{escape(label)}</h4>{given(numbers, target)}{steps}<p>{mark} {escape(said)}</p></div>'


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
