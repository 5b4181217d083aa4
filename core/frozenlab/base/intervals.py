"""Rates with their uncertainty and their n."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

from frozenlab.base.errors import LabError

if TYPE_CHECKING:
    import pandas as pd


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


def paired_change(before: pd.DataFrame, after: pd.DataFrame, metric: str = "valid") -> tuple[float, float, float, int]:
    """Change of a rate on the same boards: mean difference, its 95 % bounds (normal approximation over board pairs), and n.

    Raises:
        ComparisonError: the tables share no board.
    """
    pairs = before[["board_id", metric]].merge(after[["board_id", metric]], on="board_id", suffixes=("_before", "_after"))
    if pairs.empty:
        raise ComparisonError("the two tables share no board")
    difference = pairs[f"{metric}_after"].astype(float) - pairs[f"{metric}_before"].astype(float)
    mean, half = float(difference.mean()), Z95 * float(difference.std(ddof=0)) / sqrt(len(pairs))
    return mean, mean - half, mean + half, len(pairs)
