"""The courses of the warm start: each draws lessons of one kind, such as solved boards of a layout or an engineer's proposals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from frozenlab.base import seeds
from frozenlab.lake.board import Board
from frozenlab.lake.config import PAPER_SIZES
from frozenlab.lake.config_cell import Layout
from frozenlab.lake.draw.generator import random_instances
from frozenlab.lake.rules import Paths, walk
from frozenlab.lake.suites import held_out
from frozenlab.models.lab.policy import LabPolicy
from frozenlab.models.training.runs.sft import Example, to_example
from frozenlab.tasks.countdown.dialects import CountdownInLabWords, render_chain
from frozenlab.tasks.countdown.drawing import CountdownConfig, CountdownTask, draw
from frozenlab.tasks.countdown.steps import shortest_chains
from frozenlab.tasks.lake.teacher import padded
from recipes.lab_model.auxiliary import Insight, insight, nothing_to_see
from recipes.lab_model.guises import guise, plan_example
from recipes.lab_model.own_rates import own_rates as measured_rates
from recipes.lab_model.proposals import demonstrations

Thing = TypeVar("Thing")

HOLE_RATIOS = (0.1, 0.2, 0.3, 0.4, 0.5)
TEAMS = {2: 0.3, 3: 0.3, 4: 0.25, 5: 0.15}
"""Agents -> share of the boards of a layout; the paper trains with 2 and tests with 3 to 5."""
SMALLER_TEAMS = {2: 0.5, 3: 0.3, 4: 0.2}
"""The same for layouts with mechanics of their own, where 2 agents are hard enough."""


@dataclass(frozen=True)
class Lesson:
    """One presentation: an example, and the auxiliary targets of each word of its completion."""

    example: Example
    insight: Insight

    @classmethod
    def without_insight(cls, example: Example) -> Lesson:
        """A lesson whose auxiliary targets are all ignored."""
        return cls(example, nothing_to_see(len(example.completion)))


def one_of(things: Sequence[Thing], rng: np.random.Generator) -> Thing:
    return things[int(rng.integers(len(things)))]


class Course(ABC):
    """Lessons of one kind."""

    @abstractmethod
    def lesson(self, rng: np.random.Generator) -> Lesson:
        """A random one, in a random guise if it has several."""


class SolvedBoards(Course):
    """Square boards with plans of equal length for all agents, each turned, mirrored and renumbered, and with the plan varied."""

    def __init__(self, solved: Sequence[tuple[Board, Paths]]) -> None:
        self.solved = solved

    def lesson(self, rng: np.random.Generator) -> Lesson:
        board, paths = guise(*one_of(self.solved, rng), rng)
        return Lesson(plan_example(board, paths), insight(board, paths))


class SolvedTasks(Course):
    """Countdown tasks, each with its numbers in any order and any of its shortest solutions."""

    def __init__(self, tasks: Sequence[CountdownTask]) -> None:
        self.tasks = tasks

    def lesson(self, rng: np.random.Generator) -> Lesson:
        task = one_of(self.tasks, rng)
        shown = replace(task, numbers=tuple(rng.permutation(task.numbers).tolist()))
        solution = one_of(shortest_chains(task.numbers, task.target), rng)
        return Lesson.without_insight(to_example(CountdownInLabWords().prompt(shown), render_chain(solution)))


class Texts(Course):
    """Prompts with their completions, as they stand."""

    def __init__(self, examples: Sequence[Example]) -> None:
        self.examples = examples

    def lesson(self, rng: np.random.Generator) -> Lesson:
        return Lesson.without_insight(one_of(self.examples, rng))


def boards(layout: Layout, teams: Mapping[int, float], n: int, seed: int) -> SolvedBoards:
    """About ``n`` boards of a layout, sizes 3 to 10, at least one of each team, with optimal plans; none is in a named suite.

    Args:
        teams: agents -> share of the boards.
    """
    solved, start = [], seeds.derive(seed, "warm-start/boards")
    for team, share in teams.items():
        wanted = max(1, round(n * share))
        for instance in random_instances(PAPER_SIZES, [team], HOLE_RATIOS, wanted, start, layout=layout, exclude=held_out()):
            assert instance.solution.plan is not None
            solved.append((instance.board, padded(walk(instance.board, instance.solution.plan))))
    return SolvedBoards(solved)


def countdown(n: int, seed: int) -> SolvedTasks:
    """``n`` tasks of 2 to 4 numbers, half of which need a product; none is in the named suite."""
    return SolvedTasks(draw(CountdownConfig(), n, seeds.derive(seed, "warm-start/countdown")))


def proposals(n: int, seed: int) -> Texts:
    """``n`` demonstrations of an engineer."""
    return Texts([to_example(*pair) for pair in demonstrations(n, seed)])


def own_rates(n: int, seed: int, policy: LabPolicy) -> Texts:
    """About ``n`` questions to ``policy`` how likely it is to solve a task."""
    return Texts([to_example(*pair) for pair in measured_rates(policy, n, seed)])


def drawn(name: str, n: int, seed: int, policy: LabPolicy) -> Course:
    """The course of a name, for ``policy``. Raises KeyError if there is none."""
    return own_rates(n, seed, policy) if name == OWN_RATES else COURSES[name](n, seed)


OWN_RATES = "own-rates"
COURSES: Mapping[str, Callable[[int, int], Course]] = {
    "scatter": partial(boards, "scatter", TEAMS),
    "corridor": partial(boards, "corridor", SMALLER_TEAMS),
    "oneway": partial(boards, "oneway", SMALLER_TEAMS),
    "doors": partial(boards, "doors", SMALLER_TEAMS),
    "countdown": countdown,
    "proposals": proposals,
}
"""Name -> what draws the course: from the number of different lessons, and a seed."""
NAMES = (*COURSES, OWN_RATES)
