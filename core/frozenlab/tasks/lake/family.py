"""MAPF-FrozenLake as a task family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frozenlab.base.cells import Cell
from frozenlab.lake import presets
from frozenlab.lake.board import Agent, Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import LAYOUTS, CellConfig
from frozenlab.lake.draw.feasible import undrawable
from frozenlab.lake.draw.generator import Realised, generate, realised
from frozenlab.lake.draw.hashes import canonical_hashes
from frozenlab.lake.instance import Instance
from frozenlab.lake.layouts import LAYOUTS as RECIPES
from frozenlab.lake.suites import SuiteSpec, build_suite, held_out
from frozenlab.lake.words.answers import prompt
from frozenlab.tasks.family import TaskFamily
from frozenlab.tasks.lake import answer as answers
from frozenlab.tasks.lake import drawing_words, evidence, words
from frozenlab.tasks.lake.answer import Answer
from frozenlab.tasks.lake.brief import brief
from frozenlab.tasks.lake.dialects.lab import BoardsInLabWords
from frozenlab.tasks.lake.dialects.plain import BoardsInPlainText
from frozenlab.tasks.lake.mixing import mixed
from frozenlab.tasks.lake.suites import LakeSuites
from frozenlab.tasks.lake.teacher import Solver
from frozenlab.tasks.lake.words import KNOBS, OUTCOMES
from frozenlab.tasks.task import Judged


class Lake(LakeSuites, TaskFamily[Instance, Answer]):
    """Boards on which agents find their ways without a collision; the task is a board with its certified optimum."""

    name = "lake"
    aim = (
        "It learns multi-agent path finding: on a frozen lake map agents move at once, one cell or WAIT in each time step; they must not "
        "enter holes, share a cell or swap cells, and all have to reach their goals in as few time steps as possible."
    )
    knobs = KNOBS
    outcomes = OUTCOMES
    columns = answers.COLUMNS
    config_type = EnvironmentConfig
    suite_type = SuiteSpec
    realised_type = Realised
    task_columns = ("board",)
    suite_columns = ("agents", "size")
    parts = LAYOUTS
    plain: BoardsInPlainText = BoardsInPlainText()
    lab: BoardsInLabWords = BoardsInLabWords()
    teacher: Solver = Solver()

    # what other modules have functions for
    realised = staticmethod(realised)
    undrawable = staticmethod(undrawable)
    mixed = staticmethod(mixed)
    unsound = staticmethod(answers.unsound)
    brief = staticmethod(brief)
    case = staticmethod(evidence.case)
    shown = staticmethod(evidence.shown)
    notes = staticmethod(drawing_words.notes)
    cell_label = staticmethod(words.cell_label)
    cells_noun = staticmethod(words.cells_noun)
    setting_label = staticmethod(words.setting_label)

    def draw(self, config: EnvironmentConfig, n: int, seed: int, kept_out: Sequence[Instance] = ()) -> list[Instance]:
        return generate(config, n, seed, exclude=np.union1d(held_out(), hashes(kept_out)))

    def suite(self, spec: SuiteSpec, config: EnvironmentConfig, kept_out: Sequence[Instance] = ()) -> list[Instance]:
        return build_suite(spec, config, exclude=hashes(kept_out))

    def even(self, config: EnvironmentConfig) -> EnvironmentConfig:
        return presets.uniform([cell.kind for cell in config.cells.values()]).with_layouts_of(config)

    def at_random(self, config: EnvironmentConfig, rng: np.random.Generator, parts: Sequence[str] = ()) -> EnvironmentConfig:
        drawn = presets.random_config([cell.kind for cell in config.cells.values()], rng, parts)
        return drawn if parts else drawn.with_layouts_of(config)

    def statistics(self, cell: Cell, own: CellConfig, drawn: Realised) -> tuple[str, dict[str, float]]:
        figures = drawn.model_dump(include={"boards", "hole_ratio", "wait_ratio"}) | {"makespan": drawn.mean_makespan or 0.0}
        return evidence.statistics(cell, own.share, own.hole_ratio, own.wait_ratio, figures, own.layouts)

    def scope(self, config: EnvironmentConfig) -> str:
        return f"{len(config.sizes)} map sizes, {words.teams_title(config.teams)}"

    def config_of(self, data: bytes, file_name: str) -> EnvironmentConfig:
        return EnvironmentConfig.from_bytes(data, file_name)

    def ready_made(self) -> dict[str, EnvironmentConfig]:
        return {name: presets.preset(name) for name in presets.PRESETS}

    def title(self, config: EnvironmentConfig) -> str:
        return words.teams_title(config.teams)

    def part_help(self, part: str) -> str:
        return drawing_words.LAYOUT_WORDS[part]

    def longest_prompt(self, config: EnvironmentConfig) -> str:
        size = max(config.sizes)
        corners = tuple(Agent((0, i), (size - 1, i)) for i in range(min(max(config.teams), size)))
        furnished = any(recipe.furnish for recipe in RECIPES if any(recipe.name in cell.drawn_layouts for cell in config.cells.values()))
        middle = ("F" * size, ("^v<>0" if furnished else "").ljust(size, "F")[:size], *("F" * size,) * (size - 2))
        return prompt(Board(middle, corners))

    def judge(self, task: Instance, answer: Answer) -> Judged:
        optimum = task.solution.makespan
        return answers.judged(answers.judge_answer(task.board, answer, optimum), optimum)

    def row(self, task: Instance, answer: Answer, judged: Judged) -> dict[str, Any]:
        return answers.row(task, answer, judged.detail)


def hashes(instances: Sequence[Instance]) -> NDArray[np.uint64]:
    """By which a board is known in all its rotations, reflections and orders of its agents."""
    return canonical_hashes([instance.board for instance in instances])


LAKE = Lake()
