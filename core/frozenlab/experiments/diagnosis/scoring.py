"""How a proposal is scored against the ground truth, and the rates with their intervals. Pure functions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from frozenlab.base.numbers import Z95, Interval, wilson

TIE = 1e-6
"""Shares that grew by amounts closer than this grew by the same."""


class Score(NamedTuple):
    """One proposal against the planted weakness."""

    hit: float
    """1 if the share that grew most is that of a weak cell; ties count by their part; if no share grew, all cells tie."""
    aim: float | None
    """The part of the added share that went to weak cells; None if no share grew."""


def score(before: Mapping[str, float], after: Mapping[str, float], weak: Collection[str]) -> Score:
    """Score the change of the shares of all cells.

    >>> before = {"a": 0.25, "b": 0.25, "c": 0.25, "d": 0.25}
    >>> score(before, {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}, {"a"})
    Score(hit=1.0, aim=0.75)
    >>> score(before, {"a": 0.4, "b": 0.4, "c": 0.1, "d": 0.1}, {"b", "c"})
    Score(hit=0.5, aim=0.5)
    >>> score(before, before, {"b"})
    Score(hit=0.25, aim=None)
    """
    grown = {cell: after[cell] - before[cell] for cell in before}
    most = max(grown.values())
    if most <= TIE:
        return Score(len(weak) / len(grown), None)
    tied = [cell for cell, amount in grown.items() if amount >= most - TIE]
    added = {cell: amount for cell, amount in grown.items() if amount > TIE}
    aim = sum(amount for cell, amount in added.items() if cell in weak) / sum(added.values())
    return Score(sum(cell in weak for cell in tied) / len(tied), round(aim, 9))


class Rate(NamedTuple):
    """A mean score with two 95 % intervals."""

    mean: float
    """Each student counts the same."""
    n: int
    """Answers."""
    students: int
    low: float
    """Clustered by student: answers about one student are not independent."""
    high: float
    naive_low: float
    """Wilson's, as if all answers were independent."""
    naive_high: float

    @property
    def interval(self) -> Interval:
        return Interval(self.mean, self.low, self.high, self.n)

    @property
    def naive(self) -> Interval:
        return Interval(self.mean, self.naive_low, self.naive_high, self.n)


def rate(scores: Sequence[Sequence[float]]) -> Rate:
    """The mean of scores in 0..1, given by student.

    The clustered interval is Wilson's at the effective number of answers, with the correction for few clusters (Korn and Graubard 1998):
    the number at which a rate of independent answers would vary as much as the mean of these students does, times the squared ratio of the
    normal to the t quantile. With one student nothing is known about others: the interval is 0 to 1.

    >>> rate([[1, 1, 0, 0]] * 2)[:3]
    (0.5, 8, 2)
    """
    by_student = [float(np.mean(own)) for own in scores]
    k, n, mean = len(by_student), sum(map(len, scores)), float(np.mean(by_student))
    naive = wilson(mean * n, n)
    if k < 2:
        return Rate(mean, n, k, 0.0, 1.0, *naive)
    variance = float(np.var(by_student, ddof=1)) / k
    effective = mean * (1 - mean) / variance if variance > 1e-12 and 0 < mean < 1 else k
    effective = min(effective, n) * (Z95 / float(stats.t.isf(0.025, k - 1))) ** 2
    return Rate(mean, n, k, *wilson(mean * effective, effective), *naive)
