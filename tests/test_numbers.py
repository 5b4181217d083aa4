"""Intervals against published values, and numbers as people read them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from frozenlab.base.numbers import MINUS, UNKNOWN, Interval, interval, mean_of_rates, number, paired_change, percents, rates, signed, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    # Newcombe 1998, table I (Wilson score without continuity correction)
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_as_published(successes: int, n: int, low: float, high: float) -> None:
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_the_mean_of_one_rate_or_of_equal_ones_is_that_rate() -> None:
    assert mean_of_rates([(15, 148)]) == pytest.approx((15 / 148, *wilson(15, 148)))
    assert mean_of_rates([(3, 20)] * 4) == pytest.approx((12 / 80, *wilson(12, 80)))
    assert mean_of_rates([(0, 150)] * 6) == (0.0, *wilson(0, 900))


@pytest.mark.parametrize("n", [10, 150])
def test_a_mean_of_rates_counts_each_rate_alike_and_covers_what_it_should(n: int) -> None:
    """Against the truth: drawn from known rates, some 95 % of the intervals hold their mean, and misses lie on both sides."""
    assert mean_of_rates([(10, 10), (0, 40)])[0] == 0.5
    rng, of_cells = np.random.default_rng(0), np.array([0.7, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02])
    bounds = np.array([mean_of_rates([(int(k), n) for k in rng.binomial(n, of_cells)])[1:] for _ in range(2000)])
    below, above = (bounds[:, 1] < of_cells.mean()).mean(), (bounds[:, 0] > of_cells.mean()).mean()
    assert 0.01 < below < 0.045 and 0.01 < above < 0.045


def results(*valid: bool) -> pd.DataFrame:
    return pd.DataFrame({"board_id": [f"b{i}" for i in range(len(valid))], "size": 4, "valid": valid, "optimal": False})


def test_rates_carry_n() -> None:
    row = rates(results(True, True, False, False)).iloc[0]
    assert (row["size"], row["n"], row["valid"], row["optimal"]) == (4, 4, 0.5, 0.0)


def test_a_change_is_paired_by_board() -> None:
    before, after = results(True, False, False, True), results(True, True, True, True).iloc[::-1]
    change = paired_change(before, after)
    assert (change.value, change.n) == (0.5, 4)
    assert change.low < 0.5 < change.high


def test_tables_without_common_boards_are_refused() -> None:
    with pytest.raises(ValueError, match="share no board"):
        paired_change(results(True), results(True).assign(board_id="other"))


def test_halves_round_up_whatever_floats_make_of_them() -> None:
    assert [number(100 * rate, 0) for rate in (0.285, 0.865, 0.125, 1.005)] == ["29", "87", "13", "101"]
    assert [number(value, 1) for value in (0.25, 0.35, -0.25)] == ["0.3", "0.4", f"{MINUS}0.3"]
    assert number(np.float64(2.5), 0) == "3" and number(float("nan")) == number(float("inf")) == UNKNOWN


def test_a_decimal_needs_two_hundred_answers() -> None:
    assert [Interval.of(173, 200).percent, Interval.of(86, 100).percent] == ["86.5 %", "86 %"]
    assert Interval.of(173, 200).percents == percents(*wilson(173, 200), 200) == "81.1 to 90.6 %"
    assert Interval(0.0123, -0.004, 0.0286, 5, "seed").points == f"+1.2 points ({MINUS}0.4 to +2.9)"
    assert [signed(change, n) for change in (0.045, -0.0123, -0.0001, 0.0) for n in (199, 200)] == [
        "+5", "+4.5", f"{MINUS}1", f"{MINUS}1.2", "0", "0.0", "0", "0.0",
    ]  # fmt: skip


def test_bounds_that_are_not_known_are_a_dash() -> None:
    lone = Interval(0.1, float("nan"), float("nan"), 1, "seed")
    assert lone.bounds == interval(None, None) == UNKNOWN and not lone.clear and not lone.known
