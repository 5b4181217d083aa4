"""Effects in words: sentences with all their numbers, and changes of rates in points."""

from __future__ import annotations

from math import isnan, nan

from frozenlab.studies.effects import Effect
from frozenlab.studies.statistics import CLEAR


def sentence(what: str, effect: Effect, measure: str = "valid", margin: float = 0.01, smaller: float = nan, alike: bool = False) -> str:
    """An effect on the final rate as a sentence, with all its numbers.

    ``Showing failures changed the final valid rate by +0.2 points (−0.3 to +0.7, n = 5 seeds): smaller than 1 point (p = 0.004).``

    Args:
        what: the change under test, as the beginning of the sentence.
        margin: the smallest effect that matters.
        smaller: p value of the equivalence test for that margin, corrected as ``effect.p_holm`` is.
        alike: both sides trained on identical configs in all seeds.
    """
    if alike:
        return f"{what}: no contrast, the two sides trained on identical configs in {_seeds(effect.n)}."
    change = f"{what} changed the final {measure} rate by {points(effect.mean)} points"
    if effect.n == 1:
        return f"{change} (n = 1 seed): one seed cannot show whether it helps."
    if effect.low == effect.high:
        return f"{change} in each of {effect.n} seeds: it made no difference."
    if isnan(effect.p):
        return f"{change} in each of {effect.n} seeds: without any spread between them, chance cannot be estimated."
    estimate = f"{change} ({points(effect.low)} to {points(effect.high)}, n = {effect.n} seeds)"
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
    return f"{100 * margin:g} point{'' if margin == 0.01 else 's'}"


def _seeds(n: int) -> str:
    return "the one seed" if n == 1 else f"all {n} seeds"


def points(change: float) -> str:
    """``+3.4``: a change of a rate in percentage points. No change is ``+0.0``, also from below."""
    return f"{round(100 * change, 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
