"""``frozenlab queue``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from frozenlab.cli.common import worked_on_here
from frozenlab.cli.main import main
from frozenlab.jobs import launcher
from frozenlab.jobs.launcher import LaunchError
from frozenlab.jobs.queue import look
from frozenlab.jobs.queue.book import Book
from frozenlab.jobs.state import WorkerState, store_state
from frozenlab.loop.store import SessionStore
from frozenlab.students.store import create_student
from tests.builders import small_spec
from tests.students.test_making import RECIPE


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


def test_a_job_that_a_terminal_works_on_counts_in_the_queue(queued: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    student = create_student(RECIPE, queued)
    with worked_on_here(student):
        assert student.id in order(capsys)
        with pytest.raises(LaunchError, match="is queued already"), worked_on_here(student):
            raise AssertionError("nobody works on it twice")
        store_state(student.dir, WorkerState(status="done"))
    assert student.id not in order(capsys)
    ended = Book(queued.root).ended()
    assert [(job.folder, job.status) for job in ended] == [(str(student.dir), "done")]
    with worked_on_here(student):
        assert student.id not in order(capsys), "what is done is only shown"
    assert student.state().status == "done"
