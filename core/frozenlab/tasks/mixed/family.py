"""Several task families as one: each task is asked, judged and shown by its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from frozenlab.base import seeds
from frozenlab.base.cells import evenly, quotas
from frozenlab.tasks.family import TaskFamily
from frozenlab.tasks.mixed import words
from frozenlab.tasks.mixed.config import MixedConfig, MixedSuite
from frozenlab.tasks.mixed.members import MEMBERS, member, member_with
from frozenlab.tasks.mixed.task import MixedLab, MixedPlain, MixedTask, MixedTeacher, of_family
from frozenlab.tasks.task import Judged

if TYPE_CHECKING:
    import pandas as pd


class Mixed(TaskFamily[MixedTask, Any]):
    """The families of :data:`MEMBERS` in one config."""

    name = "mixed"
    aim = "It learns tasks of several kinds at once."
    knobs = words.knobs()
    outcomes = words.outcomes()
    columns = words.columns()
    task_columns = tuple(name for family in MEMBERS for name in family.task_columns)
    config_type = MixedConfig
    suite_type = MixedSuite
    parts = tuple(part for family in MEMBERS for part in family.parts)
    plain: MixedPlain = MixedPlain()
    lab: MixedLab = MixedLab()
    teacher: MixedTeacher = MixedTeacher()

    # what other modules have functions for
    brief = staticmethod(words.brief)
    statistics = staticmethod(words.statistics)
    case = staticmethod(words.case)
    scope = staticmethod(words.scope)
    notes = staticmethod(words.notes)
    setting_label = staticmethod(words.setting_label)
    part_help = staticmethod(words.part_help)

    # --- drawing ----------------------------------------------------------------------------------------------------------

    def draw(self, config: MixedConfig, n: int, seed: int, kept_out: Sequence[MixedTask] = ()) -> list[MixedTask]:
        """Families share the tasks by largest remainder, and lie anywhere among each other."""
        drawn = []
        for (family, part), quota in zip(config.parts.items(), quotas(n, [part.share for part in config.parts.values()]), strict=True):
            if quota:
                tasks = member(family).draw(part.config, quota, seed, of_family(kept_out, family))
                drawn += [MixedTask(family, task) for task in tasks]
        order = seeds.rng(seed, "mixed/order").permutation(len(drawn)).tolist()
        return [drawn[place] for place in order]

    def suite(self, spec: MixedSuite, config: MixedConfig, kept_out: Sequence[MixedTask] = ()) -> list[MixedTask]:
        drawn = self.draw(evenly(config), self.suite_size(spec, config), spec.seed, kept_out)
        order = list(config.cells)
        return sorted(drawn, key=lambda task: order.index(task.cell))

    def undrawable(self, config: MixedConfig, cell: str) -> str | None:
        family, own = config.part_with(cell)
        return member(family).undrawable(own, cell)

    def realised(self, tasks: Sequence[MixedTask]) -> dict[str, Any]:
        found = {}
        for family in MEMBERS:
            own = of_family(tasks, family.name)
            for cell, drawn in family.realised(own).items() if own else ():
                found[cell] = drawn.model_copy(update={"share": drawn.boards / len(tasks)})
        return found

    def read_realised(self, config: MixedConfig, given: Mapping[str, Any]) -> dict[str, Any]:
        return {cell: member(config.part_with(cell)[0]).realised_type.model_validate(drawn) for cell, drawn in given.items()}

    def ready_made(self) -> dict[str, MixedConfig]:
        return {" and ".join(family.name for family in MEMBERS): MixedConfig()}

    # --- suites -----------------------------------------------------------------------------------------------------------

    def named_suites(self) -> dict[str, Any]:
        """Those of its members, which are measured as theirs."""
        return {name: suite for family in MEMBERS for name, suite in family.named_suites().items()}

    def suite_label(self, name: str) -> str:
        return next(family for family in MEMBERS if name in family.named_suites()).suite_label(name)

    def suite_total(self, suite: Any) -> int:
        return member(suite.family).suite_total(suite)

    def suite_scope(self, suite: Any) -> str:
        return "every cell" if isinstance(suite, MixedSuite) else member(suite.family).suite_scope(suite)

    def suite_size(self, suite: MixedSuite, config: MixedConfig) -> int:
        return suite.boards_per_cell * len(config.cells)

    # --- answers ----------------------------------------------------------------------------------------------------------

    def judge(self, task: MixedTask, answer: Any) -> Judged:
        return member(task.family).judge(task.task, answer)

    def row(self, task: MixedTask, answer: Any, judged: Judged) -> dict[str, Any]:
        own = member(task.family).row(task.task, answer, judged)
        return dict.fromkeys(self.columns) | own | {"family": task.family}

    def unsound(self, table: pd.DataFrame) -> str | None:
        known = {family.name for family in MEMBERS}
        if foreign := set(table["family"]) - known:
            return f"there is no family {sorted(map(str, foreign))[0][:60]!r}"
        try:
            found = (family.unsound(rows_of(table, family.name)) for family in MEMBERS if (table["family"] == family.name).any())
            return next((wrong for wrong in found if wrong is not None), None)
        except (TypeError, ValueError):
            return "a row lacks what its family writes"

    def longest_prompt(self, config: MixedConfig) -> str:
        return max((member(family).longest_prompt(part.config) for family, part in config.parts.items()), key=len)

    # --- engineers --------------------------------------------------------------------------------------------------------

    def even(self, config: MixedConfig) -> MixedConfig:
        even = {name: own for family, part in config.parts.items() for name, own in member(family).even(part.config).cells.items()}
        return config.with_cells({name: own.model_copy(update={"share": 1 / len(even)}) for name, own in even.items()})

    def at_random(self, config: MixedConfig, rng: np.random.Generator, parts: Sequence[str] = ()) -> MixedConfig:
        drawn = {
            name: own
            for family, part in config.parts.items()
            for name, own in member(family).at_random(part.config, rng, parts if member(family).parts else ()).cells.items()
        }
        shares = rng.dirichlet(np.ones(len(drawn))).tolist()
        return config.with_cells(
            {name: own.model_copy(update={"share": share}) for (name, own), share in zip(drawn.items(), shares, strict=True)}
        )

    def mixed(self, new: Any, old: Any, allowed: Collection[str], max_step: float) -> tuple[Any, str]:
        return member_with(old).mixed(new, old, allowed, max_step)


def rows_of(table: pd.DataFrame, family: str) -> pd.DataFrame:
    """The rows of one family, with its own types."""
    own = table[table["family"] == family]
    return own.astype({name: kind for name, kind in member(family).columns.items() if name in own})


MIXED = Mixed()
