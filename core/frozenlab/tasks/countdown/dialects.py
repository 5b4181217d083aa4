"""How models are asked about Countdown tasks and how their answers are read: language models in plain text, the lab model in its words.

    <countdown> n3 n7 n12 target n33 moves
    n7 * n3 = n21 n21 + n12 = n33

The lab model's answer is its steps, five words each.
"""

from __future__ import annotations

import re

from frozenlab.base.spoken import spoken
from frozenlab.tasks.countdown.answer import Answer
from frozenlab.tasks.countdown.drawing import CountdownTask
from frozenlab.tasks.countdown.steps import LARGEST, Chain, Step
from frozenlab.tasks.task import Dialect, LabDialect
from frozenlab.tasks.vocabulary import COUNTDOWN, EQUALS, MAX_NUMBER, MOVES, NUMBERS, SIGNS, TARGET, TIMES_SIGN

PROMPT = """\
Reach the target from the numbers, in as few steps as possible.

Numbers: {numbers}
Target: {target}

A step adds, subtracts or multiplies two numbers, each from the list or the result of an earlier step. Every number and every result is used
at most once; not all have to be used. Every result is a whole number from 0 to {largest}. The last result is the target.

Answer with the steps alone, one a line, in this form:
4 * 5 = 20
20 - 3 = 17"""

WRITTEN = {"x": "*", "X": "*", "×": "*", "·": "*", "−": "-", "–": "-"}
"""Other ways to write an operation."""
SIGN = rf"[+*\-{''.join(WRITTEN)}]"
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
        chain = last_chain(spoken(text))
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
        chain.append(Step(int(left), WRITTEN.get(sign, sign), int(right), int(result)))
        end = found.end(4)
    return tuple(chain)


# --- the lab model's words --------------------------------------------------------------------------------------------

OPERATION_WORDS = (*SIGNS, TIMES_SIGN)
VALUE_OF = {word: number for number, word in enumerate(NUMBERS)}
WORDS_OF_A_STEP = 5
assert LARGEST == MAX_NUMBER


def render_chain(chain: Chain) -> str:
    """
    >>> render_chain((Step(7, "*", 3, 21),))
    'n7 * n3 = n21'
    """
    return " ".join(f"{NUMBERS[step.left]} {step.operation} {NUMBERS[step.right]} {EQUALS} {NUMBERS[step.result]}" for step in chain)


def read_step(words: list[str]) -> Step | None:
    """None: the words are no step."""
    if len(words) != WORDS_OF_A_STEP:
        return None
    left, operation, right, equals, result = words
    if operation not in OPERATION_WORDS or equals != EQUALS or not {left, right, result} <= VALUE_OF.keys():
        return None
    return Step(VALUE_OF[left], operation, VALUE_OF[right], VALUE_OF[result])


def read_steps(text: str) -> tuple[Chain, bool]:
    """The steps that a text begins with, and whether it holds nothing else."""
    words, chain = text.split(), list[Step]()
    while (step := read_step(words[:WORDS_OF_A_STEP])) is not None:
        chain.append(step)
        words = words[WORDS_OF_A_STEP:]
    return tuple(chain), not words


class CountdownInLabWords(LabDialect[CountdownTask, Answer]):
    """The lab dialect as a task family offers it."""

    def prompt(self, task: CountdownTask) -> str:
        return " ".join([COUNTDOWN, *(NUMBERS[number] for number in task.numbers), TARGET, NUMBERS[task.target], MOVES])

    def read(self, task: CountdownTask, text: str, finished: bool) -> Answer:
        chain, whole = read_steps(text)
        if not finished:
            return Answer(fault="truncated")
        return Answer(chain) if chain and whole else Answer(fault="parse_error")

    def limit(self, task: CountdownTask) -> int:
        """Every step uses up a number, so a longer answer is wrong in any case."""
        return WORDS_OF_A_STEP * (len(task.numbers) - 1) + 1
