from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from frozenlab.experiments.headroom.report import gain_table, measured_before, report_of
from frozenlab.experiments.headroom.report_tables import HeadroomReport
from frozenlab.experiments.headroom.spec import HeadroomError
from frozenlab.experiments.headroom.store import Headroom, write_report
from frozenlab.session.store import SessionStore
from tests.builders import small_spec
from tests.headroom.builders import CONFIG, built, tiny_spec


def gains_with(best: tuple[int, ...], gain: float, noise: float = 0.004) -> np.ndarray:
    """(students, 4, 2): the config ``best`` of each student gains, the others do not."""
    rng = np.random.default_rng(1)
    gains = rng.normal(0, noise, (len(best), 4, 2))
    for student, config in enumerate(best):
        gains[student, config] += gain
    return gains


@pytest.fixture
def report(tmp_path: Path) -> HeadroomReport:
    """Four students, of which two learn from one config and two from another."""
    return report_of(built(tmp_path, gains_with((2, 3, 2, 3), 0.1)))


def passed(report: HeadroomReport) -> dict[str, str]:
    return {check.name: check.passed for check in report.checks}


def test_students_that_differ_have_headroom_and_information(report: HeadroomReport) -> None:
    forks = report.forks
    assert forks.best == ("config 0", "config 1", "config 0", "config 1")
    assert forks.headroom.value == pytest.approx(0.1, abs=0.01) and forks.headroom.unit == "student"
    assert forks.information.value == pytest.approx(0.05, abs=0.06)
    assert forks.noise == pytest.approx(0.004, abs=0.002) and forks.icc.value > 0.95
    assert forks.before == (0.4,) * 4 and forks.boards == 2000
    assert forks.pairs_for_headroom == 3
    assert report.matrices[0].participation is not None and report.matrices[0].participation.value == pytest.approx(2, abs=0.05)
    checks = ("best − worst", "headroom (oracle − equal)", "noise (A/A)", "ICC of configs")
    assert {passed(report)[name] for name in checks} == {"pass"}


@pytest.mark.parametrize(
    ("best", "value", "check", "verdict"),
    [
        ((2, 2, 2, 2), pytest.approx(0, abs=0.01), "fail", "No value of information was found"),
        ((2,), None, "not measured", "With one student"),
    ],
    ids=["alike", "alone"],
)
def test_students_without_differences_have_no_information_value(
    tmp_path: Path, best: tuple[int, ...], value: Any, check: str, verdict: str
) -> None:
    report = report_of(built(tmp_path, gains_with(best, 0.1)))
    assert (report.forks.information and report.forks.information.value) == value
    assert passed(report)["value of information"] == check and report.verdict.startswith(verdict)


def test_values_by_influence_are_compared_with_gains(tmp_path: Path) -> None:
    gains = np.array([[[0.0, 0.0], [0.0, 0.0], [0.02, 0.02], [0.05, 0.05]]])
    report = report_of(built(tmp_path, gains, tiny_spec()))
    assert report.forks is not None and report.forks.predicted[0] is not None
    assert report.forks.noise_sampled == pytest.approx(report.forks.noise, abs=0.002), "as many answers, as often right"


def test_a_report_is_read_as_it_was_written(store: SessionStore, report: HeadroomReport) -> None:
    measurement = Headroom.create(report.spec, store, "written")
    assert measurement.report is None
    write_report(measurement, report)
    assert measurement.report == report
    assert len(gain_table(report)) == 4 * 4 * 2
    (measurement.dir / "report" / "report.json").write_text("{")
    with pytest.raises(HeadroomError, match=r"report.json cannot be read"):
        measurement.report  # noqa: B018


def test_nothing_is_reported_before_anything_is_measured(store: SessionStore) -> None:
    with pytest.raises(HeadroomError, match="nothing is measured yet"):
        report_of(Headroom.create(tiny_spec(), store, "fresh"))


def test_a_session_knows_what_was_measured_of_its_config_and_policy(store: SessionStore) -> None:
    session = small_spec().changed(initial_config=CONFIG, policy="student-1")
    assert measured_before(session, store) is None
    measurement = built(store.root, gains_with((2, 3, 2, 3), 0.1))
    assert measured_before(session, store) is None, "it has no report yet"
    write_report(measurement, report_of(measurement))
    found = measured_before(session, store)
    assert found is not None and found.something and found.verdict == report_of(measurement).verdict
    assert measured_before(session.changed(policy="lab-model"), store) is None
