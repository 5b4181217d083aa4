"""A person as engineer: the session waits, and what they propose passes guard and ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.engineer.engineers.human import Decision, proposal_of
from frozenlab.jobs import launcher
from frozenlab.jobs.queue.db import QueueDB
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.session import launch
from frozenlab.session.catalog import listed
from frozenlab.session.ledger import predictions
from frozenlab.session.runs import runs
from frozenlab.session.session import Session
from frozenlab.session.state import event_words
from frozenlab.session.store import SessionStore
from tests.builders import SEALED, short_spec
from tests.running import finish, finished


def harder(config: EnvironmentConfig, cell: str, hole_ratio: float) -> EnvironmentConfig:
    return config.with_cells(config.cells | {cell: config.cells[cell].model_copy(update={"hole_ratio": hole_ratio})})


def boards_told(session: Session) -> list[int | None]:
    """How many test boards each event counts that says something of them."""
    return [event.get("n") for event in session.events() if event["kind"] == "tested"]


def test_the_session_waits_for_a_person_and_goes_on_with_what_they_propose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "wake", lambda root: None)  # no dispatcher takes it from the queue: the test runs it
    store = SessionStore(tmp_path)
    session = store.create(short_spec("human", test=SEALED["test"]), "asked")
    assert finish(session) == 4
    state = session.state()
    assert (state.status, state.phase, state.stage, state.live) == ("waiting", "proposing", 0, False)
    assert session.context(0) is not None and session.proposal(0) is None, "what a person decides by is there"
    assert boards_told(session) == [None, None] and {rate.n for rate in state.rates} == {10}, (
        "no figure of the test boards before the decision"
    )
    assert event_words(next(event for event in session.events() if event["kind"] == "tested")).endswith("nothing left to decide.")
    (run,) = runs(listed(tmp_path, tmp_path))
    assert (run.boards, run.last.n) == ("validation", 10)  # type: ignore[union-attr]
    with pytest.raises(launcher.LaunchError, match="waits for your proposal"):
        launch.resume(session, store)
    before = session.spec.initial_config
    cell = next(iter(before.cells))
    given = proposal_of(before, harder(before, cell, 0.9), why="Break the ice.", expected={cell: 0.25}, cited={cell: (f"F{cell}",)})
    launch.propose(session, given, store)
    assert session.state().status == "queued" and [job.path for job in QueueDB(tmp_path).jobs()] == [session.dir]
    finished(session)
    record = session.proposal(0)
    assert record is not None and record.engineer == "human" and record.proposal == given
    assert [repair.knob for repair in record.guard.repairs], "a person is guarded like everybody"
    assert session.environment(1).config == record.config_after  # type: ignore[union-attr]
    assert session.proposal(1) is None, "nobody is asked what nobody would train on"
    assert boards_told(session)[-3:] == [12, 12, 12] and {rate.n for rate in session.state().rates} == {12}
    (run,) = runs(listed(tmp_path, tmp_path))
    assert (run.boards, run.last.n) == ("test", 12)  # type: ignore[union-attr]
    ledger = predictions(session)
    assert list(ledger["engineer"]) == ["human"] and list(ledger["expected"]) == [0.25]
    with pytest.raises(launcher.LaunchError, match="does not wait for a proposal, it is done"):
        launch.propose(session, given, store)


def test_a_persons_claims_name_every_change_and_every_size_kept() -> None:
    before = EnvironmentConfig.uniform((4, 5), agents=2, hole_ratio=0.2, wait_ratio=0.2)
    proposal = proposal_of(before, harder(before, "4", 0.3), now={"4": 0.9}, expected={"4": 0.8}, cited={"4": ("F4", "B4")})
    assert [(claim.cell, claim.knob, claim.after) for claim in proposal.claims] == [("4", "hole_ratio", 0.3), ("5", None, None)]
    assert proposal.claims[0].text == "Size 4: raise the hole ratio from 0.20 to 0.30, because it is 90% valid; expect 80% [F4 B4]."
    assert proposal.preserved == ("5",) and proposal.summary.startswith("Harder: size 4")
    assert Decision(given=proposal).answer(None, 0).text == ""  # type: ignore[arg-type]
