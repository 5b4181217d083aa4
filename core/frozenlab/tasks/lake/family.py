"""MAPF-FrozenLake as a task family."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frozenlab.base.numbers import counted
from frozenlab.lake import presets
from frozenlab.lake.board import Agent, Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import LAYOUTS, CellConfig
from frozenlab.lake.draw.feasible import undrawable
from frozenlab.lake.draw.generator import Realised, generate, realised
from frozenlab.lake.draw.hashes import canonical_hashes
from frozenlab.lake.instance import Instance
from frozenlab.lake.layouts import LAYOUTS as RECIPES
from frozenlab.lake.reward import earned
from frozenlab.lake.suites import PREFIX, SUITES, SuiteSpec, build_suite, check_suite, held_out, open_suite
from frozenlab.lake.words.reading import Answer, judge_answer
from frozenlab.tasks.family import Suite, TaskFamily
from frozenlab.tasks.lake import answer as answers
from frozenlab.tasks.lake import words
from frozenlab.tasks.lake.dialects import BoardsInCompactText, BoardsInLabWords, BoardsInPlainText
from frozenlab.tasks.lake.guises import GUISES, seen_as
from frozenlab.tasks.lake.teacher import Solver
from frozenlab.tasks.lake.words import KNOBS, OUTCOMES
from frozenlab.tasks.task import Judged

LABELS = {"quick": "10 boards a cell", "session": "3 agents, to 8×8", "train-shape": "2 agents", "paper": "3, 4 and 5 agents"}
"""What named suites hold, in a word or two."""


class Lake(TaskFamily[Instance, Answer]):
    """Boards on which agents find their ways without a collision; the task is a board with its certified optimum."""

    name = "lake"
    aim = (
        "It learns multi-agent path finding: on a frozen lake map agents move at once, one cell or WAIT in each time step; they must not "
        "enter holes, share a cell or swap cells, and all have to reach their goals in as few time steps as possible."
    )
    knobs = KNOBS
    outcomes = OUTCOMES
    columns = answers.COLUMNS
    guises = GUISES
    config_type = EnvironmentConfig
    suite_type = SuiteSpec
    realised_type = Realised
    task_columns = ("board",)
    suite_columns = ("agents", "size")
    parts = LAYOUTS
    plain: BoardsInPlainText = BoardsInPlainText()
    compact: BoardsInCompactText = BoardsInCompactText()
    lab: BoardsInLabWords = BoardsInLabWords()
    teacher: Solver = Solver()

    # what other modules have functions for
    seen_as = staticmethod(seen_as)
    realised = staticmethod(realised)
    undrawable = staticmethod(undrawable)
    unsound = staticmethod(answers.unsound)
    brief = staticmethod(words.brief)
    statistics = staticmethod(words.statistics)
    case = staticmethod(words.case)
    shown = staticmethod(words.shown)
    notes = staticmethod(words.notes)
    cell_label = staticmethod(words.cell_label)
    cells_noun = staticmethod(words.cells_noun)
    setting_label = staticmethod(words.setting_label)

    def draw(self, config: EnvironmentConfig, n: int, seed: int, kept_out: Sequence[Instance] = ()) -> list[Instance]:
        return generate(config, n, seed, exclude=np.union1d(held_out(), hashes(kept_out)))

    def suite(self, spec: SuiteSpec, config: EnvironmentConfig, kept_out: Sequence[Instance] = ()) -> list[Instance]:
        return build_suite(spec, config, exclude=hashes(kept_out))

    # --- suites ---------------------------------------------------------------------------------------------------------

    def suite_cells(self, config: EnvironmentConfig) -> dict[str, Any]:
        return {"agents": config.teams, "sizes": config.sizes, "layouts": config.kept_layouts}

    def suite_size(self, suite: SuiteSpec, config: EnvironmentConfig) -> int:
        return len(suite.agents) * len(suite.sizes) * len(suite.layouts) * suite.boards_per_cell

    def suite_scope(self, suite: SuiteSpec) -> str:
        return f"{counted(len(suite.sizes), 'map size')} with {words.teams_title(suite.agents)}"

    def named_suites(self) -> Mapping[str, SuiteSpec]:
        return SUITES

    def suite_label(self, name: str) -> str:
        if name.startswith("paper-wr"):
            return f"{name} · {100 * float(name.removeprefix('paper-wr')):.0f} % must wait"
        return f"{name} · {LABELS[name]}" if name in LABELS else name

    def suite_total(self, suite: SuiteSpec) -> int:
        return len(suite.cells) * suite.boards_per_cell

    def suite_source(self, name: str) -> str:
        """Of a file, its absolute path."""
        check_suite(name)
        return name if name in SUITES or name.startswith(PREFIX) else str(Path(name).resolve())

    def suite_online(self, name: str) -> bool:
        return name.startswith(PREFIX)

    def open_suite(self, name: str, on_progress: Callable[[int, int], None]) -> Suite[Instance]:
        return Suite(Path(name).name, SUITES.get(name), open_suite(name, on_progress))

    # --- engineers and pages --------------------------------------------------------------------------------------------

    def even(self, config: EnvironmentConfig) -> EnvironmentConfig:
        return presets.uniform([cell.kind for cell in config.cells.values()]).with_layouts_of(config)

    def at_random(self, config: EnvironmentConfig, rng: np.random.Generator, parts: Sequence[str] = ()) -> EnvironmentConfig:
        drawn = presets.random_config([cell.kind for cell in config.cells.values()], rng, parts)
        return drawn if parts else drawn.with_layouts_of(config)

    def scope(self, config: EnvironmentConfig) -> str:
        return f"{len(config.sizes)} map sizes, {words.teams_title(config.teams)}"

    def config_of(self, data: bytes, file_name: str) -> EnvironmentConfig:
        return EnvironmentConfig.from_bytes(data, file_name)

    def ready_made(self) -> dict[str, EnvironmentConfig]:
        return {name: presets.preset(name) for name in presets.PRESETS}

    def title(self, config: EnvironmentConfig) -> str:
        return words.teams_title(config.teams)

    def part_help(self, part: str) -> str:
        return words.LAYOUT_WORDS[part]

    def longest_prompt(self, config: EnvironmentConfig, question: str = "full") -> str:
        size = max(config.sizes)
        corners = tuple(Agent((0, i), (size - 1, i)) for i in range(min(max(config.teams), size)))
        furnished = any(recipe.furnish for recipe in RECIPES if any(recipe.name in cell.drawn_layouts for cell in config.cells.values()))
        middle = ("F" * size, ("^v<>0" if furnished else "").ljust(size, "F")[:size], *("F" * size,) * (size - 2))
        return self.asked(question).prompt(Instance.unsolved(Board(middle, corners)))

    def judge(self, task: Instance, answer: Answer) -> Judged:
        optimum = task.solution.makespan
        return answers.judged(judge_answer(task.board, answer, optimum), optimum)

    def credit(self, task: Instance, answer: Answer, judged: Judged) -> float:
        optimum = task.solution.makespan
        return 0.0 if optimum is None else earned(task.board, answer.paths, judged.detail, optimum)

    def row(self, task: Instance, answer: Answer, judged: Judged) -> dict[str, Any]:
        return answers.row(task, answer, judged.detail)

    def mixed(self, new: CellConfig, old: CellConfig, allowed: Collection[str], max_step: float) -> tuple[CellConfig, str]:
        """The cell ``new`` with layouts of those allowed and those that the cell has, moved at most ``max_step`` away from the old ones,
        and the reason why they may be others than it asks for.

        The part of a layout that may not be used falls to the others in proportion; where nothing is left, the old layouts stay.
        """
        new = new.model_copy(update=old.kind._asdict())
        if new.layouts == old.layouts or old.layout is not None:
            return new.model_copy(update={"layouts": old.layouts}), ""
        kept = {layout: part for layout, part in new.layouts.items() if allowed and layout in {*allowed, *old.layouts}}
        total = sum(kept.values())
        wanted = {layout: part / total for layout, part in kept.items()} if total else old.layouts
        moves = {layout: wanted.get(layout, 0.0) - old.layouts.get(layout, 0.0) for layout in LAYOUTS}
        way = max_step / max(max_step, *map(abs, moves.values()))
        used = {layout: old.layouts.get(layout, 0.0) + way * move for layout, move in moves.items()}
        reason = f"an engineer may use {', '.join(allowed)}, and their parts move at most {max_step:g} a stage and sum to 1"
        if not allowed:
            reason = "in this session layouts are not the engineer's to change"
        return new.model_copy(update={"layouts": {layout: part for layout, part in used.items() if part > 1e-9}}), reason


def hashes(instances: Sequence[Instance]) -> NDArray[np.uint64]:
    """By which a board is known in all its rotations, reflections and orders of its agents."""
    return canonical_hashes([instance.board for instance in instances])


LAKE = Lake()
