"""Intervals against published values."""

from __future__ import annotations

import pandas as pd
import pytest

from core.sessions.statistics import paired_change, rates, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Newcombe 1998, table I (Wilson score without continuity correction)
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_as_published(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_nothing_counted_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)


def results(*valid: bool) -> pd.DataFrame:
    return pd.DataFrame({"board_id": [f"b{i}" for i in range(len(valid))], "size": 4, "valid": valid, "optimal": False})


def test_rates_carry_n() -> None:
    row = rates(results(True, True, False, False)).iloc[0]
    assert (row["size"], row["n"], row["valid"], row["optimal"]) == (4, 4, 0.5, 0.0)


def test_a_change_is_paired_by_board() -> None:
    before, after = results(True, False, False, True), results(True, True, True, True).iloc[::-1]
    mean, low, high, n = paired_change(before, after)
    assert (mean, n) == (0.5, 4)
    assert low < 0.5 < high


def test_tables_without_common_boards_are_refused() -> None:
    with pytest.raises(ValueError, match="share no board"):
        paired_change(results(True), results(True).assign(board_id="other"))
