"""Effects as per cent of headroom, with Fieller's interval."""

from __future__ import annotations

from math import isnan

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from frozenlab.experiments.headroom.report import measured_before
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.experiments.studies.report import shares_of_headroom
from frozenlab.experiments.studies.statistics import ratio_of_means
from frozenlab.session.presets import preset_spec
from frozenlab.session.store import SessionStore


def table_of(students: int, seeds: int, share: float, room: float = 0.1, noise: float = 0.01, draw: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(draw)
    rows = [
        {"arm": arm, "student": f"s{student}", "seed": seed, "value": 0.5 + gain * room + rng.normal(0, noise)}
        for student in range(students)
        for seed in range(seeds)
        for arm, gain in (("fixed", 0.0), ("uniform", 0.0), ("taught", share), ("oracle", 1.0))
    ]
    return pd.DataFrame(rows)


def test_the_bounds_are_where_a_t_test_of_the_difference_begins_to_reject() -> None:
    rng = np.random.default_rng(2)
    below = rng.normal(0.1, 0.02, 6)
    above = 0.4 * below + rng.normal(0, 0.01, 6)
    share, low, high = ratio_of_means(above.tolist(), below.tolist())
    assert share == pytest.approx(above.mean() / below.mean()) and low < share < high
    for bound in (low, high):
        assert stats.ttest_1samp(above - bound * below, 0).pvalue == pytest.approx(0.05)


def test_the_interval_holds_the_true_ratio_as_often_as_it_says() -> None:
    rng, held, draws = np.random.default_rng(5), 0, 2000
    for _ in range(draws):
        below = rng.normal(0.1, 0.03, 6)
        above = rng.normal(0.04, 0.03, 6)
        _, low, high = ratio_of_means(above.tolist(), below.tolist())
        held += isnan(low) or low <= 0.4 <= high  # without a clear headroom nothing is claimed
    assert held / draws == pytest.approx(0.95, abs=3 * np.sqrt(0.05 * 0.95 / draws))


@pytest.mark.parametrize(("students", "n"), [(4, 4), (1, 6)])
def test_shares_are_of_students_or_of_seeds(students: int, n: int) -> None:
    found = shares_of_headroom(table_of(students, 6, 0.4))
    assert found is not None and not found.why and found.headroom == pytest.approx(0.1, abs=0.01)
    shares = {one.arm: one for one in found.shares}
    assert list(shares) == ["taught", "fixed"] and all(one.n == n for one in shares.values())
    assert shares["taught"].low < 0.4 < shares["taught"].high and shares["fixed"].low < 0 < shares["fixed"].high
    both = shares_of_headroom(table_of(students, 6, 0.4).replace({"arm": {"fixed": "equal"}}))
    assert both is not None and both.over == "equal" and [one.arm for one in both.shares] == ["taught", "uniform"]
    plain = shares_of_headroom(table_of(1, 6, 0.4).drop(columns="student"))
    assert plain is not None and plain.shares[0].n == 6


def test_without_a_clear_headroom_no_share_is_defined() -> None:
    for room in (0.0, -0.1):
        found = shares_of_headroom(table_of(4, 3, 0.4, room=room, noise=0.02))
        assert found is not None and not found.shares and "is not clear of zero, so no share of it is defined" in found.why
    assert shares_of_headroom(table_of(4, 3, 0.4).query("arm != 'oracle'")) is None
    one = shares_of_headroom(table_of(1, 1, 0.4))
    assert one is not None and "(no interval)" in one.why


def test_a_headroom_that_was_measured_is_found_for_its_config_and_all_students(tmp_path: object) -> None:
    store = SessionStore(tmp_path)  # type: ignore[arg-type]
    measured = next(one for one in Headroom.shipped() if (one.dir / "report").exists() and one.spec.forks is not None)
    forks = measured.spec.forks
    session = preset_spec("study").changed(policy=measured.spec.students[0], initial_config=forks.kept, suite=forks.suite, test=None)
    found = measured_before(session, store, measured.spec.students)
    assert found is not None and found.headroom.n > 0
    assert measured_before(session, store, ("student:nobody",)) is None
