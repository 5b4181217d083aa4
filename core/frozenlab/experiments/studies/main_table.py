"""The main table: the last checkpoint of every session, measured on a named suite, by arm and team."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import pandas as pd
from pydantic import BaseModel

from frozenlab.base.cells import in_order
from frozenlab.base.numbers import UNKNOWN, number
from frozenlab.experiments.studies.effects import units
from frozenlab.experiments.studies.grid import Measure
from frozenlab.experiments.studies.statistics import Mean, clustered, mean_of

MEASURES: tuple[Measure, ...] = ("valid", "optimal")


class MainRate(BaseModel):
    """The rate of one arm on one part of the suite: its mean over seeds (or students), with its 95 % t interval within 0..1."""

    arm: str
    group: str
    """On the lake the number of agents; elsewhere the suite's cell."""
    place: str = ""
    """On the lake the map size; empty: the mean over all sizes."""
    measure: Measure
    mean: float
    low: float | None
    high: float | None
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
        mean = over_units(own)
        low, high = (None if isnan(bound) else min(max(bound, 0.0), 1.0) for bound in (mean.low, mean.high))
        where = {"group": str(keys[0]), "place": str(keys[1]) if place else ""}
        found.append(MainRate(arm=arm, measure=measure, mean=mean.mean, low=low, high=high, n=mean.n, **where))
    return found


def over_units(values: pd.DataFrame) -> Mean:
    # Rates are shares of boards, so differences below 1e-12 come from the rounding of floats.
    if "student" not in values:
        return mean_of(values["value"].round(12).tolist())
    return clustered([own["value"].round(12).tolist() for _, own in values.groupby("student", sort=False)])


def as_frame(table: MainTable) -> pd.DataFrame:
    """All rates, one a row, for CSV."""
    return pd.DataFrame([one.model_dump() for one in table.rates])


def in_words(one: MainRate) -> str:
    """``61.2 ± 3.4``: per cent, with half the width of the t interval; without it where there is one seed."""
    mean = number(100 * one.mean, 1)
    return mean if one.low is None or one.high is None else f"{mean} \N{PLUS-MINUS SIGN} {number(50 * (one.high - one.low), 1)}"


def rows_by_arm(table: MainTable) -> list[list[str]]:
    """A row for each arm: its name, then the valid rate and the optimal rate of every group."""
    found = {(one.arm, one.measure, one.group): in_words(one) for measure in MEASURES for one in table.of(measure)}
    return [[arm, *(found.get((arm, measure, group), UNKNOWN) for measure in MEASURES for group in table.groups)] for arm in table.arms]


def as_latex(table: MainTable) -> str:
    """The table of the arms as LaTeX, which needs the package booktabs."""
    groups, n = table.groups, len(table.groups)
    label = table.columns[0]
    wide = " & ".join(f"\\multicolumn{{{n}}}{{c}}{{{measure}}}" for measure in MEASURES)
    heads = " & ".join(f"{group} {label}" for _ in MEASURES for group in groups)
    body = [" & ".join(cell.replace("\N{PLUS-MINUS SIGN}", "$\\pm$").replace("_", "\\_") for cell in row) for row in rows_by_arm(table)]
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
