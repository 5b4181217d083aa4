from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from core.sessions import launcher
from core.sessions.state import WorkerState
from core.sessions.store import SessionStore
from core.sessions.studies.report import StudyReport
from core.sessions.studies.spec import StudySpec, engineers_study
from core.sessions.studies.store import Study, create, shipped
from core.ui import markup
from tests.pages.apptest import open_page, words


@pytest.fixture(autouse=True)
def sessions_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("folder", shipped(), ids=lambda folder: folder.name)
@pytest.mark.parametrize("measure", ["valid", "optimal"])
def test_a_recorded_study_opens_by_its_address(folder: Path, measure: str) -> None:
    report = StudyReport.model_validate_json((folder / "report.json").read_text())
    app = open_page("studies", study=f"recorded-{folder.name}", measure=measure)
    assert not app.exception and not app.warning
    said = words(app)
    assert f"{report.cells} of {report.cells} sessions" in said
    assert (markup.plain(report.sentences[0]) in said) == (measure == "valid")
    assert len(app.get("plotly_chart")) == 3
    table, predictions = (frame.value for frame in app.dataframe)
    assert predictions["tested"].sum() == sum(one.n for one in report.predictions) > 0
    assert table["comparison"].tolist() == [row.name for row in getattr(report, measure).effects]


def test_an_unknown_study_is_said_and_another_is_shown() -> None:
    app = open_page("studies", study="<script>")
    assert not app.exception and "no such study" in app.warning[0].value
    assert str(app.query_params["study"]).startswith("recorded-")


def test_ones_own_study_that_waits_says_so_and_can_go_on(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = create(engineers_study(2), SessionStore(sessions_folder), "mine")
    (study.dir / "state.json").write_text(WorkerState(status="stopped").model_dump_json())
    resumed: list[Study] = []
    monkeypatch.setattr(launcher, "resume_study", lambda study, store, jobs: resumed.append(study))
    app = open_page("studies")
    assert app.query_params["study"] == "mine"
    assert "Nothing can be compared yet" in app.info[0].value
    app.button(key="study-go-on").click().run()
    assert [study.id for study in resumed] == ["mine"]


def test_a_running_study_tells_how_far_it_is_and_can_be_stopped(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = create(engineers_study(2), SessionStore(sessions_folder), "mine")
    mine = {
        "status": "running",
        "pid": os.getpid(),
        "create_time": psutil.Process().create_time(),
        "heartbeat": time.time(),
        "progress": 0.3,
    }
    (study.dir / "state.json").write_text(WorkerState.model_validate(mine).model_dump_json())
    stopped: list[Any] = []
    monkeypatch.setattr(launcher, "stop", stopped.append)
    app = open_page("studies", study="mine")
    assert "0 of 10 sessions done" in app.get("progress")[0].proto.text
    app.button(key="study-stop").click().run()
    assert [study.id for study in stopped] == ["mine"]


def test_a_study_is_started_from_the_form(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[StudySpec, int]] = []

    def start(spec: StudySpec, store: SessionStore, jobs: int, study_id: str | None = None) -> Any:
        started.append((spec, jobs))
        return create(spec, store, "made")

    monkeypatch.setattr(launcher, "start_study", start)
    app = open_page("studies")
    # A test's run draws a dialog only if the button that opens it was clicked in that run.
    app.session_state["study-kind"], app.session_state["study-seeds-engineers"] = "engineers", 4
    app.button(key="study-new").click().run()
    assert "20 sessions" in words(app)
    app.button(key="study-start").click().run()
    [(spec, jobs)] = started
    assert (spec.seeds, jobs, len(spec.arms)) == ((0, 1, 2, 3), os.cpu_count(), 5)
    assert app.query_params["study"] == "made"


def test_a_refusal_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise launcher.LaunchError("a session is running")

    monkeypatch.setattr(launcher, "start_study", refuse)
    app = open_page("studies").button(key="study-new").click().run()
    app.button(key="study-start").click().run()
    assert "a session is running" in app.error[0].value
