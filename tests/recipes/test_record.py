"""``make record``: what of a finished session ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.base import places
from frozenlab.session.session import Session
from recipes import record
from tests.builders import build_session, small_spec


def test_all_recorded_sessions_are_listed() -> None:
    assert {path.parent.name for path in places.SESSIONS.glob("example-*/session.json")} == set(record.RECORDINGS)


def test_a_session_ships_without_log_and_optimizer_and_with_the_weights_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = build_session(tmp_path / "quick", small_spec(stages=2), "example-quick").dir
    for stage in (0, 1):
        policy = made / "stages" / f"{stage:02}" / "policy"
        policy.mkdir(exist_ok=True)
        for name in ("model.safetensors", "config.json", "optimizer.pt", "rng_state.pth"):
            (policy / name).write_text(f"{name} of {stage}")
    for name in ("worker.log", ".worker.lock"):
        (made / name).write_text("noise")
    (tmp_path / "shipped" / "example-quick").mkdir(parents=True)
    (tmp_path / "shipped" / "example-quick" / "of-an-earlier-recording").touch()
    monkeypatch.setattr(places, "SESSIONS", tmp_path / "shipped")
    monkeypatch.setattr(record, "REPLAYS", ())

    record.ship(tmp_path, [record.RECORDINGS["example-quick"]._replace(weights=(1,))], ())

    shipped = tmp_path / "shipped" / "example-quick"
    left_out = {path.relative_to(made) for path in made.rglob("*") if path.is_file()} - {
        path.relative_to(shipped) for path in shipped.rglob("*") if path.is_file()
    }
    assert {path.name for path in left_out if path.parent.name != "policy"} == {"worker.log", ".worker.lock"}
    assert sorted(path.name for path in (shipped / "stages" / "01" / "policy").iterdir()) == ["config.json", "model.safetensors"]
    assert not (shipped / "stages" / "00" / "policy").exists() and not (shipped / "of-an-earlier-recording").exists()
    assert Session(shipped).results(1) is not None
