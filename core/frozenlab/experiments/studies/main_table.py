"""The main table: the last checkpoint of every session of a study, measured on a named suite, by arm and team.

Each measurement is a result folder next to the sessions: ``final/<cell>/``; one that is there is not measured again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan

import pandas as pd
from pydantic import BaseModel

from frozenlab.base.cells import in_order
from frozenlab.base.numbers import UNKNOWN, number
from frozenlab.experiments.benchmark.results import Result, save_result
from frozenlab.experiments.benchmark.task import Task
from frozenlab.experiments.studies.effects import mean_over, units
from frozenlab.experiments.studies.grid import MEASURES, Cell, Measure
from frozenlab.experiments.studies.statistics import Bound
from frozenlab.experiments.studies.store import Study


class MainRate(BaseModel):
    """The rate of one arm on one part of the suite: its mean over seeds (or students), with its 95 % t interval within 0..1."""

    arm: str
    group: str
    """On the lake the number of agents; elsewhere the suite's cell."""
    place: str = ""
    """On the lake the map size; empty: the mean over all sizes."""
    measure: Measure
    mean: float
    low: Bound
    high: Bound
    n: int
    """Number of seeds; with several students, number of students."""


class MainTable(BaseModel):
    """All rates of the final checkpoints on the suite."""

    suite: str
    columns: tuple[str, ...]
    """What a group and a place are: ``agents`` and ``size`` on the lake."""
    rates: tuple[MainRate, ...]

    def of(self, measure: Measure, place: str | None = "") -> list[MainRate]:
        """The rates of one measure: on one place, on the whole groups (empty), or on every place (None)."""
        return [one for one in self.rates if one.measure == measure and (one.place == place if place is not None else one.place != "")]

    def shown(self, measure: Measure) -> list[MainRate]:
        """The rates that a picture shows: on every place, or on the whole groups if these have no places."""
        return self.of(measure, None) or self.of(measure)

    @property
    def groups(self) -> list[str]:
        return in_order(one.group for one in self.rates)

    @property
    def arms(self) -> list[str]:
        return list(dict.fromkeys(one.arm for one in self.rates))


def main_table(rows: pd.DataFrame, suite: str, columns: Sequence[str]) -> MainTable:
    """The table of these answers.

    Args:
        rows: one row per session and task: ``arm, seed`` (and ``student``), ``valid, optimal`` and the ``columns`` of the suite's cells.
    """
    group, *places = columns
    rates = []
    for measure in MEASURES:
        session = ["arm", *units(rows)]
        of_cells = rows.groupby([*session, *columns], sort=False)[measure].mean().rename("value").reset_index()
        of_groups = of_cells.groupby([*session, group], sort=False)["value"].mean().reset_index()
        for arm in rows["arm"].unique():
            rates += rates_of(of_groups[of_groups["arm"] == arm], arm, measure, group)
            if places:
                rates += rates_of(of_cells[of_cells["arm"] == arm], arm, measure, group, places[0])
    return MainTable(suite=suite, columns=tuple(columns), rates=tuple(rates))


def rates_of(values: pd.DataFrame, arm: str, measure: Measure, group: str, place: str = "") -> list[MainRate]:
    """The rates of one arm, one for each part of the suite."""
    found = []
    for keys, own in values.groupby([group, place] if place else [group]):
        mean = mean_over(own)
        where = {"group": str(keys[0]), "place": str(keys[1]) if place else ""}
        found.append(MainRate(arm=arm, measure=measure, mean=mean.mean, low=mean.low, high=mean.high, n=mean.n, **where))
    return found


def as_frame(table: MainTable) -> pd.DataFrame:
    """All rates, one a row, for CSV."""
    return pd.DataFrame([one.model_dump() for one in table.rates])


def in_words(one: MainRate) -> str:
    """``61.2 ± 3.4``: per cent, with half the width of the t interval; without it where there is one seed."""
    mean = number(100 * one.mean, 1)
    return mean if isnan(one.low) else f"{mean} \N{PLUS-MINUS SIGN} {number(50 * (one.high - one.low), 1)}"


def by_arm(table: MainTable) -> pd.DataFrame:
    """A row for each arm: its name, then the valid rate and the optimal rate of every group, in words."""
    found = {(one.arm, one.measure, one.group): in_words(one) for measure in MEASURES for one in table.of(measure)}
    columns = [(measure, group) for measure in MEASURES for group in table.groups]
    rows = [[arm, *(found.get((arm, *column), UNKNOWN) for column in columns)] for arm in table.arms]
    return pd.DataFrame(rows, columns=["arm", *(f"{measure}, {group} {table.columns[0]}" for measure, group in columns)])


def as_latex(table: MainTable) -> str:
    """The table of the arms as LaTeX, which needs the package booktabs."""
    groups, n = table.groups, len(table.groups)
    label = table.columns[0]
    wide = " & ".join(f"\\multicolumn{{{n}}}{{c}}{{{measure}}}" for measure in MEASURES)
    heads = " & ".join(f"{group} {label}" for _ in MEASURES for group in groups)
    body = [
        " & ".join(cell.replace("\N{PLUS-MINUS SIGN}", "$\\pm$").replace("_", "\\_") for cell in row) for row in by_arm(table).to_numpy()
    ]
    lines = [
        f"\\begin{{tabular}}{{l{'r' * (2 * n)}}}",
        "\\toprule",
        f" & {wide} \\\\",
        f"arm & {heads} \\\\",
        "\\midrule",
        *(f"{row} \\\\" for row in body),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


# --- of a study -------------------------------------------------------------------------------------------------------


def result_of(study: Study, cell: Cell) -> Result | None:
    """The result of a cell's last checkpoint; None before it is measured."""
    folder = study.dir / "final" / cell.id
    return Result(folder) if (folder / "report.json").exists() else None


def measure_finals(study: Study, on_progress: Callable[[], None]) -> None:
    """Measure what is not measured yet. Imports torch; ``on_progress`` is called again and again and may raise Stopped."""
    from frozenlab.experiments.benchmark.measuring import measure

    for cell, session in study.finished():
        if result_of(study, cell) is None:
            on_progress()
            stage, spec = session.spec.stages - 1, session.spec
            task = Task(
                title=f"{cell.arm.name}{f', {cell.label}' if cell.label else ''}, seed {cell.seed}",
                model=spec.policy,
                method=spec.training.method,
                session=cell.id,
                stage=stage,
                suite=study.spec.final_suite,
                policy=str((session.stage_dir(stage) / "policy").resolve()),
                language=spec.language,
                temperature=0.0,
            )
            report, rows = measure(task, cell.id, lambda part, done, of: on_progress())
            save_result(study.dir / "final" / cell.id, report, rows)


def finals_of(study: Study) -> MainTable | None:
    """The main table of what is measured so far; None without a final suite, or before anything is measured."""
    if not study.spec.final_suite:
        return None
    columns = study.spec.session.tasks.suite_columns
    tables = []
    for cell, _ in study.finished():
        found = result_of(study, cell)
        rows = found.rows if found else None
        if rows is not None:
            student = {"student": cell.label} if cell.student else {}
            tables.append(rows[[*columns, "valid", "optimal"]].assign(arm=cell.arm.name, seed=cell.seed, **student))
    return main_table(pd.concat(tables, ignore_index=True), study.spec.final_suite, columns) if tables else None
