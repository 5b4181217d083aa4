"""What the arms of a study do to its outcomes, with the uncertainty that its few seeds leave.

A study is a grid of arms × seeds, a session each. The sessions of one seed share initial policy, held-out boards and random streams, so
arms are compared within seeds: a *contrast* is the mean over some arms less the mean over others, one number a seed. There are two ways to
be unsure of it, and neither contains the other:

- other training runs on these boards: the t interval over seeds of every :class:`Effect`;
- other boards for these training runs: :func:`board_bootstrap`.

``outcomes`` is a table of one row a session with columns ``arm`` (str), ``seed`` (int) and ``value`` (float, such as the final valid rate
in 0..1; NaN is as good as no row). ``sections`` maps each arm to the set of sections that are switched on in it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan, nan, sqrt
from typing import TypeVar

import numpy as np
import pandas as pd
from scipy import stats

from core import seeds

Key = TypeVar("Key", str, tuple[str, str])

CLEAR = 0.05
"""An effect is called clear below this p value; its interval, of 1 - CLEAR, then leaves out 0."""
MOST_SEEDS = 1000
"""Beyond so many more, how many seeds would tell is a guess of no use."""


@dataclass(frozen=True)
class Effect:
    """A contrast: its mean over seeds, its 95 % t interval (both in units of the outcome) and its two-sided p values."""

    mean: float
    low: float
    high: float
    """``low`` and ``high`` are NaN where the seeds show no spread to judge by: one seed, or several that all tell the same change."""
    p: float
    """That it is 0 (paired t test); NaN where the bounds are."""
    n: int
    """Seeds."""
    p_holm: float
    """``p`` after Holm's correction for the effects it was reckoned with; of one alone it is ``p``."""


def contrast(outcomes: pd.DataFrame, plus: Collection[str], minus: Collection[str]) -> Effect:
    """The mean over the arms of ``plus`` less the mean over those of ``minus``, paired by seed.

    The interval is Student's (1908) over the seeds' differences, with n - 1 degrees of freedom: that of a paired t test. Seeds in which any
    of the arms is missing are left out. Where all seeds tell the same change, it is none (interval 0 to 0, p = 1), or their spread is finer
    than the boards can show; then no interval follows from it, as the t test would call any such change certain.

    Raises:
        ValueError: a side is empty, an arm has no session, no seed has them all, or a session is there twice.
    """
    table = _complete(outcomes[outcomes["value"].notna()], plus, minus).pivot(index="seed", columns="arm", values="value")
    # Outcomes are counts over boards; what differs by less than 1e-12 differs by the rounding of floats.
    differences = (table[list(plus)].to_numpy().mean(axis=1) - table[list(minus)].to_numpy().mean(axis=1)).round(12)
    n, mean = len(differences), float(differences.mean())
    if not differences.any() and n > 1:
        return Effect(0.0, 0.0, 0.0, 1.0, n, 1.0)
    if np.ptp(differences) == 0:
        return Effect(mean, nan, nan, nan, n, nan)
    test = stats.ttest_1samp(differences, 0.0)
    low, high = test.confidence_interval(1 - CLEAR)
    return Effect(mean, float(low), float(high), float(test.pvalue), n, float(test.pvalue))


def main_effects(outcomes: pd.DataFrame, sections: Mapping[str, frozenset[str]]) -> dict[str, Effect]:
    """What each section does on average over the others: all arms with it less all arms without it, in a full factorial.

    Sections that are on in every arm are not part of the factorial. With ±1 coding an effect is twice the coefficient of its column (Box,
    Hunter & Hunter 2005, chapter 5). p_holm corrects for all the sections.

    Raises:
        ValueError: as :func:`contrast`; or an arm of the full factorial is missing or there twice, or no section varies.
    """
    effects = {}
    for section in _factors(sections):
        on = [arm for arm, shown in sections.items() if section in shown]
        effects[section] = contrast(outcomes, on, [arm for arm in sections if arm not in on])
    return _corrected(effects)


def interactions(outcomes: pd.DataFrame, sections: Mapping[str, frozenset[str]]) -> dict[tuple[str, str], Effect]:
    """How much two sections do together beyond what each does by itself, for each pair (in alphabetical order), in a full factorial.

    The convention is Box, Hunter & Hunter's (2005, chapter 5): the effect of A when B is on less the effect of A when B is off, divided by
    2 (the other way round it is the same). So it is the mean over the arms in which both are on or both off less that over the other arms,
    has the scale of a main effect, and is twice the coefficient of the product of two ±1 columns. p_holm corrects for all the pairs.

    Raises:
        ValueError: as :func:`main_effects`.
    """
    effects = {}
    for a, b in combinations(_factors(sections), 2):
        alike = [arm for arm, shown in sections.items() if (a in shown) == (b in shown)]
        effects[a, b] = contrast(outcomes, alike, [arm for arm in sections if arm not in alike])
    return _corrected(effects)


def leave_one_out(outcomes: pd.DataFrame, sections: Mapping[str, frozenset[str]]) -> dict[str, Effect]:
    """What each section adds to all the others: the arm that shows every section less the arm that lacks this one alone.

    Sections whose arm the study does not have are left out. p_holm corrects for all those that are told.

    Raises:
        ValueError: as :func:`contrast`; or no arm shows every section, or two arms show the same.
    """
    arm_of, everything = _arm_of(sections), frozenset[str]().union(*sections.values())
    if everything not in arm_of:
        raise ValueError(f"no arm shows {_listed(everything)}")
    lacking = {section: arm_of.get(everything - {section}) for section in sorted(everything)}
    return _corrected({section: contrast(outcomes, [arm_of[everything]], [arm]) for section, arm in lacking.items() if arm is not None})


def against(outcomes: pd.DataFrame, reference: str) -> dict[str, Effect]:
    """Every other arm less the reference, in the table's order. p_holm corrects for all of them.

    Raises:
        ValueError: as :func:`contrast`.
    """
    return _corrected({arm: contrast(outcomes, [arm], [reference]) for arm in outcomes["arm"].unique() if arm != reference})


def over_seeds(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % t interval of a mean over seeds; NaN where they show no spread to judge by."""
    if len(values) < 2 or np.ptp(values) < 1e-12:
        return nan, nan
    low, high = stats.ttest_1samp(values, 0.0).confidence_interval(1 - CLEAR)
    return float(low), float(high)


def holm(ps: Sequence[float]) -> list[float]:
    """p values corrected for their number so that any false alarm among them has at most the chance of one (Holm 1979), in the same order.

    NaN stays NaN and does not count, as in R's ``p.adjust``.
    """
    order = sorted((i for i, p in enumerate(ps) if not isnan(p)), key=lambda i: ps[i])
    corrected, floor = [nan] * len(ps), 0.0
    for rank, i in enumerate(order):
        floor = max(floor, min(1.0, (len(order) - rank) * ps[i]))
        corrected[i] = floor
    return corrected


def more_seeds(effect: Effect, power: float = 0.8) -> int | None:
    """How many seeds more would make the effect clear with this chance, if its mean and spread stay as they are.

    The least number for which the paired t test at 5 % has this power, by the noncentral t distribution (Cohen 1988, section 2.3). Mean and
    spread of few seeds are themselves a rough guess, so this is one too.

    Returns:
        Seeds beyond those of the effect; 0 if it is clear already; None if it is 0 or has no spread to judge by.
    """
    if effect.mean == 0 or isnan(effect.p):
        return None
    if effect.p < CLEAR:
        return 0
    standard_error = (effect.high - effect.low) / 2 / stats.t.isf(CLEAR / 2, effect.n - 1)
    size = abs(effect.mean) / (standard_error * sqrt(effect.n))
    # The end of the range is far beyond any study, and keeps the distribution's arguments where SciPy is exact.
    enough = range(effect.n + 1, 10**9)
    return enough[bisect_left(enough, power, hi=len(enough) - 1, key=lambda n: _power(size, n))] - effect.n


def _power(size: float, n: int) -> float:
    """The chance that a paired t test of n seeds is clear where the mean difference is ``size`` standard deviations."""
    needed, shift = stats.t.isf(CLEAR / 2, n - 1), size * sqrt(n)
    return float(stats.nct.sf(needed, n - 1, shift) + stats.nct.cdf(-needed, n - 1, shift))


def board_bootstrap(
    boards: pd.DataFrame, plus: Collection[str], minus: Collection[str], *, draws: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """The 95 % bounds of :func:`contrast` over held-out boards, given these training runs (percentile bootstrap, Efron 1979).

    A session's value is the mean over cells of the mean over the cell's boards. Boards are drawn anew within cells, the same ones for every
    arm and seed, so what makes a board hard for all arms cancels.

    Args:
        boards: a row a session and board, with columns ``arm``, ``seed``, ``board_id``, ``cell`` and ``valid``. As in :func:`contrast`,
            seeds in which any of the arms is missing are left out.
        seed: of the draws.

    Raises:
        ValueError: as :func:`contrast`, or the sessions do not have the same boards.
    """
    rows = _complete(boards, plus, minus)
    answers = rows.assign(valid=rows["valid"].astype(float)).pivot(index=["cell", "board_id"], columns=["arm", "seed"], values="valid")
    if answers.isna().to_numpy().any():
        raise ValueError(f"not every session has the board {answers.index[answers.isna().any(axis=1)][0][1]}")
    # The contrast is linear in the answers: each board has a share of it over all sessions, and only these shares need be drawn.
    shares = answers[list(plus)].mean(axis=1) - answers[list(minus)].mean(axis=1)
    rng = seeds.rng(seed, "study/board-bootstrap")
    # By hand, as scipy.stats.bootstrap refuses cells of one board.
    cells = [rng.choice(cell.to_numpy(), (draws, len(cell))).mean(axis=1) for _, cell in shares.groupby(level="cell")]
    low, high = np.quantile(np.mean(cells, axis=0), [CLEAR / 2, 1 - CLEAR / 2])
    return float(low), float(high)


# --- in words --------------------------------------------------------------------------------------------------------


def sentence(what: str, effect: Effect, measure: str = "valid") -> str:
    """An effect on the final rate in plain words, with all its numbers; ``what`` is what was done.

    ``Showing failures changed the final valid rate by +1.8 points (−2.2 to +5.8, n = 3 seeds): these seeds cannot tell whether it helps;
    about 6 more probably would, if it stays like this.``
    """
    change = f"{what} changed the final {measure} rate by {points(effect.mean)} points"
    if effect.n == 1:
        return f"{change} (n = 1 seed): one seed cannot tell whether it helps."
    if effect.low == effect.high:
        return f"{change} in each of {effect.n} seeds: it made no difference."
    if isnan(effect.p):
        return f"{change} in each of {effect.n} seeds: without any spread between them they cannot tell what chance would do."
    told = f"{change} ({points(effect.low)} to {points(effect.high)}, n = {effect.n} seeds)"
    if effect.p >= CLEAR:
        more = more_seeds(effect)
        if more is None:
            return f"{told}: chance could explain that."
        needed = f"about {more}" if more <= MOST_SEEDS else f"more than {MOST_SEEDS}"
        return f"{told}: these seeds cannot tell whether it helps; {needed} more probably would, if it stays like this."
    corrected = f", {_p(effect.p_holm)} after Holm" if effect.p_holm != effect.p else ""
    if effect.p_holm >= CLEAR:
        return f"{told}: as one of several comparisons chance could explain that ({_p(effect.p)}{corrected})."
    return f"{told}: more than chance explains ({_p(effect.p)}{corrected})."


def points(change: float) -> str:
    """``+3.4``: a change of a rate in percentage points. Nothing is ``+0.0``, on whichever side."""
    return f"{round(100 * change, 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


# --- arms ------------------------------------------------------------------------------------------------------------


def _complete(rows: pd.DataFrame, plus: Collection[str], minus: Collection[str]) -> pd.DataFrame:
    """The rows of these arms in the seeds that have all of them. Raises ValueError as :func:`contrast` says."""
    if not plus or not minus:
        raise ValueError("a contrast needs an arm on either side")
    arms = {*plus, *minus}
    if unknown := arms - set(rows["arm"]):
        raise ValueError(f"no session of the arm {_listed(unknown)}")
    rows = rows[rows["arm"].isin(arms)]
    complete = rows[rows.groupby("seed")["arm"].transform("nunique") == len(arms)]
    if complete.empty:
        raise ValueError(f"no seed has all the arms {_listed(arms)}")
    return complete


def _factors(sections: Mapping[str, frozenset[str]]) -> list[str]:
    """The sections that are on in some arms and off in others. Raises ValueError unless the arms are all their combinations."""
    shown = frozenset[str]().union(*sections.values())
    always = shown.intersection(*sections.values())
    factors, arm_of = sorted(shown - always), _arm_of(sections)
    if not factors:
        raise ValueError("no section is on in one arm and off in another")
    for k in range(len(factors) + 1):
        for chosen in combinations(factors, k):
            if always.union(chosen) not in arm_of:
                raise ValueError(f"the full factorial lacks the arm that shows {_listed(always.union(chosen))}")
    return factors


def _arm_of(sections: Mapping[str, frozenset[str]]) -> dict[frozenset[str], str]:
    """Which arm shows these sections. Raises ValueError if two arms show the same."""
    arm_of: dict[frozenset[str], str] = {}
    for arm, shown in sections.items():
        if arm_of.setdefault(shown, arm) != arm:
            raise ValueError(f"the arms {arm_of[shown]} and {arm} both show {_listed(shown)}")
    return arm_of


def _corrected(effects: dict[Key, Effect]) -> dict[Key, Effect]:
    """The same effects with p_holm for their number."""
    ps = holm([effect.p for effect in effects.values()])
    return {key: replace(effect, p_holm=p) for (key, effect), p in zip(effects.items(), ps, strict=True)}


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
