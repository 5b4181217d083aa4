"""A session that is run again: equal to the bit here; where something differs, it is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from frozenlab.cli.main import main
from frozenlab.cli.session import verdict
from frozenlab.session.forks import fork
from frozenlab.session.reproduce import compare
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.cli.calls import reason


@pytest.mark.slow
def test_a_session_equals_its_repetition_to_the_bit(whole: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", str(whole.dir), "--out", str(tmp_path / "again")]) == 0
    assert capsys.readouterr().out.endswith("It equals whole to the last bit.\n")


def test_what_differs_is_told_in_the_order_in_which_it_happened(tmp_path: Path) -> None:
    first = build_session(tmp_path, session_id="first")
    second = build_session(tmp_path, small_spec(seed=5), session_id="second")
    rewrite(second.stage_dir(1) / "metrics.jsonl", lambda line: line | ({"reward": 0.0} if line["step"] >= 3 else {}))
    found = compare(first, second)
    assert found.origins == ("Where the first came from is not known: an older version began it.",)
    assert "Before training: " in found.differences[0] and "answers on validation boards are others" in found.differences[0]
    assert "Stage 2: figures differ from step 3 on." in found.differences
    assert not found.equal and verdict(found, "first") == ()


def test_what_one_side_lacks_is_told_and_bits_are_claimed_only_where_everything_was_compared(tmp_path: Path) -> None:
    first, second = (with_weights(build_session(tmp_path, session_id=name)) for name in ("first", "second"))
    found = compare(first, second)
    assert found.equal and verdict(found, "first") == ("It equals first to the last bit.",)
    for stage in (0, 1):
        (first.stage_dir(stage) / "policy" / "model.safetensors").unlink()
    (second.stage_dir(1) / "policy" / "model.safetensors").unlink()
    (second.stage_dir(2) / "validation.parquet").unlink()
    (first.stage_dir(2) / "metrics.jsonl").unlink()
    (first.stage_dir(1) / "proposal.json").unlink()
    found = compare(first, second)
    assert found.differences == ()
    assert found.not_compared == (
        "Stage 1: weights were not compared: the first has none.",
        "Stage 2: weights were not compared: neither has any.",
        "Stage 2: proposals were not compared: the first has none.",
        "Stage 3: figures of training were not compared: the first has none.",
        "Stage 3: answers on validation boards were not compared: this one has none.",
    )
    assert not found.equal and verdict(found, "first") == ("What could be compared equals first to the last bit.",)


def test_weights_of_many_files_and_figures_on_one_side_only_are_compared_as_such(tmp_path: Path) -> None:
    first, second = (with_weights(build_session(tmp_path, session_id=name)) for name in ("first", "second"))
    for session, shard in ((first, b"one"), (second, b"other")):
        (session.stage_dir(0) / "policy" / "model-00002-of-00002.safetensors").write_bytes(shard)
    rewrite(second.stage_dir(1) / "metrics.jsonl", lambda line: {name: value for name, value in line.items() if name != "length"})
    rewrite(first.stage_dir(1) / "metrics.jsonl", lambda line: line | {"loss": None})
    rewrite(second.stage_dir(1) / "metrics.jsonl", lambda line: line | {"loss": None})
    figures = second.stage_dir(2) / "metrics.jsonl"
    figures.write_text("".join(figures.read_text().splitlines(keepends=True)[:-1]))
    found = compare(first, second)
    assert found.not_compared == ("Stage 2: figures of length were not compared: this one has none.",)
    steps = first.spec.training.steps
    assert found.differences == ("Stage 1: the weights are others.", f"Stage 3: it trained {steps - 1} steps, the first {steps}.")


def with_weights(session: Session) -> Session:
    for stage in range(session.spec.stages):
        (session.stage_dir(stage) / "policy").mkdir(exist_ok=True)
        (session.stage_dir(stage) / "policy" / "model.safetensors").write_bytes(bytes(8))
    return session


def rewrite(figures: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    figures.write_text("".join(json.dumps(change(json.loads(line))) + "\n" for line in figures.read_text().splitlines()))


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
