"""A model's answer to a Countdown task, the judge, and the row of a table that holds both."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from frozenlab.tasks.countdown.drawing import CountdownTask
from frozenlab.tasks.countdown.steps import Chain, Numbers
from frozenlab.tasks.task import ROW_COLUMNS, Judged

if TYPE_CHECKING:
    import pandas as pd

Fault = Literal["parse_error", "truncated", "not_on_list", "used_twice", "wrong_step", "wrong_total"]

COLUMNS: dict[str, str] = {
    "board_id": "str",
    "config_cell": "str",
    "numbers": "str",
    "target": "int64",
    "needs_product": "bool",
    "optimal_steps": "int64",
    "steps": "str",
    "fault_step": "Int64",
} | ROW_COLUMNS
"""Column -> pandas type. ``numbers`` and ``steps`` (a list of [left, operation, right, result]) hold JSON; ``fault_step`` is the number of
the step with the first fault, from 1 on; it is empty if no step has one."""

NUMBERS = re.compile(r"\[\d+(, \d+)*\]")
STEPS = re.compile(r'\[(\[-?\d+, "[+*-]", -?\d+, -?\d+\](, )?)+\]')
READABLE, RIGHT_STEPS, NEARNESS = 0.02, 0.03, 0.05
"""What an invalid answer earns: for being readable, for the part of its steps before the first fault, and for ending near the target."""


class Answer(NamedTuple):
    """Exactly one of the two is set; a chain has at least one step."""

    chain: Chain | None = None
    fault: Fault | None = None
    """``parse_error`` or ``truncated``: why there is no chain."""


class Verdict(NamedTuple):
    """The first fault of a chain."""

    fault: Fault | None
    sound: int
    """Steps before it."""
    operand: int | None = None
    """The number that is not there or was used before."""


def check(numbers: Numbers, target: int, chain: Chain) -> Verdict:
    """Follows the steps (at least one) until the first fault. A fault of a step counts before one of the end."""
    unused = list(numbers)
    known = set(unused)
    for number, step in enumerate(chain):
        for operand in (step.left, step.right):
            if operand not in unused:
                return Verdict("used_twice" if operand in known else "not_on_list", number, operand)
            unused.remove(operand)
        if not step.holds:
            return Verdict("wrong_step", number)
        unused.append(step.result)
        known.add(step.result)
    return Verdict(None if chain[-1].result == target else "wrong_total", len(chain))


def judge(task: CountdownTask, answer: Answer) -> Judged:
    if answer.chain is None:
        return Judged(str(answer.fault), valid=False)
    verdict = check(task.numbers, task.target, answer.chain)
    length, fewest = len(answer.chain), task.optimal_steps
    if verdict.fault is None:
        return Judged("optimal" if length == fewest else "suboptimal", True, length == fewest, efficiency=fewest / length, cost=(length,))
    credit = READABLE + RIGHT_STEPS * verdict.sound / length
    if verdict.fault == "wrong_total":
        credit += NEARNESS / (1 + abs(answer.chain[-1].result - task.target))
    return Judged(verdict.fault, False, credit=credit, detail=verdict)


def row(task: CountdownTask, answer: Answer, judged: Judged) -> dict[str, Any]:
    of_a_step = judged.detail is not None and judged.outcome != "wrong_total"
    return {
        "numbers": json.dumps(task.numbers),
        "target": task.target,
        "needs_product": task.needs_product,
        "optimal_steps": task.optimal_steps,
        "steps": None if answer.chain is None else json.dumps(answer.chain),
        "fault_step": judged.detail.sound + 1 if of_a_step else None,
    }


def unsound(table: pd.DataFrame) -> str | None:
    """What a table of answers holds that the judge did not write."""
    if not all(map(NUMBERS.fullmatch, table["numbers"])):
        return "the column 'numbers' holds what it cannot hold"
    return None if all(map(STEPS.fullmatch, table["steps"].dropna())) else "the column 'steps' holds what it cannot hold"
