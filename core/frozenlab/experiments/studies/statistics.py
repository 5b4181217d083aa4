"""Statistics of a few seeds: intervals, correction for several comparisons, and the effects that a study can detect."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan, sqrt
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, BaseModel, BeforeValidator, PlainSerializer
from scipy import optimize, stats

from frozenlab.base.numbers import MANY, ComparisonError, interval, points

CLEAR = 0.05
"""An effect is called clear of chance below this p value. Its interval, of 1 - CLEAR, then excludes 0."""
POWER = 0.8
"""Statistical power at which a study is said to detect an effect."""
Bound = Annotated[
    float,
    BeforeValidator(lambda value: nan if value is None else value),
    AfterValidator(lambda value: nan if isnan(value) else value),  # one NaN for all, so that equal models compare as equal
    PlainSerializer(lambda value: None if isnan(value) else value, when_used="json"),
]
"""A bound or a p value: NaN where the data give none, which is null in JSON."""


class OfStudent(BaseModel):
    """A difference for one student: its mean over seeds with its 95 % t interval; bounds are NaN if the seeds show no spread."""

    student: str
    mean: float
    low: Bound
    high: Bound
    n: int
    """Number of seeds."""


class Effect(BaseModel):
    """A mean over seeds, such as a difference of arms, with its 95 % t interval (both in units of the outcome) and its two-sided p values.
    With several students all of them are over students."""

    mean: float
    low: Bound
    high: Bound
    """``low``, ``high`` and ``p`` are NaN if there is no spread: one value, or several that are the same."""
    p: Bound
    """p value of the t test against 0."""
    p_holm: Bound
    """``p`` after Holm's correction for all effects that are computed together; ``p`` itself for a single effect."""
    n: int
    """Number of seeds; with several students, number of students."""
    students: tuple[OfStudent, ...] = ()
    """Each student's own mean; empty in a study without students."""

    @property
    def change(self) -> str:
        """The mean with its interval: ``+0.2 points (−0.7 to +1.0)``."""
        return points(self.mean, MANY) + ("" if isnan(self.low) else f" ({interval(self.low, self.high, MANY)})")


def mean_of(values: Sequence[float]) -> Effect:
    """The mean of independent values by a one-sample t test (Student 1908), with n - 1 degrees of freedom.

    Values that are all 0 have the interval 0 to 0 and p = 1. If all have another value, there is no interval, because the t test would call
    any such value certain.
    """
    low = high = p = nan
    if np.ptp(values) > 0:
        test = stats.ttest_1samp(values, 0.0)
        (low, high), p = test.confidence_interval(1 - CLEAR), test.pvalue
    elif len(values) > 1 and not np.any(values):
        low, high, p = 0.0, 0.0, 1.0
    return Effect(mean=float(np.mean(values)), low=low, high=high, p=p, p_holm=p, n=len(values))


def clustered(groups: Sequence[Sequence[float]]) -> Effect:
    """The mean over groups of their means, with an interval over groups: values of one group are not independent of each other.

    Each group counts once, however many values it has. A single group gives the interval over its values, which says nothing about other
    groups. The t interval of cluster means has its nominal rate from two groups on, if their means are about normal (Donner & Klar
    2000); sandwich estimators need dozens of groups.

    >>> found = clustered([[1.0, 3.0], [4.0], [6.0, 6.0, 6.0]])
    >>> found.mean, found.n
    (4.0, 3)
    """
    return mean_of(groups[0] if len(groups) == 1 else [round(float(np.mean(values)), 12) for values in groups])


def ratio_of_means(above: Sequence[float], below: Sequence[float]) -> tuple[float, float, float]:
    """The mean of ``above`` over the mean of ``below``, paired values, with its 95 % interval (Fieller 1954).

    NaN for all three where the interval of the lower mean does not lie above 0: then no bounded interval of the ratio has its rate.
    """
    if not mean_of(below).low > 0:
        return nan, nan, nan
    y, x, n = float(np.mean(above)), float(np.mean(below)), len(below)
    (yy, xy), (_, xx) = np.cov(above, below) / n
    t2 = float(stats.t.isf(CLEAR / 2, n - 1)) ** 2
    # The ratios r that a t test of y - r x does not reject: a r^2 - 2 b r + c <= 0.
    a, b, c = x * x - t2 * xx, x * y - t2 * xy, y * y - t2 * yy
    root = sqrt(max(b * b - a * c, 0.0))
    return y / x, (b - root) / a, (b + root) / a


def over_seeds(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % t interval of a mean over seeds; NaN if they show no spread."""
    if len(values) < 2 or np.ptp(values) < 1e-12:
        return nan, nan
    low, high = stats.ttest_1samp(values, 0.0).confidence_interval(1 - CLEAR)
    return float(low), float(high)


def holm(ps: Sequence[float]) -> list[float]:
    """p values corrected for multiple comparisons (Holm 1979), in the same order: the family-wise error rate stays that of a single test.

    NaN stays NaN and does not count, as in R's ``p.adjust``.
    """
    order = sorted((i for i, p in enumerate(ps) if not isnan(p)), key=lambda i: ps[i])
    corrected, floor = [nan] * len(ps), 0.0
    for rank, i in enumerate(order):
        floor = max(floor, min(1.0, (len(order) - rank) * ps[i]))
        corrected[i] = floor
    return corrected


def smallest_visible(deviation: float, n: int, power: float = POWER) -> float:
    """The smallest effect that a study of ``n`` seeds would call clear with this chance (minimal detectable effect).

    Computed from the noncentral t distribution of the paired t test at 5 % (Cohen 1988, section 2.3). It depends only on the noise and the
    number of seeds, so it is known before anything has run.

    Args:
        deviation: standard deviation of a comparison over seeds, in any unit. The result has the same unit.

    Raises:
        ComparisonError: there are fewer than two seeds, which have no spread.
    """
    if n < 2:
        raise ComparisonError("one seed shows no spread, so no effect is clear of chance")
    top = 0.01
    while _power(top, n) < power:  # a large value at once could lie where SciPy's distribution is NaN
        top *= 2
    return deviation * float(optimize.brentq(lambda multiple: _power(multiple, n) - power, top / 2, top))


def _power(size: float, n: int) -> float:
    """Power of a paired t test of n seeds if the mean difference is ``size`` standard deviations."""
    needed, shift = stats.t.isf(CLEAR / 2, n - 1), size * sqrt(n)
    wrong_way = stats.nct.cdf(-needed, n - 1, shift) if shift < 5 else 0.0  # below 1e-6 there, where SciPy may give NaN
    return float(stats.nct.sf(needed, n - 1, shift) + wrong_way)
