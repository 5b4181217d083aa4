"""A session that is run again: equal to the bit here, and told what differs where something does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from frozenlab.cli.main import main
from frozenlab.loop.forks import fork
from frozenlab.loop.reproduce import differences
from frozenlab.loop.store import SessionStore
from tests.builders import build_session, small_spec
from tests.cli.calls import reason
from tests.loop import test_loop
from tests.running import finish


@pytest.mark.training
@pytest.mark.xdist_group("loop")
def test_a_session_equals_its_repetition_to_the_bit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = SessionStore(tmp_path).create(test_loop.small_spec(**test_loop.SEALED), "first")
    assert finish(session) == 0
    assert main(["reproduce", str(session.dir), "--out", str(tmp_path / "again")]) == 0
    assert capsys.readouterr().out.endswith("It equals first to the last bit.\n")


def test_what_differs_is_told_in_the_order_in_which_it_happened(tmp_path: Path) -> None:
    first = build_session(tmp_path, session_id="first")
    second = build_session(tmp_path, small_spec(seed=5), session_id="second")
    figures = second.stage_dir(1) / "metrics.jsonl"
    lines = [json.loads(line) for line in figures.read_text().splitlines()]
    figures.write_text("".join(json.dumps(line | ({"reward": 0.0} if line["step"] >= 3 else {})) + "\n" for line in lines))
    told = differences(first, second)
    assert told[0] == "Where the first came from is not known: an older version began it."
    assert "Before training: " in told[1] and "answers on validation boards are others" in told[1]
    assert "Stage 2: figures differ from step 3 on." in told
    assert differences(first, first)[1:] == []


def test_what_a_spec_did_not_decide_cannot_be_reproduced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = SessionStore(tmp_path)
    parent = build_session(tmp_path, session_id="parent")
    forked = fork(parent, 1, store, "forked", engineer="uniform")
    (forked.dir / "state.json").write_text(parent.state().model_dump_json())
    assert "is a fork: reproduce parent, then fork it again (frozenlab fork parent:2)" in reason(capsys, "reproduce", str(forked.dir))
    human = build_session(tmp_path, small_spec(engineer="human"), session_id="human")
    assert "is a person, who would have to decide again" in reason(capsys, "reproduce", str(human.dir))
    stopped = build_session(tmp_path, session_id="stopped", status="stopped", finished_stages=1)
    assert "stopped is stopped: only what is done can be compared" in reason(capsys, "reproduce", str(stopped.dir))
