"""By what was left: what an arm of a study won over another, over students that had lost more and students that had lost less."""

from __future__ import annotations

import numpy as np
import pandas as pd

from frozenlab.base.numbers import percents
from frozenlab.experiments.studies.design import words_of
from frozenlab.experiments.studies.effects import contrast_so_far
from frozenlab.experiments.studies.grid import Measure
from frozenlab.experiments.studies.ladder import rates_of
from frozenlab.experiments.studies.pictures import lines_picture
from frozenlab.experiments.studies.statistics import Effect
from frozenlab.experiments.studies.tables import StudyReport

GROUPS, LEAST = 4, 3
"""Groups of students, and how many are in each at least."""
Lines = dict[tuple[str, str], list[Effect | None]]
"""The two arms of a comparison -> what the first won over the other in each group; None while no student of the group has both."""


def has_depths(report: StudyReport) -> bool:
    """Whether the students are enough to be told apart by what was left, and a primary comparison can be made."""
    there = {*rates_of(report, "valid")["arm"]}
    return len(report.left) >= GROUPS * LEAST and any({one.arm, one.than} <= there for one in report.spec.primary)


def by_what_was_left(report: StudyReport, measure: Measure) -> tuple[list[str], Lines]:
    """What each of four groups of students had left, those with the least first, and the primary comparisons of the study in each."""
    groups, rates = np.array_split(list(report.left), GROUPS), rates_of(report, measure)
    tables = [rates[rates["student"].isin(group)] for group in groups]
    lines = {
        (arm, than): [contrast_so_far(table, [arm], [than]) for table in tables]
        for arm, than in dict.fromkeys((one.arm, one.than) for one in report.spec.primary)
    }
    columns = [f"{percents(report.left[group[0]], report.left[group[-1]])} left" for group in groups]
    return columns, {arms: own for arms, own in lines.items() if any(own)}


def depths_table(report: StudyReport, measure: Measure) -> pd.DataFrame:
    """The same as a table, a row a comparison: points with 95 % intervals."""
    columns, lines = by_what_was_left(report, measure)
    return pd.DataFrame(
        {"comparison": " − ".join(map(words_of, arms))}
        | {column: won.change if won else "" for column, won in zip(columns, own, strict=True)}
        for arms, own in lines.items()
    )


def depths_picture(report: StudyReport, measure: Measure) -> str:
    """The same as a picture, whose lines are named by the first arm of each comparison."""
    columns, lines = by_what_was_left(report, measure)
    alone = len({arm for arm, _ in lines}) == len(lines)
    return lines_picture(columns, {" − ".join(map(words_of, arms[:1] if alone else arms)): own for arms, own in lines.items()})
