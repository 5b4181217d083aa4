"""Statistics of the gate against known answers: textbook values, and simulations in which the truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from frozenlab.base.numbers import ComparisonError
from frozenlab.experiments.headroom.gains import (
    best_less_worst,
    chosen_elsewhere,
    clustered,
    headroom,
    information_value,
    intraclass,
    pairs_needed,
    rank_correlation,
    spread,
    worst,
)

RATINGS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float)
"""Six targets and four judges, from Shrout & Fleiss (1979), table 2."""


def simulated(rng: np.random.Generator, students: int, configs: int, replicates: int, sd: float = 0.0, common: float = 0.0) -> np.ndarray:
    """Gains with noise of 1: configs differ by ``sd`` within a student, by ``common`` alike in all, replicates by 3."""
    true = rng.normal(0, sd, (students, configs, 1)) + rng.normal(0, common, (1, configs, 1))
    return true + rng.normal(0, 3, (students, 1, replicates)) + rng.normal(size=(students, configs, replicates))


def test_intraclass_correlations_of_shrout_and_fleiss() -> None:
    """ICC(1, 1) is .17 and ICC(3, 1) is .71 there; the bounds are those of R's psych::ICC for the same table."""
    means = RATINGS.mean(axis=1)
    between = 4 * ((means - means.mean()) ** 2).sum() / 5
    within = ((RATINGS - means[:, None]) ** 2).sum() / 18
    assert intraclass(between, within, (5, 18), 4) == pytest.approx((0.166, -0.133, 0.723), abs=0.001)
    found = spread(RATINGS[None])
    assert (found.icc.value, found.icc.low, found.icc.high) == pytest.approx((0.715, 0.342, 0.946), abs=0.001)
    assert found.noise == pytest.approx(np.sqrt(1.0194), abs=1e-3)


def test_spread_finds_noise_and_configs_whatever_replicates_share() -> None:
    rng = np.random.default_rng(1)
    found = spread(simulated(rng, students=40, configs=10, replicates=2, sd=2.0))
    assert found.noise == pytest.approx(1, rel=0.08) and found.configs == pytest.approx(2, rel=0.1)
    assert found.icc.value == pytest.approx(0.8, abs=0.06)
    with pytest.raises(ComparisonError, match="two or more seeds"):
        spread(np.zeros((2, 3, 1)))


def test_intervals_of_the_icc_hold_the_truth_nineteen_times_in_twenty() -> None:
    rng = np.random.default_rng(2)
    found = [spread(simulated(rng, students=4, configs=6, replicates=2, sd=1.0)) for _ in range(600)]
    assert np.mean([each.icc.low <= 0.5 <= each.icc.high for each in found]) == pytest.approx(0.95, abs=0.025)


def test_the_oracle_of_noise_wins_nothing_once_it_is_scored_elsewhere() -> None:
    """The naive oracle, scored where it was chosen, finds 1.1 in pure noise: the expected maximum of the means of two."""
    rng = np.random.default_rng(3)
    gains = simulated(rng, students=400, configs=8, replicates=2)
    for values in (headroom(gains, baseline=0), information_value(gains), best_less_worst(gains)):
        assert abs(values.mean()) < 4 * values.mean(axis=1).std() / np.sqrt(400)
    naive = gains.mean(axis=2).max(axis=1) - gains[:, 0].mean(axis=1)
    assert naive.mean() == pytest.approx(1.42 / np.sqrt(2), abs=0.15)


def test_headroom_and_information_value_of_a_world_without_noise() -> None:
    """Student 0 learns from config 1, student 1 from config 2, student 2 from config 1 a little more than from 2."""
    gains = np.repeat(np.array([[0.0, 6, 0], [0, 0, 6], [0, 3, 2]])[:, :, None], 2, axis=2)
    assert headroom(gains, baseline=0).tolist() == [[6, 6], [6, 6], [3, 3]]
    # The others' best: config 2 for student 0 (means 1.5 and 4), 1 for student 1 (4.5 and 1), and 1 for student 2 (a tie at 3).
    assert information_value(gains).tolist() == [[6, 6], [6, 6], [0, 0]]
    assert best_less_worst(gains).tolist() == [[6, 6], [6, 6], [3, 3]]
    assert chosen_elsewhere(gains, worst).max() == 0


def test_configs_that_are_best_for_everybody_have_headroom_and_no_information_value() -> None:
    rng = np.random.default_rng(4)
    gains = simulated(rng, students=200, configs=6, replicates=3, common=6.0)
    assert headroom(gains, baseline=0).mean() > 2
    assert -0.4 < information_value(gains).mean() < 0.1


@pytest.mark.parametrize("students", [4, 12])
def test_clustered_intervals_hold_the_truth_nineteen_times_in_twenty(students: int) -> None:
    """Values of a student share what the student is; an interval over all forks would be too narrow."""
    rng = np.random.default_rng(5)
    worlds = rng.normal(0, 2, (1500, students, 1)) + rng.normal(size=(1500, students, 4))
    held = [found.low <= 0 <= found.high for found in map(clustered, worlds)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.02)
    pooled = [stats.ttest_1samp(world.ravel(), 0).pvalue >= 0.05 for world in worlds]
    assert np.mean(pooled) < 0.8


def test_a_null_gate_keeps_its_rate() -> None:
    """Identical configs under other seeds: an effect is called clear of zero in about 5 % of gates, and found upwards in about 2.5 %."""
    rng = np.random.default_rng(6)
    worlds = [simulated(rng, students=8, configs=6, replicates=2) for _ in range(1000)]
    for measure in (lambda gains: headroom(gains, 0), information_value, best_less_worst):
        found = [clustered(measure(gains)) for gains in worlds]
        assert np.mean([each.low > 0 for each in found]) <= 0.04
        assert np.mean([each.low > 0 or each.high < 0 for each in found]) == pytest.approx(0.055, abs=0.025)


def test_one_student_has_an_interval_over_its_replicates_and_no_information_value() -> None:
    found = clustered(np.array([[1.0, 2.0, 3.0]]))
    assert (found.value, found.n, found.unit) == (2.0, 3, "replicate") and found.low < 0 < found.high
    with pytest.raises(ComparisonError, match="of one student"):
        information_value(np.zeros((1, 2, 2)))
    with pytest.raises(ComparisonError, match="two seeds or more"):
        headroom(np.zeros((2, 2, 1)), 0)


def test_pairs_needed() -> None:
    """Cohen's classic: a difference of half a standard deviation takes 34 pairs (G*Power 3.1), one of 0.8 takes 15."""
    assert pairs_needed(0.5, 1.0) == 34 and pairs_needed(0.8, 1.0) == 15
    assert pairs_needed(0.0, 1.0) is None and pairs_needed(0.01, 1.0) is None


def test_rank_correlation() -> None:
    assert rank_correlation([1, 2, 3], [1, 4, 9]) == 1
    assert np.isnan(rank_correlation([1, 1, 1], [1, 2, 3])) and np.isnan(rank_correlation([1, 2], [1, 2]))
