"""The noise of a comparison from student to student, measured on the recorded studies with students.

Sessions of one student and seed share their boards and differ in their arm. Two parts of the spread of a comparison are told apart, by a
two-way analysis of variance of arms and students with the seeds as replicates: what another student changes, and what another seed changes,
which more seeds average out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import sqrt
from pathlib import Path

import pandas as pd

from frozenlab.base.files import regular
from frozenlab.experiments.studies.store import outcomes, shipped_reports, shipped_spec


@dataclass(frozen=True)
class StudentNoise:
    """Variances of one arm's rates around what its student and its seed do to all arms; rates lie in 0..1."""

    between_students: float
    between_seeds: float

    def deviation(self, seeds: int) -> float:
        """Standard deviation over students of the difference of two arms, each the mean of so many seeds.

        >>> StudentNoise(0.0, 0.0004).deviation(2)
        0.02
        """
        return sqrt(2 * (self.between_students + self.between_seeds / seeds))


def recorded_student_noise() -> dict[str, StudentNoise]:
    """The noise of each study with students that comes with the project, by the study's name."""
    return {folder.name: noise_in(folder) for folder in shipped_reports() if shipped_spec(folder).students}


@cache
def noise_in(folder: Path) -> StudentNoise:
    """The noise of one recorded study. Cached, because the Studies page needs it at every run and a recording does not change."""
    return student_noise(outcomes(pd.read_parquet(regular(folder / "boards.parquet"))))


def student_noise(rates: pd.DataFrame) -> StudentNoise:
    """From a row per session: ``arm, student, seed, value``, as :func:`outcomes` gives it; units that lack an arm are left out."""
    wide = rates.pivot(index=["student", "seed"], columns="arm", values="value").dropna()
    left = wide.sub(wide.mean(axis=1), axis=0)  # without what the unit does to all arms
    means = left.groupby("student").mean()
    students, arms = means.shape
    seeds = len(wide) / students
    within = square_sum(left - left.groupby("student").transform("mean")) / (students * (arms - 1) * (seeds - 1))
    between = seeds * square_sum(means - means.mean()) / ((students - 1) * (arms - 1))
    return StudentNoise(max(0.0, (between - within) / seeds), within)


def square_sum(table: pd.DataFrame) -> float:
    return float((table.to_numpy() ** 2).sum())
