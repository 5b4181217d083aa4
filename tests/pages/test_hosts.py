"""Before a server that is not allowed on this machine is asked, the page asks for permission."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

import frozenlab.session.launch
from frozenlab.base.files import write_text
from frozenlab.engineer import hosts
from frozenlab.engineer.engineers import ApiEngineer, RulesEngineer
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import arms_of_engineers, task_for
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.state import WorkerState
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.pages.apptest import open_page, words
from tests.pages.test_studies import form
from tests.pages.test_train import fill

HOST = "api.evil.example"
API = ApiEngineer(base_url=f"https://{HOST}/v1", model="m")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sessions, a study and a replay of another lab, which all ask a server."""
    store = SessionStore(tmp_path_factory.mktemp("theirs"))
    session = build_session(store.root, small_spec(stages=2, sizes=(3, 4), engineer=API), status="stopped")
    study = Study.create(engineers_study(2, engineers=("rules", API)), store, "mine")
    replay = Replay.create(task_for(session, 0, arms_of_engineers([RulesEngineer(), API], "api"), "engineers"), store, "mine")
    for job in (study, replay):
        write_text(job.dir / "state.json", WorkerState(status="stopped").model_dump_json())
    return store.root


@pytest.fixture(autouse=True)
def none_allowed(sessions_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.experiments.replays.store.Replay.shipped", list)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("FROZENLAB_API_KEY", "sk-secret")


def train_form() -> AppTest:
    app = open_page("train")
    app.session_state["train_new"] = True
    return fill(fill(app.run(), engineer="api"), api_model="m", api_base_url=API.base_url)


def replay_form() -> AppTest:
    return open_page("replay", session="built", stage="1").selectbox(key="replay-kind").select("engineers").run()


def study_form() -> AppTest:
    return form(kind="engineers", engineers__asked=["policy", "api"], api_model="m", api_base_url=API.base_url)


STARTS = {
    "train-form": (train_form, "form_start"),
    "train-resume": (lambda: open_page("train", session="built"), "resume"),
    "story-fork": (lambda: open_page("story", session="built", stage="1", part="wrote"), "fork-go"),
    "studies-form": (study_form, "study-start"),
    "studies-go-on": (lambda: open_page("studies", study="mine"), "study-go-on"),
    "replay-form": (replay_form, "replay-start"),
    "replay-go-on": (lambda: open_page("replay", replay="mine"), "replay-go-on"),
}


@pytest.mark.parametrize("place", STARTS)
def test_a_server_that_is_new_here_is_asked_about(place: str) -> None:
    opened, start = STARTS[place]
    app = opened()
    assert f"May {HOST} be asked?" in words(app) and "FROZENLAB_API_KEY" in words(app)
    assert app.button(key=start).disabled
    allow = next(button for button in app.button if button.key and button.key.endswith(f"-allow-{HOST}"))
    allow.click().run()
    assert hosts.hosts() == {HOST}
    app = opened()
    assert "be asked?" not in words(app) and not app.button(key=start).disabled


def test_nothing_starts_whatever_the_page_does(folder: Path) -> None:
    store = SessionStore(folder)
    session, study, replay = store.open("built"), Study.all(store)[0], Replay.all(store)[0]
    before = sorted(folder.rglob("*"))
    for start in (
        lambda: frozenlab.session.launch.start(session.spec, store),
        lambda: frozenlab.session.launch.resume(session, store),
        lambda: frozenlab.session.launch.start_fork(session, 0, store),
        lambda: Study.start(study.spec, store),
        lambda: study.resume(),
        lambda: Replay.start(replay.spec, store),
        lambda: replay.resume(),
    ):
        with pytest.raises(hosts.HostError, match=f"{HOST} has not been allowed on this machine yet: --allow-host {HOST} allows it"):
            start()
    assert sorted(folder.rglob("*")) == before
