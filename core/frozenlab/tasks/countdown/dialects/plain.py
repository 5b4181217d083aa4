"""Countdown in plain text, for language models."""

from __future__ import annotations

import re

from frozenlab.tasks.countdown.answer import Answer
from frozenlab.tasks.countdown.drawing import CountdownTask
from frozenlab.tasks.countdown.steps import LARGEST, Chain, Step
from frozenlab.tasks.task import Dialect

PROMPT = """\
Reach the target from the numbers, in as few steps as possible.

Numbers: {numbers}
Target: {target}

A step adds, subtracts or multiplies two numbers, each from the list or the result of an earlier step. Every number and every result is used
at most once; not all have to be used. Every result is a whole number from 0 to {largest}. The last result is the target.

Answer with the steps alone, one a line, in this form:
4 * 5 = 20
20 - 3 = 17"""

SIGNS = {"x": "*", "X": "*", "×": "*", "·": "*", "−": "-", "–": "-"}
"""Other ways to write an operation."""
SIGN = rf"[+*\-{''.join(SIGNS)}]"
STEP = re.compile(rf"(?<![\d.])(-?\d{{1,6}})[ \t]*({SIGN})[ \t]*(-?\d{{1,6}})[ \t]*=[ \t]*(?=(-?\d{{1,6}})(?!\d|\.\d))")
"""A step up to its result, with which the next one may begin: ``3 * 7 = 21 + 12 = 33``."""
LONGER = re.compile(rf"\d[ \t)]*{SIGN}[ \t]*$")
"""What stands before the last part of a longer formula."""
BETWEEN = re.compile(r"(?:[\s,;.:()*_`$•>#-]|\d{1,2}[.):]|\b(?:and|then|next|finally|step)\b)*", re.IGNORECASE)
"""What may stand between two steps of one chain: marks, bullets, numbering and little words."""


class CountdownInPlainText(Dialect[CountdownTask, Answer]):
    def prompt(self, task: CountdownTask) -> str:
        return PROMPT.format(numbers=", ".join(map(str, task.numbers)), target=task.target, largest=LARGEST)

    def read(self, task: CountdownTask, text: str, finished: bool) -> Answer:
        if not finished:
            return Answer(fault="truncated")
        chain = last_chain(text)
        return Answer(chain) if chain else Answer(fault="parse_error")


def last_chain(text: str) -> Chain:
    """The last steps of a text that follow each other without other words; empty if there are none.

    >>> [str(step) for step in last_chain("3 + 7 = 10 is too small. So: 7 x 3 = 21, then 21 + 12 = 33.")]
    ['7 * 3 = 21', '21 + 12 = 33']
    """
    chain, end = list[Step](), 0
    for found in STEP.finditer(text):
        if LONGER.search(text[max(0, found.start() - 20) : found.start()]):
            continue
        if found.start() > end and not BETWEEN.fullmatch(text, end, found.start()):
            chain = []
        left, sign, right, result = found.groups()
        chain.append(Step(int(left), SIGNS.get(sign, sign), int(right), int(result)))
        end = found.end(4)
    return tuple(chain)
