"""What the pages of all experiments have in common: they go on, are stopped, deleted and brought back there, and say why nothing starts."""

from __future__ import annotations

import shlex
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from frozenlab.app.studies.form import KIND_WORDS as STUDIES
from frozenlab.base.errors import LabError
from frozenlab.cli.main import parse
from frozenlab.cli.model import evaluation_task
from frozenlab.experiments.benchmark.results import SHIPPED
from frozenlab.experiments.benchmark.task import Evaluation
from frozenlab.experiments.experiment import Experiment, RunSettings
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.shelf import shelf
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs import launcher
from frozenlab.jobs.state import WorkerState, own_process
from frozenlab.models.folders import PLANNER
from frozenlab.session.store import SessionStore
from tests.builders import build_session
from tests.kinds import MAKE
from tests.pages.apptest import open_page, shown, source, tables, words
from tests.pages.test_train import fill
from tests.planted import planted

PAGES = {
    "study": "studies", "diagnosis": "diagnosis", "contest": "contest", "replay": "replay", "headroom": "headroom",
    "evaluation": "benchmark", "result": "benchmark",
}  # fmt: skip


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
        assert [frame["answers"].tolist() for frame in tables(app)] == [[3, 2, 2]]
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
        ("study", "stopped", "This study stopped, with **0 of 10 sessions done**.", "study-delete"),
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


class Caught(LabError):
    """What would have been started."""


TWINS: list[tuple[str, dict[str, Any]]] = [
    *(("train", changed) for changed in (
        {}, {"method": "imitation"}, {"engineer": "rules", "seed": 5}, {"engineer": "api", "api_model": "some/model"}, {"steps": 7},
        {"test_boards": 20},
        {"preset": "demo", "schedule": "constant", "title": "it's mine"}, {"preset": "qwen3-0.6b"},
        {"preset": "qwen3-0.6b", "engineer": "base"}, {"student": "student:never-saw-4"}, {"student": PLANNER},
        {"preset": "smollm2", "engineer": "policy", "rows": 2, "dtype": "float32", "device": "cpu"},
    )),
    *(("studies", {"kind": kind}) for kind in STUDIES if kind not in ("guidance", "leave-one-out", "one-at-a-time")),
    *(("studies", changed) for changed in (
        {"kind": "students", "students-controls": [], "seeds-students": 2}, {"kind": "main", "seeds-main": 2, "jobs": 3},
        {"kind": "engineers", "engineers-asked": ["rules", "policy"], "engineers-controls": ["again", "blind"]},
        {"kind": "engineers", "engineers-asked": ["rules", "api"], "api_model": "some/model"},
        {"kind": "guidance", "api_model": "m"}, {"kind": "guard", "matters-guard": 2.5, "prediction": "it's the usual one"},
        {"kind": "sweep", "varied": ["method", "learning_rate"], "values-study-learning_rate": "3e-5, 2e-4, 1e-4"},
        {"kind": "one-at-a-time", "sections-one-at-a-time": ["self", "failures"]},
        {"kind": "guard", "arms-usual-strict-loose": ["usual", "loose"]},
        {"kind": "sections", "base": "demo"}, {"kind": "leave-one-out", "test-study": 20},
    )),
    *(("replay", {"kind": kind, "who-built-1": "rules"}) for kind in ("sections", "engineers")),
    *(("replay", {"kind": kind, "who-built-1": who, f"sections-{kind}": ["statistics", "self", "failures"], "samples": 3})
      for kind, who in (("sections", "base"), ("leave-one-out", "rules"), ("one-at-a-time", "uniform"))),
    ("replay", {"kind": "engineers", "engineers-built-1": ["uniform", "rules"]}),
    ("headroom", {"preset": "layouts", "students": ["lab-model", "student:never-saw-4"], "prediction": "it's 3 points, \"or\" more"}),
    ("benchmark", {"model": "built:2", "suite": "quick"}),
    ("benchmark", {"model": "student:never-saw-4", "suite": "paper", "guises": True}),
]  # fmt: skip
"""(page, what is changed in its form, by the keys of its fields)."""
OPEN = {"studies": "study-new", "headroom": "headroom-new", "benchmark": "measure"}
FORMS = {"train": "form_", "studies": "study-", "replay": "replay-", "headroom": "headroom-", "benchmark": "measure-"}


@pytest.mark.parametrize(
    ("page", "changed"), TWINS, ids=lambda value: value if isinstance(value, str) else ",".join(map(str, value.values()))
)
def test_the_command_beside_a_form_starts_what_the_form_starts(
    page: str, changed: dict[str, Any], sessions_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SessionStore()
    for size in ("4", "5"):
        planted(store, f"never-saw-{size}", (size,))
    if page != "train":  # which would open with it, and not with its form
        build_session(sessions_folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("frozenlab.app.train.preview.shortfalls", lambda spec, waits: [])
    monkeypatch.setattr("frozenlab.engineer.hosts.refusal", lambda server: None)
    monkeypatch.setattr(st, "download_button", lambda label, data, name, *_, **__: (tmp_path / name).write_text(data()))
    started: list[tuple[Any, RunSettings]] = []

    def note(spec: Any, store: SessionStore, name: str | None = None, run: RunSettings | None = None, **_: Any) -> None:
        started.append((spec, run or RunSettings()))
        raise Caught

    for kind in (Study, Replay, Headroom, Evaluation):
        monkeypatch.setattr(kind, "start", note)
        monkeypatch.setattr(kind, "create", note)
    for module in ("session.launch", "cli.session"):
        monkeypatch.setattr(f"frozenlab.{module}.start", note)

    app = open_page(page, **({"session": "built", "stage": "2"} if page == "replay" else {}))
    for key, value in changed.items():
        if page == "train":
            fill(app, **{key: value})
        app.session_state[FORMS[page] + key] = value
    if page in OPEN:
        app.button(key=OPEN[page]).click()
    app.run()
    *_, line = (code.value for code in app.code if code.value.startswith("frozenlab "))
    app.button(key=f"{FORMS[page]}start").click().run()
    options = parse(shlex.split(line)[1:])
    if page == "benchmark":
        assert options.out is None, "the result is on the page"
        started.append((evaluation_task(options, store), RunSettings()))
    else:
        with pytest.raises(Caught):
            options.run(options)
    form, command = started
    assert command == form
