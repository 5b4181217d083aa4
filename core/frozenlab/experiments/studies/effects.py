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
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from contextlib import suppress
from math import isnan, nan, sqrt
from typing import TypeVar

import numpy as np
import pandas as pd
from scipy import stats

from frozenlab.base import seeds
from frozenlab.base.numbers import MANY, ComparisonError, counted, interval, p_words, points
from frozenlab.experiments.studies.statistics import CLEAR, Effect, OfStudent, clustered, holm, mean_of, over_seeds

Key = TypeVar("Key", bound=Hashable)
Sides = tuple[Collection[str], Collection[str]]
"""The arms on either side of a comparison."""


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
        return mean_of(differences)
    of_students = pd.Series(differences).groupby(table.index.get_level_values("student")).agg(list)
    own = {student: of_students[student] for student in outcomes["student"].unique() if student in of_students}
    students = tuple(OfStudent(student=student, **dict(mean_of(values))) for student, values in own.items())
    return clustered(list(own.values())).model_copy(update={"students": students})


def contrast_so_far(outcomes: pd.DataFrame, plus: Collection[str], minus: Collection[str]) -> Effect | None:
    """The :func:`contrast`; None while no seed has all its arms."""
    with suppress(ComparisonError):
        return contrast(outcomes, plus, minus)
    return None


def units(rows: pd.DataFrame) -> list[str]:
    """The columns that name a unit of statistics: a seed, or a student with a seed."""
    return ["student", "seed"] if "student" in rows else ["seed"]


def compare(outcomes: pd.DataFrame, sides: Mapping[Key, Sides]) -> dict[Key, Effect]:
    """The :func:`contrast` of each pair of sides; p_holm corrects for all of them."""
    return _corrected({key: contrast(outcomes, plus, minus) for key, (plus, minus) in sides.items()})


def mean_over(outcomes: pd.DataFrame) -> Effect:
    """The mean of rates, with its interval within 0..1, over students if there are several, else over seeds."""
    if "student" in outcomes:
        found = clustered([own["value"].round(12).tolist() for _, own in outcomes.groupby("student", sort=False)])
    else:
        values = outcomes["value"].tolist()
        low, high = over_seeds(values)
        found = Effect(mean=float(np.mean(values)), low=low, high=high, p=nan, p_holm=nan, n=len(values))
    bounds = {bound: float(np.clip(getattr(found, bound), 0.0, 1.0)) for bound in ("low", "high")}
    return found.model_copy(update=bounds)


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
    unknown = dict.fromkeys(("low", "high", "p", "p_holm"), nan)
    return _corrected({key: effect.model_copy(update=unknown) if key in alike else effect for key, effect in effects.items()})


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


def _corrected(effects: dict[Key, Effect]) -> dict[Key, Effect]:
    """The same effects, with p_holm for their number."""
    ps = holm([effect.p for effect in effects.values()])
    return {key: effect.model_copy(update={"p_holm": p}) for (key, effect), p in zip(effects.items(), ps, strict=True)}


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"


# --- in words --------------------------------------------------------------------------------------------------------


LITTLE = 0.005
"""Configs of which a knob differs by less on average are almost the same."""


def tried(dose: float | None) -> str:
    """A sentence that says so if the two sides trained on almost the same configs; ``dose`` is how far apart they were."""
    if dose is None or not 0 < dose < LITTLE:
        return ""
    return f" Almost nothing was tried: the configs of the two sides lie {max(100 * dose, 0.1):.1f} points a knob apart."


def sentence(what: str, effect: Effect, measure: str = "valid", margin: float = 0.01, smaller: float = nan, alike: bool = False) -> str:
    """An effect on the final rate as a sentence, with all its numbers.

    ``Showing failures changed the final valid rate by +0.2 points (−0.3 to +0.7, n = 5 seeds): smaller than 1 point (p = 0.004).``

    Args:
        what: the change under test, as the beginning of the sentence.
        margin: the smallest effect that matters.
        smaller: p value of the equivalence test for that margin, corrected as ``effect.p_holm`` is.
        alike: both sides trained on identical configs in all seeds.
    """
    unit = "student" if len(effect.students) > 1 else "seed"
    if alike:
        every = f"the one {unit}" if effect.n == 1 else f"all {effect.n} {unit}s"
        return f"{what}: no contrast, the two sides trained on identical configs in {every}."
    change = f"{what} changed the final {measure} rate by {points(effect.mean, MANY)}"
    if effect.n == 1:
        return f"{change} (n = 1 seed): one seed cannot show whether it helps."
    if isnan(effect.p) or effect.low == effect.high:  # two ties are no more than two changes that happen to be the same
        return f"{change} in each of {effect.n} {unit}s: without any spread between them, chance cannot be estimated."
    n = units_in_words(effect.n, [own.n for own in effect.students])
    estimate = f"{change} ({interval(effect.low, effect.high, MANY)}, n = {n})"
    clear, small = effect.p_holm < CLEAR, smaller < CLEAR
    corrected = f", {p_words(effect.p_holm)} after Holm" if effect.p_holm != effect.p else ""
    if clear:
        but = f", yet smaller than {margin_words(margin)} ({p_words(smaller)})" if small else ""
        return f"{estimate}: more than chance explains ({p_words(effect.p)}{corrected}){but}."
    if small:
        return f"{estimate}: smaller than {margin_words(margin)} ({p_words(smaller)})."
    alone = f" as one of several comparisons ({p_words(effect.p)}{corrected})" if effect.p < CLEAR else ""
    return f"{estimate}: undecided, neither clear of chance{alone} nor shown to be smaller than {margin_words(margin)}."


def margin_words(margin: float) -> str:
    """``1 point``, ``2.5 points``."""
    return points(margin, 0 if (100 * margin).is_integer() else MANY).removeprefix("+")


def units_in_words(n: int, seeds_of_students: Sequence[int] = ()) -> str:
    """The units behind an effect; without students they are seeds.

    >>> units_in_words(5), units_in_words(4, [6, 6, 6, 6]), units_in_words(2, [6, 5]), units_in_words(6, [6])
    ('5 seeds', '4 students with 6 seeds each', '2 students with 11 seeds in all', '6 seeds of one student')
    """
    seeds = counted(n, "seed")
    if not seeds_of_students:
        return seeds
    if len(seeds_of_students) == 1:
        return f"{seeds} of one student"
    few, many = min(seeds_of_students), max(seeds_of_students)
    each = f"{counted(few, 'seed')} each" if few == many else f"{sum(seeds_of_students)} seeds in all"
    return f"{n} students with {each}"
