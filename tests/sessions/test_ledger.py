"""The ledger: a prediction is scored against what was measured, beside the guess that nothing changes."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.sessions.ledger import calibration, ledger_of, predictions, scores, verdict
from core.sessions.statistics import wilson
from core.sessions.store import Session, SessionStore
from tests.builders import build_session

rates = st.floats(0, 1)


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return build_session(tmp_path_factory.mktemp("ledger"))


def test_each_size_of_a_tested_proposal_is_one_prediction(session: Session) -> None:
    ledger = predictions(session)
    assert len(ledger) == (session.spec.stages - 1) * len(session.spec.initial_config.sizes)
    for row in ledger.itertuples():
        claims = session.proposal(row.stage).proposal.claims  # type: ignore[union-attr]
        assert row.expected in {claim.expected for claim in claims if claim.size == row.size}
        after = session.validation(row.stage + 1)
        valid = after.loc[after["size"] == row.size, "valid"]  # type: ignore[index]
        assert (row.measured, row.n) == (valid.mean(), len(valid))
        assert (row.low, row.high) == pytest.approx(wilson(valid.sum(), len(valid)))


def test_what_no_stage_has_tested_is_not_in_it(tmp_path: Path) -> None:
    assert predictions(build_session(tmp_path, session_id="one", finished_stages=1)).empty
    assert predictions(build_session(tmp_path, session_id="broken", broken_stage=0))["stage"].min() == 1
    assert ledger_of([]).empty


@given(rates, rates, rates, rates)
def test_a_hit_lies_in_the_interval_and_only_a_change_can_have_no_effect(expected: float, before: float, a: float, b: float) -> None:
    low, high = sorted((a, b))
    told = verdict(expected, before, low, high)
    assert (told == "hit") == (low <= expected <= high)
    if told == "no effect":
        assert low <= before <= high and abs(expected - before) >= 0.01


def test_scores_stand_beside_those_of_no_change() -> None:
    rows = [("rules", 0.5, 0.6, 0.6), ("rules", 0.5, 0.9, 0.5), ("policy", 0.2, 0.2, 0.3)]
    ledger = pd.DataFrame(rows, columns=["engineer", "before", "expected", "measured"]).assign(n=20)
    ledger["low"], ledger["high"] = ledger["measured"] - 0.05, ledger["measured"] + 0.05
    ledger["verdict"] = [verdict(row.expected, row.before, row.low, row.high) for row in ledger.itertuples()]
    first, second = scores(ledger)
    assert (first.engineer, first.n, first.hits, first.no_effect) == ("rules", 2, 1, 1)
    assert (first.error, first.naive_error, first.naive_hits) == (pytest.approx(0.2), pytest.approx(0.05), 1)
    assert (second.engineer, second.hits, second.error) == ("policy", 0, pytest.approx(0.1))


@given(st.lists(st.tuples(rates, rates), min_size=1, max_size=60))
def test_calibration_counts_every_prediction_once(pairs: list[tuple[float, float]]) -> None:
    ledger = pd.DataFrame(pairs, columns=["expected", "measured"]).assign(engineer="policy")
    told = calibration(ledger)
    assert sum(row.n for row in told) == len(pairs) and {row.arm for row in told} == {"policy"}
    assert [row.expected for row in told] == sorted(row.expected for row in told)
    assert sum(row.measured * row.n for row in told) == pytest.approx(ledger["measured"].sum())


def test_the_recorded_session_has_a_ledger() -> None:
    ledger = predictions(SessionStore().open("example-long"))
    assert len(ledger) > 10 and set(ledger["verdict"]) <= {"hit", "miss", "no effect"}
