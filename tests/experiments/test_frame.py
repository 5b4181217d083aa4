"""What all kinds of experiments have in common, and one of 80 lines that only the tests know: it has all of it too."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.cli import main as cli
from frozenlab.cli.experiment import work_here
from frozenlab.engineer.engineers import engineer_of
from frozenlab.experiments.benchmark.task import Evaluation, task_for
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import task_against
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.diagnosis.task import DiagnosisTask, Shown
from frozenlab.experiments.experiment import Experiment
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.shelf.shelf import ShelfError, delete
from frozenlab.experiments.students.menu import recipes, usual_config
from frozenlab.experiments.students.store import Student
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs import launcher
from frozenlab.jobs.job import KINDS
from frozenlab.jobs.queue import dispatcher
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.session.store import SessionStore
from tests.builders import build_session
from tests.cli.calls import answer, reason
from tests.experiments.holes import COMMAND, KIND, Holes, HolesSpec
from tests.headroom.builders import tiny_spec
from tests.pages.apptest import TIMEOUT, words
from tests.running import OwnQueue, wait_for

NOTHING = Shown(name="none", sections=())
SPECS: dict[type[Experiment[Any]], Callable[[], Any]] = {
    Contest: lambda: task_against(recipes(usual_config())[0], "any"),
    Diagnosis: lambda: DiagnosisTask(
        title="t", students=("any",), engineers=(engineer_of("rules"),), shown=(Shown(name="all", sections=()),)
    ),
    Evaluation: lambda: task_for("lab-model", "quick", SessionStore()),
    Headroom: tiny_spec,
    Holes: HolesSpec,
    Replay: lambda: Replay.shipped()[0].spec,
    Student: lambda: recipes(usual_config())[0],
    Study: lambda: engineers_study(2),
}


@pytest.fixture
def store(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> SessionStore:
    monkeypatch.setitem(KINDS, "holes", KIND)
    monkeypatch.setattr(cli, "COMMANDS", (*cli.COMMANDS, COMMAND))
    monkeypatch.setattr(launcher, "wake", lambda root: None)
    return store


def test_every_kind_is_tried(store: SessionStore) -> None:
    assert {kind.kind for kind in SPECS} == {*KINDS} - {"session"}


@pytest.mark.parametrize("kind", SPECS, ids=lambda kind: kind.kind)
def test_experiments_are_found_by_name_and_damaged_ones_are_not(kind: type[Experiment[Any]], store: SessionStore) -> None:
    made = kind.create(SPECS[kind](), store, "there")
    assert type(KINDS[kind.kind].open(made.dir)) is kind and kind.open("there", store).spec == made.spec == SPECS[kind]()
    broken = kind.place(store.root) / "broken"
    broken.mkdir()
    (broken / KINDS[kind.kind].task).write_text("{")
    for name, said in (("nowhere", f"no {kind.kind}"), ("../x", f"no {kind.kind}"), ("broken", r"\.json cannot be read")):
        with pytest.raises(kind.error, match=said):
            kind.open(name, store)
    for name, said in (("there", "already exists"), ("No id", f"is no {kind.kind} id")):
        with pytest.raises(kind.error, match=said):
            kind.create(made.spec, store, name)
    assert [one.id for one in kind.all(store)] == ["there"]
    assert all(one.spec for one in kind.shipped())


@pytest.mark.parametrize("kind", SPECS, ids=lambda kind: kind.kind)
def test_experiments_wait_in_the_queue_are_stopped_and_deleted(kind: type[Experiment[Any]], store: SessionStore) -> None:
    made = kind.start(SPECS[kind](), store)
    with pytest.raises(launcher.LaunchError, match="is queued already"):
        made.resume()
    with pytest.raises(ShelfError, match="stop it before it is deleted"):
        delete(made, store)
    launcher.stop(made)
    assert made.state().status == "stopped"
    made.resume()
    launcher.stop(made)
    delete(made, store)
    assert kind.all(store) == []


@pytest.mark.slow
def test_the_ninth_runs_in_the_queue_and_resumes_after_a_kill(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = [sys.executable, "-m", Holes.__module__]
    monkeypatch.setattr(dispatcher, "worker_command", lambda kind, folder: [*worker, kind, str(folder)])
    monkeypatch.setattr(dispatcher, "PAUSE", 0.1)
    holes, queue = Holes.start(HolesSpec(), store), OwnQueue(store.root)
    try:
        wait_for(lambda: holes.rows(), seconds=300)
        os.kill(holes.rows()[0][1], signal.SIGKILL)
        wait_for(lambda: holes.state().status in ("done", "failed"), seconds=300)
    finally:
        queue.end()
    whole = Holes.create(HolesSpec(), store, "whole")
    assert work_here(whole) == 0 and holes.state().status == "done", holes.state().error
    assert [row[0] for row in holes.rows()] == [row[0] for row in whole.rows()] and len({row[1] for row in holes.rows()}) == 2
    assert (holes.dir / "report.json").read_text() == (whole.dir / "report.json").read_text()


def test_any_kind_says_how_long_the_rest_takes(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    recorder, now = JobRecorder(Holes.create(HolesSpec(), store)), [100.0]
    monkeypatch.setattr("frozenlab.jobs.recorder.time.monotonic", lambda: now[0])
    recorder.state.progress = 0.2  # by a worker before this one
    recorder.begin()
    assert recorder.state.seconds_left is None
    now[0] = 130.0
    recorder.tell(0.5)
    assert recorder.job.state().seconds_left == pytest.approx(50)
    recorder.end("done")
    assert recorder.job.state().seconds_left is None


def test_the_ninth_has_a_page_a_command_and_references(store: SessionStore, capsys: pytest.CaptureFixture[str]) -> None:
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
