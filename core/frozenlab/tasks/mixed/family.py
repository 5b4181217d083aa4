"""Several task families as one: each task is asked, judged, taught and shown by its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from frozenlab.base import seeds
from frozenlab.base.cells import Cell, evenly, quotas
from frozenlab.tasks.family import Family, TaskFamily
from frozenlab.tasks.lake.dialects import too_many_cells
from frozenlab.tasks.mixed.config import MEMBERS, MixedConfig, MixedSuite, member, member_naming, member_with
from frozenlab.tasks.task import Attempt, Dialect, Judged, LabDialect, Mended, Task, Teacher
from frozenlab.tasks.words import SHARE, Knob, Outcome

if TYPE_CHECKING:
    import pandas as pd


class MixedTask(NamedTuple):
    family: str
    task: Task

    @property
    def owner(self) -> Family:
        return member(self.family)

    @property
    def id(self) -> str:
        return self.task.id

    @property
    def cell(self) -> str:
        return self.task.cell


def of_family(tasks: Sequence[MixedTask], family: str) -> list[Task]:
    """The family's own tasks among these."""
    return [mixed.task for mixed in tasks if mixed.family == family]


def lab_of(family: Family) -> LabDialect[Any, Any]:
    assert family.lab is not None, "every family that can be mixed has one"
    return family.lab


class MixedPlain(Dialect[MixedTask, Any]):
    """Each task in the dialect of its family."""

    def prompt(self, task: MixedTask) -> str:
        return task.owner.plain.prompt(task.task)

    def read(self, task: MixedTask, text: str, finished: bool) -> Any:
        return task.owner.plain.read(task.task, text, finished)


class MixedLab(LabDialect[MixedTask, Any]):
    """Each task in the lab dialect of its family."""

    def prompt(self, task: MixedTask) -> str:
        return lab_of(task.owner).prompt(task.task)

    def read(self, task: MixedTask, text: str, finished: bool) -> Any:
        return lab_of(task.owner).read(task.task, text, finished)

    def limit(self, task: MixedTask) -> int:
        return lab_of(task.owner).limit(task.task)

    def obstacles(self, config: MixedConfig, engineer: bool) -> list[str]:
        found = [obstacle for family, part in config.owned() for obstacle in lab_of(family).obstacles(part, engineer=False)]
        return found + (too_many_cells(config) if engineer else [])


class MixedTeacher(Teacher[MixedTask]):
    """Each attempt is mended, or answered, by the teacher of its family."""

    def mend(self, attempts: Sequence[Attempt[MixedTask]]) -> list[Mended | None]:
        return by_family(attempts, lambda teacher, own: teacher.mend(own))

    def answers(self, attempts: Sequence[Attempt[MixedTask]]) -> list[Mended | None]:
        return by_family(attempts, lambda teacher, own: teacher.answers(own))

    def wrong_answers(self, attempts: Sequence[Attempt[MixedTask]]) -> list[Mended | None]:
        """None for each task whose family's teacher knows no wrong answers."""
        return by_family(attempts, lambda teacher, own: teacher.wrong_answers(own) or [None] * len(own))


Teaching = Callable[[Teacher[Any], Sequence[Attempt[Any]]], list[Mended | None]]


def by_family(attempts: Sequence[Attempt[MixedTask]], teach: Teaching) -> list[Mended | None]:
    """What the teacher of each family makes of its own attempts, in the order of all of them."""
    made: dict[int, Mended | None] = {}
    for family in MEMBERS:
        own = {i: attempt for i, attempt in enumerate(attempts) if attempt.task.family == family.name}
        assert family.teacher is not None, "every family that can be mixed has one"
        made |= zip(own, teach(family.teacher, [Attempt(a.task.task, a.text, a.rng) for a in own.values()]), strict=True)
    return [made[i] for i in range(len(attempts))]


BRIEF = """\
You design the environment in which a policy (a language model) learns tasks of several kinds by reinforcement learning. Training goes in
stages. After each stage you read what happened and write the environment config of the next one. The aim is the highest share of valid
and optimal answers on held-out tasks of all kinds in the end.

The config has a cell for each kind of task. For each cell you set, in whole per cent, share_percent: the part of all training tasks that
are of this cell. The shares of all cells are scaled to sum to 100. A cell has further knobs, by what it is about:"""


def all_knobs() -> dict[str, Knob]:
    """Of all families; a cell has the share and those of its own."""
    return {SHARE.name: SHARE} | {name: family.knobs[name] for family in MEMBERS for name in family.ratios}


def all_outcomes() -> dict[str, Outcome]:
    """Of all families: valid ones first, and one that several have in the words of the first, if they hold for all."""
    found: dict[str, Outcome] = {}
    for name, outcome in (item for family in MEMBERS for item in family.outcomes.items()):
        found.setdefault(name, outcome)
    found["parse_error"] = found["parse_error"]._replace(label="not readable", rule="An answer has the form that its task asks for.")
    return dict(sorted(found.items(), key=lambda item: not item[1].valid))


NULLABLE: Mapping[str, str] = {"int64": "Int64", "bool": "boolean"}
"""Types of columns that have room for nothing: of a column that a family lacks."""


def all_columns() -> dict[str, str]:
    """Of all families, and the name of the family."""
    names = dict.fromkeys(name for family in MEMBERS for name in family.columns)
    found = {"family": "str"}
    for name in names:
        kinds = [family.columns.get(name) for family in MEMBERS]
        kind = next(kind for kind in kinds if kind is not None)
        found[name] = NULLABLE.get(kind, kind) if None in kinds else kind
    return found


class Mixed(TaskFamily[MixedTask, Any]):
    """The families of :data:`MEMBERS` in one config."""

    name = "mixed"
    aim = "It learns tasks of several kinds at once."
    knobs = all_knobs()
    outcomes = all_outcomes()
    columns = all_columns()
    task_columns = tuple(name for family in MEMBERS for name in family.task_columns)
    config_type = MixedConfig
    suite_type = MixedSuite
    parts = tuple(part for family in MEMBERS for part in family.parts)
    plain: MixedPlain = MixedPlain()
    lab: MixedLab = MixedLab()
    teacher: MixedTeacher = MixedTeacher()

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
        return family.undrawable(own, cell)

    def realised(self, tasks: Sequence[MixedTask]) -> dict[str, Any]:
        found = {}
        for family in MEMBERS:
            own = of_family(tasks, family.name)
            for cell, drawn in family.realised(own).items() if own else ():
                found[cell] = drawn.model_copy(update={"share": drawn.boards / len(tasks)})
        return found

    def read_realised(self, config: MixedConfig, given: Mapping[str, Any]) -> dict[str, Any]:
        return {cell: config.part_with(cell)[0].realised_type.model_validate(drawn) for cell, drawn in given.items()}

    def ready_made(self) -> dict[str, MixedConfig]:
        return {" and ".join(family.name for family in MEMBERS): MixedConfig()}

    # --- suites -----------------------------------------------------------------------------------------------------------

    def named_suites(self) -> dict[str, Any]:
        """Those of its members, which are measured as theirs."""
        return {name: suite for family in MEMBERS for name, suite in family.named_suites().items()}

    def suite_label(self, name: str) -> str:
        return next(family.suite_label(name) for family in MEMBERS if name in family.named_suites())

    def suite_total(self, suite: Any) -> int:
        return member(suite.family).suite_total(suite)

    def suite_scope(self, suite: Any) -> str:
        return "every cell" if isinstance(suite, MixedSuite) else member(suite.family).suite_scope(suite)

    # --- answers ----------------------------------------------------------------------------------------------------------

    def judge(self, task: MixedTask, answer: Any) -> Judged:
        return task.owner.judge(task.task, answer)

    def credit(self, task: MixedTask, answer: Any, judged: Judged) -> float:
        return task.owner.credit(task.task, answer, judged)

    def row(self, task: MixedTask, answer: Any, judged: Judged) -> dict[str, Any]:
        own = task.owner.row(task.task, answer, judged)
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

    def longest_prompt(self, config: MixedConfig, question: str = "full") -> str:
        return max((family.longest_prompt(part, question) for family, part in config.owned()), key=len)

    # --- engineers --------------------------------------------------------------------------------------------------------

    def even(self, config: MixedConfig) -> MixedConfig:
        even = {name: own for family, part in config.owned() for name, own in family.even(part).cells.items()}
        return config.with_cells({name: own.model_copy(update={"share": 1 / len(even)}) for name, own in even.items()})

    def at_random(self, config: MixedConfig, rng: np.random.Generator, parts: Sequence[str] = ()) -> MixedConfig:
        drawn = {
            name: own
            for family, part in config.owned()
            for name, own in family.at_random(part, rng, parts if family.parts else ()).cells.items()
        }
        shares = rng.dirichlet(np.ones(len(drawn))).tolist()
        return config.with_cells(
            {name: own.model_copy(update={"share": share}) for (name, own), share in zip(drawn.items(), shares, strict=True)}
        )

    def mixed(self, new: Any, old: Any, allowed: Collection[str], max_step: float) -> tuple[Any, str]:
        return member_with(old).mixed(new, old, allowed, max_step)

    # --- words -----------------------------------------------------------------------------------------------------------

    def brief(self, cells: Sequence[Cell], parts: Sequence[str] = ()) -> str:
        about = []
        for family in MEMBERS:
            own = [cell for cell in cells if member_naming(cell.name) is family]
            if own:
                names = ", ".join(f"{cell.name} ({cell.words})" for cell in own)
                ratios = [f"- {name.removesuffix('_ratio')}_percent: {family.knobs[name].help}" for name in family.ratios]
                about.append("\n".join([f"{family.aim} Its cells: {names}.", *ratios]))
        if parts:
            about.append(f"Cells on maps may mix layouts, the ways in which holes lie: {', '.join(parts)}.")
        return "\n\n".join([BRIEF, *about])

    def statistics(self, cell: Cell, own: Any, drawn: Any) -> tuple[str, dict[str, float]]:
        return member_with(own).statistics(cell, own, drawn)

    def case(self, row: Any) -> tuple[str, int]:
        return member(row["family"]).case(row)

    def scope(self, config: MixedConfig) -> str:
        return "; ".join(family.scope(part) for family, part in config.owned())

    def notes(self, config: MixedConfig) -> list[str]:
        return [note for family, part in config.owned() for note in family.notes(part)]

    def setting_label(self, name: str) -> str:
        return next((family.setting_label(name) for family in MEMBERS if name in (*family.knobs, *family.parts)), name)

    def part_help(self, part: str) -> str:
        return next((family.part_help(part) for family in MEMBERS if part in family.parts), part)


def rows_of(table: pd.DataFrame, family: str) -> pd.DataFrame:
    """The rows of one family, with its own types."""
    own = table[table["family"] == family]
    return own.astype({name: kind for name, kind in member(family).columns.items() if name in own})


MIXED = Mixed()
