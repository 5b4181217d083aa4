"""A kind of experiment of 80 lines runs in the queue, resumes after a kill, and has a page, a report, a command and references."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.cli import main as cli
from frozenlab.cli.experiment import work_here
from frozenlab.experiments.shelf.shelf import ShelfError, delete
from frozenlab.jobs import launcher
from frozenlab.jobs.job import KINDS
from frozenlab.jobs.queue import dispatcher
from frozenlab.session.store import SessionStore
from tests.builders import build_session
from tests.cli.calls import answer, reason
from tests.experiments.holes import COMMAND, KIND, Holes, HolesSpec
from tests.jobs.test_queue import Machine, until
from tests.pages.apptest import TIMEOUT, words


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionStore:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    monkeypatch.setitem(KINDS, "holes", KIND)
    monkeypatch.setattr(cli, "COMMANDS", (*cli.COMMANDS, COMMAND))
    monkeypatch.setattr(launcher, "wake", lambda root: None)
    return SessionStore(tmp_path)


def test_it_runs_in_the_queue_and_resumes_after_a_kill(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = [sys.executable, "-m", Holes.__module__]
    monkeypatch.setattr(dispatcher, "worker_command", lambda kind, folder: [*worker, kind, str(folder)])
    monkeypatch.setattr(dispatcher, "PAUSE", 0.1)
    holes, machine = Holes.start(HolesSpec(), store), Machine(store.root)
    try:
        until(lambda: holes.rows(), 300)
        os.kill(holes.rows()[0][1], signal.SIGKILL)
        until(lambda: holes.state().status in ("done", "failed"), 300)
    finally:
        machine.end()
    whole = Holes.create(HolesSpec(), store, "whole")
    assert work_here(whole) == 0 and holes.state().status == "done", holes.state().error
    assert [row[0] for row in holes.rows()] == [row[0] for row in whole.rows()] and len({row[1] for row in holes.rows()}) == 2
    assert (holes.dir / "report.json").read_text() == (whole.dir / "report.json").read_text()


def test_it_has_a_page_a_command_and_references(store: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
    session = build_session(store.root)
    (store.root / "spec.json").write_text("{}")
    assert answer(capsys, "holes", str(store.root / "spec.json"), "--boards", "3", "--id", "mine")["status"] == "done"
    assert "exists already" in reason(capsys, "holes", "mine", "--boards", "2")
    assert [job["id"] for job in answer(capsys, "list", "holes")["jobs"]] == ["mine"]
    with pytest.raises(ShelfError, match="is needed by holes mine"):
        delete(session, store)
    app = AppTest.from_string(f"from {Holes.__module__} import page\npage()", default_timeout=TIMEOUT)
    app.session_state["_nav"] = True
    app.run()
    assert not app.exception and "Holes on 3 boards" in words(app)
    app.button(key="holes-delete").click().run()
    assert not app.exception and "There is no count yet." in words(app)
