"""MAPF-FrozenLake as a task family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.board import Agent, Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import Realised, generate, realised
from frozenlab.lake.draw.hashes import canonical_hashes
from frozenlab.lake.instance import Instance
from frozenlab.lake.suites import SuiteSpec, build_suite, held_out
from frozenlab.lake.words.answers import prompt
from frozenlab.tasks.family import Judged, Knob, Outcome, TaskFamily
from frozenlab.tasks.lake import answer as answers
from frozenlab.tasks.lake.answer import Answer
from frozenlab.tasks.lake.dialects.lab import BoardsInLabWords
from frozenlab.tasks.lake.dialects.plain import BoardsInPlainText
from frozenlab.tasks.lake.teacher import Solver
from frozenlab.tasks.lake.words import KNOBS, OUTCOMES


class Lake(TaskFamily[Instance, Answer]):
    """Boards on which agents find their ways without a collision; the task is a board with its certified optimum."""

    name: ClassVar[str] = "lake"
    knobs: ClassVar[Mapping[str, Knob]] = KNOBS
    outcomes: ClassVar[Mapping[str, Outcome]] = OUTCOMES
    columns: ClassVar[Mapping[str, str]] = answers.COLUMNS
    plain: BoardsInPlainText = BoardsInPlainText()
    lab: BoardsInLabWords = BoardsInLabWords()
    teacher: Solver = Solver()

    def draw(self, config: EnvironmentConfig, n: int, seed: int, kept_out: Sequence[Instance] = ()) -> list[Instance]:
        return generate(config, n, seed, exclude=np.union1d(held_out(), hashes(kept_out)))

    def suite(self, spec: SuiteSpec, config: EnvironmentConfig, kept_out: Sequence[Instance] = ()) -> list[Instance]:
        return build_suite(spec, config, exclude=hashes(kept_out))

    def realised(self, tasks: Sequence[Instance]) -> dict[str, Realised]:
        return realised(tasks)

    def longest_prompt(self, config: EnvironmentConfig) -> str:
        size = max(config.sizes)
        corners = tuple(Agent((0, i), (size - 1, i)) for i in range(min(max(config.teams), size)))
        return prompt(Board(("F" * size,) * size, corners))

    def judge(self, task: Instance, answer: Answer) -> Judged:
        optimum = task.solution.makespan
        return answers.judged(answers.judge_answer(task.board, answer, optimum), optimum)

    def row(self, task: Instance, answer: Answer, judged: Judged) -> dict[str, Any]:
        return answers.row(task, answer, judged.detail)


def hashes(instances: Sequence[Instance]) -> NDArray[np.uint64]:
    """By which a board is known in all its rotations, reflections and orders of its agents."""
    return canonical_hashes([instance.board for instance in instances])


LAKE = Lake()
