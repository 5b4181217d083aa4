"""Countdown as a task family: its knobs and outcomes, their words and colours, what it says about its tasks, and its teacher."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from frozenlab.base.cells import Cell
from frozenlab.base.numbers import listed
from frozenlab.tasks.countdown import answer as answers
from frozenlab.tasks.countdown import drawing
from frozenlab.tasks.countdown.answer import Answer, check
from frozenlab.tasks.countdown.dialects import CountdownInLabWords, CountdownInPlainText, read_steps, render_chain
from frozenlab.tasks.countdown.drawing import CountdownCell, CountdownConfig, CountdownSuite, CountdownTask, DrawnTasks, count_of
from frozenlab.tasks.countdown.steps import Chain, Numbers, Step, moves, shortest_chains
from frozenlab.tasks.family import TaskFamily
from frozenlab.tasks.task import Attempt, Mended, Teacher
from frozenlab.tasks.words import OPTIMAL, SHARE, SUBOPTIMAL, Knob, Outcome, by_name

KNOBS = by_name(SHARE, Knob("times_ratio", "products", "Part of the cell's tasks that cannot be solved without a product.", 0, 1, 0.01, 1))
OUTCOMES = by_name(
    OPTIMAL,
    SUBOPTIMAL,
    Outcome("parse_error", "not readable as steps", "the answer cannot be read",
            "An answer is a chain of steps such as 3 * 7 = 21.", "#66778C"),
    Outcome("truncated", "cut off before its end", "the answer is cut off",
            "The model has a limit of words for one answer; it was reached before the answer ended.", "#8292A4"),
    Outcome("not_on_list", "a number that is not there", "it uses a number that is not there",
            "A step takes two numbers of the list or of earlier results.", "#5B6FD6"),
    Outcome("used_twice", "a number used twice", "it uses a number twice",
            "Every number and every result is used at most once.", "#A8663F"),
    Outcome("wrong_step", "a wrong calculation", "it calculates wrongly",
            "The result of a step is what its operation gives, and lies between 0 and 99.", "#8A8500"),
    Outcome("wrong_total", "ends elsewhere", "it does not end with the target", "The last result is the target.",
            "#D0457A"),
)  # fmt: skip

# --- the teacher: the enumeration goes on from a sound part of an answer to the target, in as few steps as possible ----

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


# --- the family --------------------------------------------------------------------------------------------------------

CELL = re.compile(r"numbers(\d)")


class Countdown(TaskFamily[CountdownTask, Answer]):
    """A few numbers and a target, with the fewest steps certified by enumeration."""

    name = "countdown"
    aim = (
        "It learns Countdown: to reach a target from a few numbers by adding, subtracting and multiplying, each number at most once, in "
        "as few steps as possible."
    )
    knobs = KNOBS
    outcomes = OUTCOMES
    columns = answers.COLUMNS
    task_columns = ("numbers", "target")
    config_type = CountdownConfig
    suite_type = CountdownSuite
    realised_type = DrawnTasks
    plain: CountdownInPlainText = CountdownInPlainText()
    lab: CountdownInLabWords = CountdownInLabWords()
    teacher: Enumeration = Enumeration()

    # what other modules have functions for
    draw = staticmethod(drawing.draw)
    suite = staticmethod(drawing.suite)
    realised = staticmethod(drawing.realised)
    judge = staticmethod(answers.judge)
    row = staticmethod(answers.row)
    unsound = staticmethod(answers.unsound)

    def named_suites(self) -> dict[str, CountdownSuite]:
        return {self.name: drawing.NAMED}

    def ready_made(self) -> dict[str, Any]:
        return {self.name: CountdownConfig()}

    def cell_label(self, name: str) -> str | None:
        """
        >>> COUNTDOWN.cell_label("numbers3"), COUNTDOWN.cell_label("6")
        ('Countdown, 3 numbers', None)
        """
        found = CELL.fullmatch(name)
        return f"Countdown, {found[1]} numbers" if found else None

    def cells_noun(self, names: Sequence[str]) -> str | None:
        return "count of numbers" if all(map(CELL.fullmatch, names)) else None

    def title(self, config: CountdownConfig) -> str:
        return "Countdown"

    def scope(self, config: CountdownConfig) -> str:
        """
        >>> COUNTDOWN.scope(CountdownConfig())
        'Countdown with 2, 3 and 4 numbers'
        """
        return f"Countdown with {listed(str(count_of(name)) for name in config.cells)} numbers"

    def statistics(self, cell: Cell, own: CountdownCell, drawn: DrawnTasks) -> tuple[str, dict[str, float]]:
        text = (
            f"{cell.words}: config share {own.share:.2f}, products {own.times_ratio:.2f}; drawn {drawn.boards} tasks, products "
            f"{drawn.times_ratio:.2f}, mean optimum {drawn.optimal_steps:.1f} steps."
        )
        figures = {"drawn_boards": drawn.boards, "drawn_times_ratio": drawn.times_ratio, "optimal_steps": drawn.optimal_steps}
        return text, own.settings() | figures

    def case(self, row: Any) -> tuple[str, int]:
        """The task, and the step that went wrong."""
        import pandas as pd

        numbers = ", ".join(map(str, json.loads(row["numbers"])))
        task = f"task {row['board_id']} ({numbers} to {row['target']}, optimum {row['optimal_steps']} steps)"
        step = 0 if pd.isna(row["fault_step"]) else int(row["fault_step"])
        written = "" if pd.isna(row["steps"]) else ", ".join("{} {} {} = {}".format(*step) for step in json.loads(row["steps"]))
        where = f" at step {step}" if step else ""
        return f"{task}: {row['fault'].replace('_', ' ')}{where}" + (f" in {written}" if written else ""), step


COUNTDOWN = Countdown()
