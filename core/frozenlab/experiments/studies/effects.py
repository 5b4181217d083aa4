"""The effects of a study's arms on its outcomes, with the uncertainty that a few seeds leave.

A study is a grid of arms × seeds, a session each. The sessions of one seed share initial policy, held-out boards and random streams, so
arms are compared within seeds: a *contrast* is the mean over some arms minus the mean over others, one number per seed. If each seed has
its own boards, the t interval over seeds of every :class:`Effect` covers other training runs on other boards. If all seeds have the
same boards, as in earlier studies, there are two sources of uncertainty, and neither contains the other:

- other training runs on these boards: the t interval over seeds;
- other boards for these training runs: :func:`board_bootstrap`.

``outcomes`` is a table with one row per session and columns ``arm`` (str), ``seed`` (int) and ``value`` (float, such as the final valid
rate in 0..1; NaN counts as no row). In a study of several students it also has the column ``student`` (str): then a unit is a student with
a seed, arms are compared within units, and intervals are over students (:func:`frozenlab.experiments.studies.statistics.clustered`).
``sections`` maps each arm to the set of sections that are switched on in it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan, nan, sqrt
from typing import TypeVar

import numpy as np
import pandas as pd
from scipy import stats

from frozenlab.base import seeds
from frozenlab.base.numbers import ComparisonError
from frozenlab.experiments.studies.statistics import CLEAR, Mean, clustered, holm, mean_of

Key = TypeVar("Key", str, tuple[str, str])


@dataclass(frozen=True)
class StudentMean:
    """A contrast for one student: its mean over seeds with its 95 % t interval; NaN bounds as in :class:`Effect`."""

    student: str
    mean: float
    low: float
    high: float
    n: int
    """Number of seeds."""


@dataclass(frozen=True)
class Effect:
    """A contrast: its mean over seeds, its 95 % t interval (both in units of the outcome) and its two-sided p values. With several
    students the interval is over students."""

    mean: float
    low: float
    high: float
    """``low`` and ``high`` are NaN if the seeds show no spread: one seed, or several with the same change."""
    p: float
    """p value of the paired t test against 0; NaN where the bounds are."""
    n: int
    """Number of seeds; with several students, number of students."""
    p_holm: float
    """``p`` after Holm's correction for all effects computed together; ``p`` itself for a single effect."""
    students: tuple[StudentMean, ...] = ()
    """Each student's own mean; empty in a study without students."""


def contrast(outcomes: pd.DataFrame, plus: Collection[str], minus: Collection[str]) -> Effect:
    """The mean over the arms of ``plus`` minus the mean over those of ``minus``, paired by seed.

    The interval is that of a paired t test (Student 1908) over the seeds' differences, with n - 1 degrees of freedom. Units that lack one
    of the arms are left out. If all seeds show the same change, either it is 0 (interval 0 to 0, p = 1), or the spread is finer than the
    boards can show. Then there is no interval, because the t test would call any such change certain. With several students, the values
    under test are the students' mean differences.

    Raises:
        ComparisonError: a side is empty, an arm has no session, no seed has them all, or a session occurs twice.
    """
    table = _complete(outcomes[outcomes["value"].notna()], plus, minus).pivot(index=units(outcomes), columns="arm", values="value")
    # Outcomes are counts over boards, so differences below 1e-12 come from the rounding of floats.
    differences = (table[list(plus)].to_numpy().mean(axis=1) - table[list(minus)].to_numpy().mean(axis=1)).round(12)
    if "student" not in outcomes:
        return _effect(mean_of(differences))
    own: dict[str, list[float]] = {}
    for student, difference in zip(table.index.get_level_values("student"), differences, strict=True):
        own.setdefault(student, []).append(float(difference))
    order = [student for student in outcomes["student"].unique() if student in own]
    means = {student: mean_of(own[student]) for student in order}
    students = tuple(StudentMean(student, one.mean, one.low, one.high, one.n) for student, one in means.items())
    return _effect(clustered([own[student] for student in order]), students)


def units(rows: pd.DataFrame) -> list[str]:
    """The columns that name a unit of statistics: a seed, or a student with a seed."""
    return ["student", "seed"] if "student" in rows else ["seed"]


def _effect(found: Mean, students: tuple[StudentMean, ...] = ()) -> Effect:
    return Effect(found.mean, found.low, found.high, found.p, found.n, found.p, students)


def main_effects(outcomes: pd.DataFrame, sections: Mapping[str, frozenset[str]]) -> dict[str, Effect]:
    """The effect of each section, averaged over the others: all arms with it minus all arms without it, in a full factorial.

    Sections that are on in every arm are not part of the factorial. With ±1 coding an effect is twice the coefficient of its column (Box,
    Hunter & Hunter 2005, chapter 5). p_holm corrects for all the sections.

    Raises:
        ComparisonError: as :func:`contrast`; or an arm of the full factorial is missing or occurs twice, or no section varies.
    """
    effects = {}
    for section in _factors(sections):
        on = [arm for arm, shown in sections.items() if section in shown]
        effects[section] = contrast(outcomes, on, [arm for arm in sections if arm not in on])
    return _corrected(effects)


def interactions(outcomes: pd.DataFrame, sections: Mapping[str, frozenset[str]]) -> dict[tuple[str, str], Effect]:
    """The interaction of each pair of sections (in alphabetical order), in a full factorial.

    The convention is Box, Hunter & Hunter's (2005, chapter 5): the effect of A when B is on minus the effect of A when B is off, divided by
    2 (the other way round it is the same). So it is the mean over the arms in which both are on or both off minus the mean over the other
    arms, has the scale of a main effect, and is twice the coefficient of the product of two ±1 columns. p_holm corrects for all the pairs.

    Raises:
        ComparisonError: as :func:`main_effects`.
    """
    effects = {}
    for a, b in combinations(_factors(sections), 2):
        alike = [arm for arm, shown in sections.items() if (a in shown) == (b in shown)]
        effects[a, b] = contrast(outcomes, alike, [arm for arm in sections if arm not in alike])
    return _corrected(effects)


def leave_one_out(outcomes: pd.DataFrame, sections: Mapping[str, frozenset[str]]) -> dict[str, Effect]:
    """The effect of each section on top of all others: the arm that shows every section minus the arm that lacks only this one.

    Sections without such an arm are left out. p_holm corrects for all reported sections.

    Raises:
        ComparisonError: as :func:`contrast`; or no arm shows every section, or two arms show the same.
    """
    arm_of, everything = _arm_of(sections), frozenset[str]().union(*sections.values())
    if everything not in arm_of:
        raise ComparisonError(f"no arm shows {_listed(everything)}")
    lacking = {section: arm_of.get(everything - {section}) for section in sorted(everything)}
    return _corrected({section: contrast(outcomes, [arm_of[everything]], [arm]) for section, arm in lacking.items() if arm is not None})


def against(outcomes: pd.DataFrame, reference: str) -> dict[str, Effect]:
    """Every other arm minus the reference arm, in the table's order. p_holm corrects for all of them.

    Raises:
        ComparisonError: as :func:`contrast`.
    """
    return _corrected({arm: contrast(outcomes, [arm], [reference]) for arm in outcomes["arm"].unique() if arm != reference})


def deviation(effect: Effect) -> float:
    """The standard deviation over seeds behind its interval."""
    return (effect.high - effect.low) / 2 / float(stats.t.isf(CLEAR / 2, effect.n - 1)) * sqrt(effect.n)


def smaller_than(effect: Effect, margin: float) -> float:
    """p value of the equivalence test by two one-sided t tests (Schuirmann 1987): below CLEAR, the effect is shown to lie within
    ±``margin``. NaN if the seeds show no spread."""
    if isnan(effect.p) or effect.low == effect.high:
        return nan
    error = deviation(effect) / sqrt(effect.n)
    return float(max(stats.t.sf((effect.mean + bound) / error * sign, effect.n - 1) for bound, sign in ((margin, 1), (-margin, -1))))


def without_contrast(effects: dict[Key, Effect], alike: Collection[Key]) -> dict[Key, Effect]:
    """The same effects, in which the effects of ``alike`` are no comparisons because both sides trained on identical configs: they get no
    interval and no p value, and do not count in the correction of the others."""
    return _corrected(
        {key: replace(effect, low=nan, high=nan, p=nan, p_holm=nan) if key in alike else effect for key, effect in effects.items()}
    )


def board_bootstrap(
    boards: pd.DataFrame, plus: Collection[str], minus: Collection[str], *, draws: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """The 95 % bounds of :func:`contrast` over held-out boards, given these training runs (percentile bootstrap, Efron 1979).

    A session's value is the mean over cells of the mean over the cell's boards. Boards are resampled within cells, the same for every arm
    and seed, so the difficulty that a board has for all arms cancels.

    Args:
        boards: one row per session and board, with columns ``arm``, ``seed``, ``board_id``, ``cell`` and ``valid``. As in :func:`contrast`,
            seeds in which any of the arms is missing are left out.
        seed: of the draws.

    Raises:
        ComparisonError: as :func:`contrast`, or the sessions do not have the same boards.
    """
    rows = _complete(boards, plus, minus)
    answers = rows.assign(valid=rows["valid"].astype(float)).pivot(
        index=["cell", "board_id"], columns=["arm", *units(rows)], values="valid"
    )
    if answers.isna().to_numpy().any():
        raise ComparisonError(f"not every session has the board {answers.index[answers.isna().any(axis=1)][0][1]}")
    # The contrast is linear in the answers: each board contributes a share over all sessions, and only these shares are resampled.
    shares = answers[list(plus)].mean(axis=1) - answers[list(minus)].mean(axis=1)
    rng = seeds.rng(seed, "study/board-bootstrap")
    # By hand, because scipy.stats.bootstrap refuses cells of one board.
    cells = [rng.choice(cell.to_numpy(), (draws, len(cell))).mean(axis=1) for _, cell in shares.groupby(level="cell")]
    low, high = np.quantile(np.mean(cells, axis=0), [CLEAR / 2, 1 - CLEAR / 2])
    return float(low), float(high)


# --- arms ------------------------------------------------------------------------------------------------------------


def _complete(rows: pd.DataFrame, plus: Collection[str], minus: Collection[str]) -> pd.DataFrame:
    """The rows of these arms, for the units that have all of them. Raises ComparisonError as :func:`contrast` says."""
    if not plus or not minus:
        raise ComparisonError("a contrast needs an arm on either side")
    arms = {*plus, *minus}
    if unknown := arms - set(rows["arm"]):
        raise ComparisonError(f"no session of the arm {_listed(unknown)}")
    rows = rows[rows["arm"].isin(arms)]
    complete = rows[rows.groupby(units(rows))["arm"].transform("nunique") == len(arms)]
    if complete.empty:
        raise ComparisonError(f"no seed has all the arms {_listed(arms)}")
    return complete


def _factors(sections: Mapping[str, frozenset[str]]) -> list[str]:
    """The sections that are on in some arms and off in others. Raises ComparisonError unless the arms are all their combinations."""
    shown = frozenset[str]().union(*sections.values())
    always = shown.intersection(*sections.values())
    factors, arm_of = sorted(shown - always), _arm_of(sections)
    if not factors:
        raise ComparisonError("no section is on in one arm and off in another")
    for k in range(len(factors) + 1):
        for chosen in combinations(factors, k):
            if always.union(chosen) not in arm_of:
                raise ComparisonError(f"the full factorial lacks the arm that shows {_listed(always.union(chosen))}")
    return factors


def _arm_of(sections: Mapping[str, frozenset[str]]) -> dict[frozenset[str], str]:
    """Arms by the sections that they show. Raises ComparisonError if two arms show the same."""
    arm_of: dict[frozenset[str], str] = {}
    for arm, shown in sections.items():
        if arm_of.setdefault(shown, arm) != arm:
            raise ComparisonError(f"the arms {arm_of[shown]} and {arm} both show {_listed(shown)}")
    return arm_of


def _corrected(effects: dict[Key, Effect]) -> dict[Key, Effect]:
    """The same effects, with p_holm for their number."""
    ps = holm([effect.p for effect in effects.values()])
    return {key: replace(effect, p_holm=p) for (key, effect), p in zip(effects.items(), ps, strict=True)}


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
