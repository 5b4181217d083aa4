"""The ledger scores predictions against measured changes, relative to the guess that nothing changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from frozenlab.base.numbers import Interval, paired_change
from frozenlab.session.ledger import FEWEST, changes, ledger_of, predictions, score, scores, source
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    return build_session(tmp_path_factory.mktemp("ledger"))


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """With test boards, and an engineer that is asked before the first stage too."""
    spec = small_spec(ask_first=True)
    return build_session(tmp_path_factory.mktemp("sealed"), spec.changed(test=spec.suite.model_copy(update={"seed": 8})))


def test_each_size_of_a_tested_proposal_is_one_prediction(session: Session) -> None:
    ledger = predictions(session)
    assert len(ledger) == (session.spec.stages - 1) * len(session.spec.initial_config.cells)
    for row in ledger.itertuples():
        claims = session.proposal(row.stage).proposal.claims  # type: ignore[union-attr]
        assert row.expected in {claim.expected for claim in claims if claim.cell == row.cell}
        before, after = (session.validation(stage) for stage in (row.stage, row.stage + 1))
        before, after = (table[table["config_cell"] == row.cell] for table in (before, after))  # type: ignore[index]
        assert row.predicted == pytest.approx(row.expected - before["valid"].mean())
        assert Interval(row.measured, row.low, row.high, row.n) == paired_change(before, after)


def test_predictions_are_scored_on_test_boards(sealed: Session) -> None:
    ledger = predictions(sealed)
    assert len(ledger) == sealed.spec.stages * len(sealed.spec.initial_config.cells) and ledger["stage"].min() == -1
    for row in ledger.itertuples():
        stage = None if row.stage < 0 else row.stage
        read = sealed.validation(stage)
        assert row.predicted == pytest.approx(row.expected - read.loc[read["config_cell"] == row.cell, "valid"].mean())  # type: ignore[index]
        before, after = (table[table["config_cell"] == row.cell] for table in (sealed.test(stage), sealed.test(row.stage + 1)))  # type: ignore[index]
        assert row.measured == pytest.approx(after["valid"].mean() - before["valid"].mean())


def test_untested_predictions_are_not_in_the_ledger(tmp_path: Path) -> None:
    assert predictions(build_session(tmp_path, session_id="one", finished_stages=1)).empty
    assert predictions(build_session(tmp_path, session_id="broken", broken_stage=0))["stage"].min() == 1
    assert ledger_of([]).empty


def ledger_with(*rows: tuple[str, float, float]) -> pd.DataFrame:
    """A ledger of (cluster, predicted, measured)."""
    return pd.DataFrame(rows, columns=["cluster", "predicted", "measured"]).assign(engineer="rules", cell="4", low=-0.1, high=0.1, n=20)


def test_skill_is_1_for_the_truth_0_for_no_change_and_negative_for_worse() -> None:
    moves = [("a", 0.1), ("a", -0.02), ("b", 0.04)]
    assert score("x", ledger_with(*[(cluster, change, change) for cluster, change in moves])).skill == 1
    assert score("x", ledger_with(*[(cluster, 0.0, change) for cluster, change in moves])).skill == 0
    wrong = score("x", ledger_with(*[(cluster, -change, change) for cluster, change in moves]))
    assert wrong.skill == pytest.approx(-3) and wrong.error == pytest.approx(2 * wrong.naive_error)
    assert score("x", ledger_with(("a", 0.1, 0.0))).skill is None, "nothing changed"


def test_a_constant_prediction_has_no_skill_if_little_changes() -> None:
    """As the rules': +5 points whatever comes, which a wide interval around the next rate would mostly call a hit."""
    rng = np.random.default_rng(0)
    ledger = ledger_with(*[(f"s{i % 6}", 0.05, float(change)) for i, change in enumerate(rng.normal(0.007, 0.03, 60))])
    one = score("rules", ledger)
    assert one.skill is not None and one.skill < 0 and one.high is not None and one.high < 0
    assert (one.predicted, one.clusters, one.n) == (pytest.approx(0.05), 6, 60)


def test_the_interval_draws_whole_clusters() -> None:
    rng = np.random.default_rng(1)
    alone = ledger_with(*[(f"s{i}", *rng.normal(0.02, 0.05, 2)) for i in range(8)])
    copies = pd.concat([alone] * 5)
    assert (score("x", alone).low, score("x", alone).high) == pytest.approx((score("x", copies).low, score("x", copies).high))
    few = score("x", alone.head(FEWEST - 1))
    assert few.skill is not None and few.low is None


def test_engineers_are_scored_apart_and_every_prediction_is_drawn() -> None:
    ledger = pd.concat([ledger_with(("a", 0.1, 0.1)), ledger_with(("a", 0.1, 0.0), ("b", 0.2, 0.1)).assign(engineer="policy")])
    assert [(one.engineer, one.n) for one in scores(ledger)] == [("rules", 1), ("policy", 2)]
    assert [(row.arm, row.predicted) for row in changes(ledger)] == [("rules", 0.1), ("policy", 0.1), ("policy", 0.2)]


def test_a_fork_counts_with_the_session_that_it_was_forked_from() -> None:
    store = SessionStore()
    ledger = ledger_of([store.open("example-quick"), store.open("example-quick-kept")])
    assert set(ledger["session"]) == {"example-quick", "example-quick-kept"} and set(ledger["cluster"]) == {"example-quick"}


def test_the_recorded_session_predicted_better_than_that_nothing_changes(session: Session) -> None:
    one = score("policy", predictions(SessionStore().open("example-long")))
    assert one.n > 10 and 0 < one.predicted < one.measured and one.skill is not None and one.skill > 0.2
    assert "win back of a fall below the usual rate" in source(session.spec)
