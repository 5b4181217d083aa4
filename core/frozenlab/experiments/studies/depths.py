"""By what was left: what an arm of a study won over another, over students that had lost more and students that had lost less."""

from __future__ import annotations

import numpy as np
import pandas as pd

from frozenlab.base.numbers import percents
from frozenlab.experiments.studies.effects import contrast
from frozenlab.experiments.studies.grid import Measure
from frozenlab.experiments.studies.ladder import rates_of
from frozenlab.experiments.studies.pictures import lines_picture
from frozenlab.experiments.studies.statistics import Effect, OfStudent, mean_of
from frozenlab.experiments.studies.tables import StudyReport

GROUPS, LEAST = 4, 3
"""Groups of students, and how many are in each at least."""
LESS = " - "
"""Between the arms of a comparison, in its name."""


def has_depths(report: StudyReport) -> bool:
    """Whether the students are enough to be told apart by what was left, and the study says what it compares."""
    return len(report.left) >= GROUPS * LEAST and bool(report.spec.primary)


def by_what_was_left(report: StudyReport, measure: Measure) -> tuple[list[str], dict[str, list[Effect | None]]]:
    """What each of four groups of students had left, those with the least first, and the primary comparisons of the study in each."""
    groups = np.array_split(list(report.left), GROUPS)
    rates, lines = rates_of(report, measure), dict[str, list[Effect | None]]()
    for one in report.spec.primary:
        won = {own.student: own for own in contrast(rates, [one.arm], [one.than]).students}
        within = [tuple(won[student] for student in group if student in won) for group in groups]
        lines[f"{one.arm}{LESS}{one.than}"] = [over(own) if own else None for own in within]
    return [f"{percents(report.left[group[0]], report.left[group[-1]])} left" for group in groups], lines


def over(students: tuple[OfStudent, ...]) -> Effect:
    """The mean over some students."""
    return mean_of([own.mean for own in students]).model_copy(update={"students": students})


def depths_table(report: StudyReport, measure: Measure) -> pd.DataFrame:
    """The same as a table, a row a comparison: points with 95 % intervals."""
    columns, lines = by_what_was_left(report, measure)
    return pd.DataFrame(
        {"comparison": name} | {column: won.change if won else "" for column, won in zip(columns, own, strict=True)}
        for name, own in lines.items()
    )


def depths_picture(report: StudyReport, measure: Measure) -> str:
    """The same as a picture, whose lines are named by the first arm of each comparison."""
    columns, lines = by_what_was_left(report, measure)
    short = {name.partition(LESS)[0]: own for name, own in lines.items()}
    return lines_picture(columns, short if len(short) == len(lines) else lines)
