"""Numbers with their uncertainty and their n, and the one way in which people read them.

Pages, the command line and reports round half up, show one decimal where a rate counts MANY answers or more, and write U+2212 for minus:
it is as wide as the plus, no line breaks after it, screen readers say it, and Plotly writes it on axes. CSV and JSON keep plain numbers,
and what a model reads or writes keeps its own characters (:func:`typeset` shows it).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from math import comb, isfinite, sqrt
from typing import TYPE_CHECKING

from frozenlab.base.errors import LabError

if TYPE_CHECKING:
    import pandas as pd

MINUS = "\N{MINUS SIGN}"
MANY = 200
"""Answers from which on a decimal of a rate says something. A mean over seeds or students counts as many."""
UNKNOWN = "–"
CLEAR = 0.05
"""A paired change is called clear below this p value."""


def number(value: float, decimals: int = 2, sign: bool = False) -> str:
    """A number, rounded half up; with ``sign``, a plus before what is above zero. Zero has no sign; what is not finite is a dash.

    >>> number(0.125), number(-0.004), number(3, 0, sign=True), number(-1.005)
    ('0.13', '0.00', '+3', '−1.01')
    """
    if not isfinite(value):
        return UNKNOWN
    # Nine digits first: 100 * 0.285 is 28.499999999999996.
    rounded = Decimal(str(round(float(value), 9))).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return ("" if not rounded else MINUS if rounded < 0 else "+" if sign else "") + f"{abs(rounded):,}"


def decimals_of(n: float) -> int:
    """The decimals of a rate in percent that counts ``n`` answers; n = 0: of a share that counts none."""
    return 1 if n >= MANY else 0


def percent(rate: float, n: float = 0) -> str:
    """A rate in 0..1 of ``n`` answers.

    >>> percent(0.865, 400), percent(0.865, 40), percent(-0.12)
    ('86.5 %', '87 %', '−12 %')
    """
    return f"{number(100 * rate, decimals_of(n))} %"


def share(value: float) -> str:
    """A share or a setting in 0..1, which counts nothing: with a decimal where it has one.

    >>> share(0.4), share(0.125), share(0.3333)
    ('40 %', '12.5 %', '33.3 %')
    """
    return f"{number(100 * value, 1).removesuffix('.0')} %"


def percents(low: float, high: float, n: float = 0) -> str:
    """The bounds of a rate: ``84.1 to 88.7 %``."""
    return f"{number(100 * low, decimals_of(n))} to {percent(high, n)}"


def signed(change: float, n: float = 0) -> str:
    """A change of a rate in points: ``+3.4``."""
    return number(100 * change, decimals_of(n), sign=True)


def points(change: float, n: float = 0) -> str:
    """A change of a rate in percentage points.

    >>> points(0.034, 400), points(-0.01), points(-0.0001, 400)
    ('+3.4 points', '−1 point', '0.0 points')
    """
    return f"{(words := signed(change, n))} point{'' if words[1:] == '1' else 's'}"


def interval(low: float | None, high: float | None, n: float = 0) -> str:
    """The bounds of a change in points: ``+1.9 to +4.9``; a dash where they are not known, as where no two observations differ."""
    return UNKNOWN if low is None or high is None or not isfinite(low) or low == high else f"{signed(low, n)} to {signed(high, n)}"


def counted(count: int, noun: str) -> str:
    """``1 board``, ``3,000 boards``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def p_words(p: float) -> str:
    """``p = 0.03``, ``p < 0.001``."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def listed(words: Iterable[str], joint: str = "and") -> str:
    """``a, b and c``."""
    *others, last = words
    return f"{', '.join(others)} {joint} {last}" if others else last


def duration(seconds: float) -> str:
    """``40 s``, ``3 min``, ``2 h 10 min``."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes < 48 * 60 else f"{minutes // (24 * 60)} days"


def typeset(text: str) -> str:
    """A sentence that a model reads or wrote, with the signs of people.

    >>> typeset("85% valid on 9x9, wait ratio -0.05, size-4 boards, -3 points (+0.0 over 2-3 stages)")
    '85 % valid on 9×9, wait ratio −0.05, size-4 boards, −3 points (0.0 over 2-3 stages)'
    """
    text = re.sub(r"\b(\d+)x(?=\d+\b)", "\\1×", text)
    unsigned = re.sub(r"(?<![\w.])[+-](?=0(?:\.0+)?(?![\w.]*\d))", "", text)
    return re.sub(r"(?<=\d)%", " %", re.sub(r"(?<![\w.])-(?=\.?\d)", MINUS, unsigned))


def unbroken(text: str) -> str:
    """A text for a page, in which no line begins with a per cent sign.

    >>> unbroken("84.1 to 88.7 % of 95 %")
    '84.1 to 88.7\xa0% of 95\xa0%'
    """
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)


@dataclass(frozen=True)
class Interval:
    """A number with its 95 % bounds, and how many independent observations are behind it."""

    value: float
    low: float
    high: float
    """Both bounds are NaN where the observations show no spread."""
    n: int
    unit: str = "board"
    """What the observations are: ``board``, ``student``, ``seed``, ..."""

    @classmethod
    def of(cls, successes: float, n: int) -> Interval:
        """A rate with its Wilson interval. That of no boards is 0, with the interval 0..1."""
        low, high = wilson(successes, n)
        return cls(successes / n if n else 0.0, low, high, n)

    @property
    def clear(self) -> bool:
        """Whether its bounds leave out 0."""
        return self.low > 0 or self.high < 0

    @property
    def known(self) -> bool:
        """Whether there are bounds."""
        return isfinite(self.low) and isfinite(self.high)

    def __neg__(self) -> Interval:
        return Interval(-self.value, -self.high, -self.low, self.n, self.unit)

    @property
    def answers(self) -> int:
        """For the decimals: a unit other than a board stands for many boards."""
        return self.n if self.unit == "board" else max(self.n, MANY)

    @property
    def percent(self) -> str:
        """``86.5 %``"""
        return percent(self.value, self.answers)

    @property
    def percents(self) -> str:
        """``84.1 to 88.7 %``"""
        return percents(self.low, self.high, self.answers)

    @property
    def in_full(self) -> str:
        """``86.5 % (84.1 to 88.7 %, n = 448)``"""
        return f"{self.percent} ({self.percents}, n = {self.n:,})"

    @property
    def signed(self) -> str:
        """``+3.4``"""
        return signed(self.value, self.answers)

    @property
    def bounds(self) -> str:
        """Of a change, in points: ``+1.9 to +4.9``."""
        return interval(self.low, self.high, self.answers)

    @property
    def points(self) -> str:
        """``+3.4 points (+1.9 to +4.9)``"""
        return f"{points(self.value, self.answers)} ({self.bounds})"


class ComparisonError(LabError, ValueError):
    """Two tables cannot be compared; the message says why."""


Z95 = 1.959963984540054
"""Two-sided 95 % point of the normal distribution."""


def wilson(successes: float, n: float) -> tuple[float, float]:
    """95 % interval of a rate (Wilson 1927): bounds in 0..1, and (0, 1) where nothing was counted."""
    if n == 0:
        return 0.0, 1.0
    p, z2 = successes / n, Z95 * Z95
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return max(0.0, centre - half), min(1.0, centre + half)


def mean_of_rates(counts: Sequence[tuple[float, int]]) -> tuple[float, float, float]:
    """The mean of independent rates, each counting as much as any other, and its 95 % bounds.

    The bounds are Wilson's for the number of boards at which a single rate would vary as much as this mean does (the effective sample size
    of stratified surveys, Franco et al. 2019): those of a single rate are its Wilson interval, and equal rates are one rate of all boards.

    Args:
        counts: (successes, n) of each rate, at least one; every n is at least 1.
    """
    p = [successes / n for successes, n in counts]
    mean = sum(p) / len(p)
    variance = sum(rate * (1 - rate) / n for rate, (_, n) in zip(p, counts, strict=True)) / len(p) ** 2
    n = mean * (1 - mean) / variance if variance else sum(n for _, n in counts)
    return mean, *wilson(mean * n, n)


def rates(validation: pd.DataFrame, by: Sequence[str] = ("size",)) -> pd.DataFrame:
    """Valid and optimal rate per group of ``by`` (all rows as one if empty), with Wilson bounds and n.

    Columns: ``by``, ``n``, and ``valid``, ``valid_low``, ``valid_high``, and the same three for ``optimal``.
    """

    import pandas as pd

    groups = validation.groupby(list(by)) if by else [((), validation)]
    rows = []
    for key, group in groups:
        row = dict(zip(by, key if isinstance(key, tuple) else (key,), strict=True)) | {"n": len(group)}
        for metric in ("valid", "optimal"):
            k = int(group[metric].sum())
            low, high = wilson(k, len(group))
            row |= {metric: k / len(group) if len(group) else float("nan"), f"{metric}_low": low, f"{metric}_high": high}
        rows.append(row)
    return pd.DataFrame(rows)


def paired_change(before: pd.DataFrame, after: pd.DataFrame, metric: str = "valid") -> Interval:
    """Change of a rate on the same boards: mean difference with its 95 % bounds (normal approximation over board pairs).

    Raises:
        ComparisonError: the tables share no board.
    """
    pairs = before[["board_id", metric]].merge(after[["board_id", metric]], on="board_id", suffixes=("_before", "_after"))
    if pairs.empty:
        raise ComparisonError("the two tables share no board")
    difference = pairs[f"{metric}_after"].astype(float) - pairs[f"{metric}_before"].astype(float)
    mean, half = float(difference.mean()), Z95 * float(difference.std(ddof=0)) / sqrt(len(pairs))
    return Interval(mean, mean - half, mean + half, len(pairs))


@dataclass(frozen=True)
class BoardByBoard:
    """How two validations differ on the boards that both hold."""

    n: int
    gained: int
    """Boards with an invalid plan before and a valid one after."""
    lost: int
    before: float
    after: float
    p: float
    """Two-sided exact McNemar test (Dwass 1957 form: gained against lost is a fair coin)."""

    @property
    def sentence(self) -> str:
        """``On the same 120 boards it gained 22 and lost 9: more than chance explains (p = 0.03).``"""
        what = "more than chance explains" if self.p < CLEAR else "chance could explain that"
        return f"On the same {self.n:,} boards it gained {self.gained:,} and lost {self.lost:,}: {what} ({p_words(self.p)})."


def board_by_board(before: pd.DataFrame, after: pd.DataFrame, column: str = "valid") -> BoardByBoard:
    """Compares two validations board by board; boards that only one of them holds are left out."""
    both = before[["board_id", column]].merge(after[["board_id", column]], on="board_id", suffixes=("_before", "_after"))
    old, new = both[f"{column}_before"].astype(bool), both[f"{column}_after"].astype(bool)
    gained, lost = int((~old & new).sum()), int((old & ~new).sum())
    n = len(both)
    return BoardByBoard(n, gained, lost, float(old.mean()) if n else 0.0, float(new.mean()) if n else 0.0, sign_test(gained, lost))


def sign_test(wins: int, losses: int) -> float:
    """Two-sided p value of ``wins`` against ``losses`` under a fair coin; 1 where nothing differs."""
    n = wins + losses
    tail = sum(comb(n, k) for k in range(min(wins, losses) + 1)) / 2**n
    return min(1.0, 2 * tail)
