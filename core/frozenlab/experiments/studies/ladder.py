"""The ladder of engineers: what each wins over equal shares, in a study and in those that come with FrozenLab."""

from __future__ import annotations

from functools import cache

import pandas as pd

from frozenlab.base.numbers import MANY, interval, signed
from frozenlab.experiments.students.menu import DECOYS, ladder
from frozenlab.experiments.studies.grid import Measure
from frozenlab.experiments.studies.pictures import lines_picture
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.statistics import Effect, OfStudent, mean_of
from frozenlab.experiments.studies.store import Study
from frozenlab.experiments.studies.tables import StudyReport, recorded_report
from frozenlab.models.folders import STUDENT

EQUAL = "equal"
"""The arm that wins nothing."""
COLUMNS = {"ladder-plain": "without decoys", "ladder": "with decoys"}
"""The studies that come with FrozenLab, and what their columns are called."""
Rungs = dict[str, Effect]
"""Arm -> what it won over equal shares, over students."""


def column_of(spec: StudySpec) -> str:
    """The column of the ladder that a study belongs to; empty if its students are others."""
    if set(spec.students) != {f"{STUDENT}{name}" for name in ladder()}:
        return ""
    return COLUMNS["ladder" if set(DECOYS) <= set(spec.session.initial_config.cells) else "ladder-plain"]


def rungs(report: StudyReport, measure: Measure) -> Rungs:
    """What each arm won, the best first; empty without equal shares to compare with."""
    rates = {arm.arm: arm.by_unit for arm in report.of(measure).arms}
    equal, found = rates.pop(EQUAL, {}), {}
    for arm, own in rates.items():
        if won := {student: rate - equal[student] for student, rate in own.items() if student in equal}:
            single = (OfStudent(student=student, mean=mean, low=float("nan"), high=float("nan"), n=1) for student, mean in won.items())
            found[arm] = mean_of([*won.values()]).model_copy(update={"students": tuple(single)})
    return dict(sorted(found.items(), key=lambda rung: -rung[1].mean))


@cache
def shipped(measure: Measure) -> dict[str, Rungs]:
    """Column -> the rungs that this lab measured."""
    found = {study.id: study for study in Study.shipped()}
    return {words: rungs(recorded_report(found[name]), measure) for name, words in COLUMNS.items()}


def own_rungs(report: StudyReport, measure: Measure) -> Rungs:
    """The rungs of a study that does not come with FrozenLab, without its oracle."""
    found = rungs(report, measure)
    return {} if found in shipped(measure).values() else {arm: won for arm, won in found.items() if arm != "oracle"}


def rungs_table(report: StudyReport, measure: Measure) -> pd.DataFrame:
    """A row an engineer: what it won in each column, in points with 95 % intervals; the lab's own, then those of this study."""

    def words(won: Effect | None) -> str:
        return "" if won is None else f"{signed(won.mean, MANY)} ({interval(won.low, won.high, MANY)})"

    columns, own = shipped(measure), own_rungs(report, measure)
    found = {f"yours: {arm}": {column_of(report.spec): won} for arm, won in own.items()}
    for arm in dict.fromkeys(arm for rung in reversed(columns.values()) for arm in rung):
        found[arm] = {column: rung[arm] for column, rung in columns.items() if arm in rung}
    rows = [
        {"engineer": name} | {column: words(won.get(column)) for column in columns} | {"n": max(one.n for one in won.values())}
        for name, won in found.items()
    ]
    return pd.DataFrame(rows)


def ladder_picture(report: StudyReport, measure: Measure) -> str:
    """The shipped rungs in both columns, and those of this study in its own."""
    columns, own = shipped(measure), own_rungs(report, measure)
    lines = {arm: [rung.get(arm) for rung in columns.values()] for arm in dict.fromkeys(arm for rung in columns.values() for arm in rung)}
    lines |= {f"yours: {arm}": [won if column == column_of(report.spec) else None for column in columns] for arm, won in own.items()}
    return lines_picture([*columns], lines, [f"yours: {arm}" for arm in own])
