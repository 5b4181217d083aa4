"""The lab dialect for Countdown: a task as a prompt of words, an answer as its steps, five words each.

<countdown> n3 n7 n12 target n33 moves
n7 * n3 = n21 n21 + n12 = n33
"""

from __future__ import annotations

from frozenlab.tasks.countdown.answer import Answer
from frozenlab.tasks.countdown.drawing import CountdownTask
from frozenlab.tasks.countdown.steps import LARGEST, Chain, Step
from frozenlab.tasks.task import LabDialect
from frozenlab.tasks.vocabulary import COUNTDOWN, EQUALS, MAX_NUMBER, MOVES, NUMBERS, SIGNS, TARGET, TIMES_SIGN

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
