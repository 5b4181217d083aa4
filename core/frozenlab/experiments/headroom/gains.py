"""What configs change in students, with what chance adds: noise, headroom and the value of information.

All functions take ``gains`` of shape (students, configs, replicates): the change of the valid rate over one short stage, in any unit.
A replicate has its own training draws and its own held-out tasks, which all configs of a student share. So means over the configs of a
student and replicate are removed where configs are compared, and the best config is chosen on other replicates than it is scored on: the
maximum of noisy numbers is larger than the number of the best config, even if all configs are alike (the winner's curse).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from frozenlab.base.numbers import ComparisonError, Interval
from frozenlab.experiments.studies.statistics import CLEAR, over_seeds, smallest_visible

Floats = NDArray[np.float64]
best, worst = partial(np.argmax, axis=1), partial(np.argmin, axis=1)
"""The config with the highest mean of each student, and that with the lowest."""
MOST_SEEDS = 1000
"""More pairs than are ever run: beyond this, an effect counts as out of reach."""


@dataclass(frozen=True)
class Spread:
    """How far configs differ, and how far one config differs from itself."""

    noise: float
    """A/A: standard deviation of a config's gain over seeds, after removing what all configs of a replicate share."""
    configs: float
    """Standard deviation of configs' true gains within students; 0 where the estimate of its square is negative."""
    icc: Interval
    """Intraclass correlation of one measurement: the part of the variance within students that comes from the config. Its bounds are by the
    F distribution. NaN without any variance."""


def spread(gains: Floats) -> Spread:
    """Noise and intraclass correlation of configs within students.

    The model is that of Shrout & Fleiss (1979) with configs as targets and replicates as judges, ICC(3, 1), pooled over students.

    Raises:
        ComparisonError: there is one config or one replicate only.
    """
    students, configs, replicates = gains.shape
    if configs < 2 or replicates < 2:
        raise ComparisonError("noise is seen where two or more configs are measured under two or more seeds")
    centred = gains - gains.mean(axis=1, keepdims=True)
    means = centred.mean(axis=2, keepdims=True)
    freedom = students * (configs - 1), students * (configs - 1) * (replicates - 1)
    between = replicates * float((means**2).sum()) / freedom[0]
    within = float(((centred - means) ** 2).sum()) / freedom[1]
    icc = Interval(*intraclass(between, within, freedom, replicates), freedom[0], "config")
    return Spread(sqrt(within), sqrt(max(0.0, between - within) / replicates), icc)


def intraclass(between: float, within: float, freedom: tuple[int, int], replicates: int) -> tuple[float, float, float]:
    """Intraclass correlation of one measurement and its 95 % bounds from two mean squares (Shrout & Fleiss 1979, McGraw & Wong 1996).

    Args:
        freedom: degrees of freedom of ``between`` and ``within``.
    """
    if within == 0:
        return (1.0, 1.0, 1.0) if between else (nan, nan, nan)
    ratio = between / within
    low, high = ratio / stats.f.isf(CLEAR / 2, *freedom), ratio * stats.f.isf(CLEAR / 2, *freedom[::-1])
    alike, lower, upper = ((f - 1) / (f + replicates - 1) for f in (ratio, low, high))
    return float(alike), float(lower), float(upper)


def headroom(gains: Floats, baseline: int) -> Floats:
    """Oracle less the baseline, (students, replicates): the gain of the config that was best on the other replicates of the same
    student, less the gain of the config with that number. Raises ComparisonError if there is one replicate only."""
    return chosen_elsewhere(gains, best) - gains[:, baseline]


def best_less_worst(gains: Floats) -> Floats:
    """The gain of the best config less that of the worst, (students, replicates), both chosen on the other replicates."""
    return chosen_elsewhere(gains, best) - chosen_elsewhere(gains, worst)


def information_value(gains: Floats) -> Floats:
    """Oracle less the best constant config, (students, replicates).

    The oracle knows one student, by its other replicates; the best constant config has the highest mean over the other replicates of the
    other students. So nothing is scored on a replicate that chose anything, and values of different students stay nearly independent: if
    constants were chosen on the same replicates, a null gate would call V different from zero in 15 % of cases. With few replicates the
    oracle errs, so the value may be negative: it is that of looking as closely as the gate did, and a lower bound of the value of knowing.

    Raises:
        ComparisonError: there is one student or one replicate only.
    """
    if len(gains) < 2:
        raise ComparisonError("the value of information compares students: the best config of one student is always the same")
    return chosen_elsewhere(gains, best) - chosen_elsewhere(gains, best_of_others)


def best_of_others(means: Floats) -> NDArray[np.intp]:
    """The config with the highest mean over the other students."""
    return (means.sum(axis=0) - means).argmax(axis=1)  # that mean but for a factor


def chosen_elsewhere(gains: Floats, choose: Callable[[Floats], Any]) -> Floats:
    """The gain, (students, replicates), of the config that is chosen by the means over the other replicates.

    Args:
        choose: the configs' means, (students, configs), in, and the number of each student's config out.
    """
    students, _, replicates = gains.shape
    if replicates < 2:
        raise ComparisonError("a choice is scored on another replicate than it was made on: measure every config under two seeds or more")
    means = (np.delete(gains, replicate, axis=2).mean(axis=2) for replicate in range(replicates))
    scored = [gains[range(students), choose(others), replicate] for replicate, others in enumerate(means)]
    return np.stack(scored, axis=1)


def clustered(values: Floats) -> Interval:
    """The mean of values, (students, replicates), with an interval over students.

    Replicates of a student are not independent evidence about other students, so a student counts once. With one student the interval is
    over its replicates, and says nothing of other students. A t interval: the percentile bootstrap of few units is too narrow.
    """
    students = values.mean(axis=1)
    unit = "student" if len(students) > 1 else "replicate"
    units = students if unit == "student" else values[0]
    return Interval(float(units.mean()), *over_seeds(units.tolist()), len(units), unit)


def pairs_needed(effect: float, deviation: float) -> int | None:
    """Pairs of forks that see a mean difference of ``effect`` with 80 % power at 5 %, if single pairs differ by ``deviation`` (standard
    deviation, same unit). None: more than MOST_SEEDS, or there is no effect to see."""
    if effect <= 0 or smallest_visible(deviation, MOST_SEEDS) > effect:
        return None
    few, many = 1, MOST_SEEDS  # ``few`` pairs do not see it, ``many`` do
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if smallest_visible(deviation, middle) <= effect else (middle, many)
    return many


def rank_correlation(predicted: Sequence[float], measured: Sequence[float]) -> float:
    """Spearman's rank correlation; NaN for fewer than three values or values that are all alike."""
    if len(predicted) < 3 or np.ptp(predicted) == 0 or np.ptp(measured) == 0:
        return nan
    return float(stats.spearmanr(predicted, measured).statistic)
