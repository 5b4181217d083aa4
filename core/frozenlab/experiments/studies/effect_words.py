"""Effects in words: sentences with all their numbers, and changes of rates in points."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan

from frozenlab.base.numbers import MANY, counted, interval, points
from frozenlab.experiments.studies.effects import Effect
from frozenlab.experiments.studies.statistics import CLEAR


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
        return f"{what}: no contrast, the two sides trained on identical configs in {_every(effect.n, unit)}."
    change = f"{what} changed the final {measure} rate by {points(effect.mean, MANY)}"
    if effect.n == 1:
        return f"{change} (n = 1 seed): one seed cannot show whether it helps."
    if effect.low == effect.high:
        return f"{change} in each of {effect.n} {unit}s: it made no difference."
    if isnan(effect.p):
        return f"{change} in each of {effect.n} {unit}s: without any spread between them, chance cannot be estimated."
    n = units_in_words(effect.n, [own.n for own in effect.students])
    estimate = f"{change} ({interval(effect.low, effect.high, MANY)}, n = {n})"
    clear, small = effect.p_holm < CLEAR, smaller < CLEAR
    corrected = f", {_p(effect.p_holm)} after Holm" if effect.p_holm != effect.p else ""
    if clear:
        but = f", yet smaller than {margin_words(margin)} ({_p(smaller)})" if small else ""
        return f"{estimate}: more than chance explains ({_p(effect.p)}{corrected}){but}."
    if small:
        return f"{estimate}: smaller than {margin_words(margin)} ({_p(smaller)})."
    alone = f" as one of several comparisons ({_p(effect.p)}{corrected})" if effect.p < CLEAR else ""
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


def _every(n: int, unit: str) -> str:
    return f"the one {unit}" if n == 1 else f"all {n} {unit}s"


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
