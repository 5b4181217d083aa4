"""The enumeration as a teacher: it goes on from a sound part of an answer to the target, in as few steps as possible."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from frozenlab.tasks.countdown.answer import check
from frozenlab.tasks.countdown.dialects import read_steps, render_chain
from frozenlab.tasks.countdown.drawing import CountdownTask
from frozenlab.tasks.countdown.steps import Chain, Numbers, Step, moves, shortest_chains
from frozenlab.tasks.task import Attempt, Mended, Teacher

TRIES = 20
"""Random chains that are tried in search of one that misses the target."""


class Enumeration(Teacher[CountdownTask]):
    """Cuts each answer after a random number of sound steps, or earlier if the target cannot be reached from there."""

    def mend(self, attempts: Sequence[Attempt[CountdownTask]]) -> list[Mended | None]:
        return [self.mended(attempt) for attempt in attempts]

    def mended(self, attempt: Attempt[CountdownTask]) -> Mended:
        task, rng = attempt.task, attempt.rng
        chain, _ = read_steps(attempt.text)
        sound = check(task.numbers, task.target, chain).sound if chain else 0
        for kept in range(int(rng.integers(sound + 1)), -1, -1):
            solutions = completions(task, chain[:kept])
            if solutions:
                return Mended(render_chain(chain[:kept]), render_chain(solutions[rng.integers(len(solutions))]))
        raise AssertionError("every task has a solution")

    def wrong_answers(self, attempts: Sequence[Attempt[CountdownTask]]) -> list[Mended | None]:
        """The numbers are combined by sound steps, and the target is overlooked. None where every way that was tried led to the target."""
        chains = [overlooking(attempt.task, attempt.rng) for attempt in attempts]
        return [None if chain is None else Mended("", render_chain(chain)) for chain in chains]


def overlooking(task: CountdownTask, rng: np.random.Generator) -> Chain | None:
    """As many random sound steps as the shortest way to the target has, which lead elsewhere."""
    for _ in range(TRIES):
        left, chain = task.numbers, list[Step]()
        for _ in range(task.optimal_steps):
            possible = list(moves(left))
            step, left = possible[rng.integers(len(possible))]
            chain.append(step)
        if chain[-1].result != task.target:
            return tuple(chain)
    return None


def completions(task: CountdownTask, kept: Chain) -> list[Chain]:
    """The shortest ways to go on from some sound steps to the target: an empty one where they end with it."""
    if kept and kept[-1].result == task.target:
        return [()]
    return shortest_chains(unused(task.numbers, kept), task.target)


def unused(numbers: Numbers, chain: Chain) -> Numbers:
    """The numbers and results that are left after sound steps."""
    left = list(numbers)
    for step in chain:
        left.remove(step.left)
        left.remove(step.right)
        left.append(step.result)
    return tuple(left)
