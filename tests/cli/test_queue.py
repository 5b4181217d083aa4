"""``frozenlab queue``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from frozenlab.cli.main import main
from frozenlab.jobs import launcher
from frozenlab.jobs.queue import look
from frozenlab.loop.store import SessionStore
from tests.builders import small_spec


@pytest.fixture
def queued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionStore:
    """Three sessions that wait; no dispatcher starts them."""
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    monkeypatch.setattr(launcher, "wake", lambda root: None)
    monkeypatch.setattr(look, "wake_if_needed", lambda root: None)
    monkeypatch.setattr("frozenlab.cli.main.wake_queue", lambda: None)
    store = SessionStore()
    for name in ("a", "b", "c"):
        launcher.submit(store.create(small_spec(), name))
    return store


def order(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert main(["queue", *words, "--json"]) == 0
    return [job["id"] for job in json.loads(capsys.readouterr().out)["jobs"]]


def test_it_shows_and_steers_what_waits(queued: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    assert order(capsys) == ["a", "b", "c"]
    assert order(capsys, "first", "c") == ["c", "a", "b"]
    assert order(capsys, "down", "c") == ["a", "c", "b"]
    assert order(capsys, "up", "b") == ["a", "b", "c"]
    assert order(capsys, "priority", "b", "high") == ["b", "a", "c"]
    assert order(capsys, "now", "c") == ["c", "b", "a"]
    assert order(capsys, "cancel", "b") == ["c", "a"]
    assert queued.open("b").state().status == "stopped"
    assert order(capsys, "retry", "b") == ["c", "a", "b"]
    assert main(["queue", "pause", "a"]) == 0
    said = capsys.readouterr().out
    assert "0 running, 3 queued" in said and "paused" in said and "urgent" in said
    assert main(["queue", "pause"]) == 0
    assert "paused: only urgent jobs begin" in capsys.readouterr().out
    assert main(["queue", "go"]) == main(["queue", "go", "a"]) == 0


def test_it_says_what_is_wrong(queued: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    for words, why in (
        (["first"], "needs the ID"),
        (["first", "z"], "there is no job 'z' in the queue"),
        (["priority", "a", "huge"], "there is no priority 'huge'"),
        (["retry", "z"], "remembers no job 'z'"),
        (["priority", "a"], "priority ID LEVEL"),
    ):
        assert main(["queue", *words]) == 2
        assert why in capsys.readouterr().err
