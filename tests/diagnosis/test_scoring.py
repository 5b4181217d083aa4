"""Scores of proposals and their rates, on known answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from frozenlab.base.numbers import Z95, wilson
from frozenlab.experiments.diagnosis.report import Score, rate, score

EVEN = {"a": 0.25, "b": 0.25, "c": 0.25, "d": 0.25}


@pytest.mark.parametrize(
    ("after", "weak", "expected"),
    [
        ({"a": 0.7, "b": 0.1, "c": 0.1, "d": 0.1}, {"a"}, Score(1.0, 1.0)),
        ({"a": 0.7, "b": 0.1, "c": 0.1, "d": 0.1}, {"b", "c", "d"}, Score(0.0, 0.0)),
        ({"a": 0.35, "b": 0.30, "c": 0.2, "d": 0.15}, {"b"}, Score(0.0, pytest.approx(1 / 3))),
        ({"a": 1 / 3, "b": 1 / 3, "c": 1 / 3, "d": 0.0}, {"a"}, Score(pytest.approx(1 / 3), pytest.approx(1 / 3))),
        (EVEN, {"a", "b"}, Score(0.5, None)),
    ],
)
def test_a_proposal_is_scored_by_the_share_that_grew_most(after: dict[str, float], weak: set[str], expected: Score) -> None:
    assert score(EVEN, after, weak) == expected


def test_a_random_proposal_scores_chance_on_average() -> None:
    rng = np.random.default_rng(0)
    scores = [score(EVEN, dict(zip(EVEN, rng.dirichlet(np.ones(4)).tolist(), strict=True)), {"a"}) for _ in range(4000)]
    assert np.mean([one.hit for one in scores]) == pytest.approx(0.25, abs=0.02)
    assert np.mean([one.aim for one in scores if one.aim is not None]) == pytest.approx(0.25, abs=0.02)


def test_one_answer_a_student_gives_nearly_the_wilson_interval() -> None:
    found = rate([[1.0]] * 30 + [[0.0]] * 20)
    assert (found.mean, found.n, found.students) == (pytest.approx(0.6), 50, 50)
    assert (found.naive_low, found.naive_high) == wilson(30, 50)
    effective = 49 * (Z95 / stats.t.isf(0.025, 49)) ** 2  # the variance of students is estimated with 49 degrees of freedom
    assert (found.low, found.high) == pytest.approx(wilson(0.6 * effective, effective))


def test_the_same_answers_again_say_nothing_new_about_other_students() -> None:
    once, often = rate([[1.0], [0.0], [1.0], [1.0]]), rate([[1.0] * 8, [0.0] * 8, [1.0] * 8, [1.0] * 8])
    assert (often.low, often.high) == pytest.approx((once.low, once.high))
    assert often.naive_high - often.naive_low < once.naive_high - once.naive_low


def test_no_spread_gives_no_false_certainty() -> None:
    always = rate([[1.0, 1.0]] * 4)
    assert always.high == 1.0
    assert always.low == pytest.approx(wilson(1, 1)[0], abs=0.35)
    assert always.low < 0.7
    assert rate([[1.0] * 10])[3:5] == (0.0, 1.0), "one student says nothing about others"


def test_the_clustered_interval_covers_as_often_as_it_says() -> None:
    """Students differ (beta-distributed rates), 8 answers each: the naive interval is far too narrow."""
    rng, students, answers, mean = np.random.default_rng(1), 12, 8, 0.4
    covered = naive = 0
    for _ in range(600):
        own = rng.beta(1.2, 1.8, students)
        found = rate([rng.binomial(1, p, answers).astype(float).tolist() for p in own])
        covered += found.low <= mean <= found.high
        naive += found.naive_low <= mean <= found.naive_high
    assert 0.925 <= covered / 600 <= 0.985
    assert naive / 600 < 0.85
