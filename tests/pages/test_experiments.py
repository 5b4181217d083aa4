"""What the pages of all experiments have in common: they go on, are stopped, deleted and brought back there, and say why nothing starts."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from frozenlab.experiments.benchmark.results import SHIPPED
from frozenlab.experiments.benchmark.task import Evaluation, task_for
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.diagnosis.task import task_for as diagnosis_of
from frozenlab.experiments.experiment import Experiment
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.experiments.shelf import shelf
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs import launcher
from frozenlab.jobs.job import Job
from frozenlab.jobs.state import WorkerState, own_process
from frozenlab.session.store import SessionStore
from tests.builders import build_session
from tests.contests.builders import tiny_contest
from tests.headroom.builders import tiny_spec
from tests.pages.apptest import open_page, shown, source, words
from tests.pages.test_replay import asked
from tests.planted import planted

PAGES = {
    "study": "studies", "diagnosis": "studies", "contest": "contest", "replay": "replay", "headroom": "headroom",
    "evaluation": "benchmark", "result": "benchmark",
}  # fmt: skip
MAKE: dict[str, Callable[[SessionStore], Job]] = {
    "study": lambda store: Study.create(engineers_study(2), store, "mine"),
    "diagnosis": lambda store: Diagnosis.create(diagnosis_of([planted(store, "weak-5", ("5",))]), store, "mine"),
    "contest": tiny_contest,
    "replay": lambda store: asked(store.root, answers=7),
    "headroom": lambda store: Headroom.create(tiny_spec(), store, "mine"),
    "evaluation": lambda store: Evaluation.create(task_for("lab-model", "quick", store), store),
}


@pytest.fixture(autouse=True)
def no_dispatcher(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for starter in ("frozenlab.jobs.launcher.wake", "frozenlab.jobs.queue.look.wake_if_needed"):
        monkeypatch.setattr(starter, lambda root: None)
    monkeypatch.setattr("frozenlab.experiments.replays.store.Replay.shipped", list)


def made(kind: str, **state: Any) -> Path:
    """The folder of a job of the kind in this state; a result is one of those that ship, as one's own."""
    if kind == "result":
        shipped = next(path.parent for path in sorted(SHIPPED.glob("*/report.json")))
        return Path(shutil.copytree(shipped, SessionStore().root / "results" / "mine"))
    job = MAKE[kind](SessionStore())
    (job.dir / "state.json").write_text(WorkerState.model_validate(state).model_dump_json())
    return job.dir


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("study", "Nothing can be compared yet"),
        ("replay", "This replay stopped, with 7 of 12 answers"),
        ("headroom", "This measurement stopped."),
    ],
)
def test_one_that_stopped_shows_what_it_has_and_goes_on(kind: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    job = made(kind, status="stopped").name
    resumed: list[str] = []
    monkeypatch.setattr(Experiment, "resume", lambda experiment, *_: resumed.append(experiment.id))
    app = open_page(PAGES[kind])
    assert said in words(app) and app.query_params[kind] == job, "one's own comes first"
    if kind == "replay":
        assert [frame.value["answers"].tolist() for frame in app.dataframe] == [[3, 2, 2]]
    app.button(key=f"{kind}-go-on").click().run()
    assert resumed == [job]


@pytest.mark.parametrize(
    ("kind", "status", "said", "button"),
    [
        ("study", "running", "0 of 10 sessions done", "study-stop"),
        ("replay", "running", "4 of 12 answers** · about 40 s left", "replay-stop"),
        ("evaluation", "queued", "waits to start", "cancel-{}"),
    ],
)
def test_one_under_way_shows_its_progress_and_is_stopped(
    kind: str, status: str, said: str, button: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = made(kind, status=status, progress=0.3, seconds_left=40.0, heartbeat=time.time(), **own_process()).name
    stopped: list[str] = []
    monkeypatch.setattr(launcher, "stop", lambda job: stopped.append(job.id))
    app = open_page(PAGES[kind], **{kind: job})
    assert said in app.get("progress")[0].proto.text
    assert kind != "replay" or len(app.get("plotly_chart")) == 1, "what is there is shown"
    app.button(key=button.format(job)).click().run()
    assert stopped == [job]


@pytest.mark.parametrize(
    ("kind", "status", "said", "button"),
    [
        ("study", "stopped", "This study stopped.", "study-delete"),
        ("diagnosis", "stopped", "This diagnosis stopped", "diagnosis-delete"),
        ("contest", "stopped", "", "contest-delete"),
        ("replay", "failed", "This replay failed, with 7 of 12 answers: PolicyError", "replay-delete"),
        ("headroom", "stopped", "This measurement stopped.", "headroom-delete"),
        ("evaluation", "failed", "PolicyError", "delete-{}"),
        ("result", "", "", "result-delete"),
    ],
)
def test_what_a_page_deletes_comes_back_there(kind: str, status: str, said: str, button: str) -> None:
    folder = made(kind, status=status, error="PolicyError: <b>no</b> weights" if status == "failed" else None)
    page, name = PAGES[kind], "evaluation" if kind == "result" else kind
    app = open_page(page, **({kind: folder.name} if page != "benchmark" else {}))
    assert said in words(app) and "<b>no" not in source(app)
    app.button(key=button.format(folder.name)).click().run()
    assert not folder.exists()
    assert [gone.name for gone in shelf.in_trash(SessionStore())] == [f"{name}:{folder.name}"]
    assert any("is in the trash" in message.value for message in app.success) and not app.error
    app.button(key=f"undo-{name}").click().run()
    assert not app.success and folder.exists() and said in words(app)
    assert not [message.value for message in app.error if "Not restored" in message.value]
    assert app.button(key=button.format(folder.name)) is not None


@pytest.mark.parametrize(
    ("page", "start", "buttons"),
    [
        ("home", "session.launch.start", ["start-quick"]),
        ("benchmark", "experiments.benchmark.task.Evaluation.start", ["measure", "measure-start"]),
        ("replay", "experiments.replays.store.Replay.start", ["replay-start"]),
        ("studies", "experiments.studies.store.Study.start", ["study-new", "study-start"]),
    ],
)
def test_a_refused_start_says_why(
    page: str, start: str, buttons: list[str], sessions_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise launcher.LaunchError("another session is running")

    monkeypatch.setattr(f"frozenlab.{start}", refuse)
    address = {"session": build_session(sessions_folder).id, "stage": "1"} if page == "replay" else {}
    app = open_page(page, **address)
    question = app.title[0].value
    for button in buttons:
        app.button(key=button).click().run()
    assert "Not started: another session is running." in shown(app.error[0].value)
    assert app.title[0].value == question
