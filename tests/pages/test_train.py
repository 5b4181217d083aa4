from __future__ import annotations

import json
import os
import re
import shutil
import socket
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.session.curves import training_curves
from frozenlab.app.train.form import TRANSFORMERS
from frozenlab.app.train.watch import WAITED, steps
from frozenlab.app.ui.live import address
from frozenlab.base.files import append_line, write_text
from frozenlab.engineer import hosts
from frozenlab.engineer.engineers import ApiEngineer
from frozenlab.engineer.guard import GuardSettings
from frozenlab.jobs import launcher
from frozenlab.jobs.job import STOP_FILE
from frozenlab.jobs.queue.db import QueueDB, QueuedJob
from frozenlab.jobs.state import Status, store_state
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.presets import preset
from frozenlab.models import fetching
from frozenlab.models.folders import PLANNER
from frozenlab.models.training.methods import title_of
from frozenlab.session import launch
from frozenlab.session.presets import preset_spec
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.state import Phase, State
from frozenlab.session.store import SessionStore
from tests.api_server import fails, says, serving
from tests.builders import build_session, small_spec
from tests.pages.apptest import components, open_page, shown, words

pytestmark = pytest.mark.usefixtures("sessions_folder")
FIELDS = ("selectbox", "number_input", "text_input", "button_group", "segmented_control", "toggle")


def fill(app: AppTest, **values: Any) -> AppTest:
    """The form with these values, by the keys of their fields without ``form_``."""
    for name, value in values.items():
        next(field for kind in FIELDS for field in getattr(app, kind) if field.key == f"form_{name}").set_value(value)
    return app.run()


def begin(app: AppTest, launched: list[SessionSpec]) -> SessionSpec:
    """The spec of the one session that the button of the form starts."""
    app.button(key="form_start").click().run()
    (spec,) = launched
    return spec


def designed(config: str) -> AppTest:
    """The page with a config that comes from Design."""
    app = open_page("train")
    app.session_state["design_config"] = config
    return app.run()


@pytest.fixture
def alive(monkeypatch: pytest.MonkeyPatch) -> None:
    """The worker of every session lives."""
    monkeypatch.setattr("frozenlab.jobs.state.worker_alive", lambda state: True)


@pytest.fixture
def running(sessions_folder: Path, alive: None) -> Session:
    """A session in its second stage."""
    return build_session(sessions_folder, status="running", finished_stages=1)


def test_with_no_session_the_form_is_open_and_starts_the_quick_session(launched: list[SessionSpec]) -> None:
    app = open_page("train")
    assert app.title[0].value == "What should run?"
    assert "frozenlab run --preset quick" in [code.value for code in app.code]
    download = next(code.value for code in app.code if code.value.startswith("{"))
    assert SessionSpec.model_validate_json(download) == preset_spec("quick")
    assert [part.label for part in app.expander if part.proto.expanded] == [], "two fields and Start are enough"
    assert begin(app, launched) == preset_spec("quick")
    assert app.title[0].value == "Is the model learning?"


def test_the_form_sets_every_part_of_the_spec(launched: list[SessionSpec]) -> None:
    training = {"steps": 7, "boards_per_step": 16, "completions_per_board": 4, "learning_rate": 5e-5}
    others = {"title": "Mine", "stages": 2, "seed": 5}
    engineer = {"engineer": "rules", "sections": ["failures", "statistics"]}
    spec = begin(fill(open_page("train"), **engineer, **others, **training, boards_per_cell=9), launched)
    assert (spec.engineer.kind, spec.sections, spec.suite.boards_per_cell) == ("rules", ("failures", "statistics"), 9)
    assert {name: getattr(spec, name) for name in others} == others
    assert {name: getattr(spec.training, name) for name in training} == training


def test_an_api_engineer_has_a_server_and_a_key(launched: list[SessionSpec], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_API_KEY", raising=False)
    monkeypatch.setenv(hosts.VARIABLE, "127.0.0.1:8000")
    app = fill(open_page("train"), engineer="api")
    assert "Which model is the engineer?" in app.info[0].value and not app.error
    fill(app, api_model="Qwen/Qwen3-4B", api_key_variable="MY_API_KEY")
    assert "MY_API_KEY is not set on this machine" in words(app)
    server = ApiEngineer(base_url="http://127.0.0.1:8000/v1", model="Qwen/Qwen3-4B", key_variable="MY_API_KEY")
    assert begin(app, launched).engineer == server


def test_the_connection_to_a_server_is_tried_and_its_models_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    with serving(says("ready")) as server:
        app = fill(open_page("train"), engineer="api")
        fill(app, api_base_url=server.url)
        assert app.button(key="form_api-test").disabled, "nobody has allowed this server"
        hosts.allow(server.url)
        app.run().button(key="form_api-test").click().run()
        assert "answers, and lists 2 models" in app.success[0].value
        next(pills for pills in app.button_group if pills.key == "form_api-models").set_value("large").run()
        assert app.session_state["form_api_model"] == "large"
        app.button(key="form_api-test").click().run()
        assert "large wrote 'ready' after" in shown(app.success[0].value) and server.seen[0]["model"] == "large"
        server.script = [fails(404)]
        app.text_input(key="form_api_model").set_value("other").run().button(key="form_api-test").click().run()
        assert "does not list other" in app.error[0].value


@pytest.mark.parametrize(
    ("presets", "method"),
    [(["quick"], "imitation"), (["study"], "expert-iteration"), (["long"], "grpo"), (["qwen3-0.6b", "study"], "grpo")],
)
def test_a_preset_fills_the_form_for_each_method(presets: list[str], method: str, launched: list[SessionSpec]) -> None:
    """Also after one of a language model."""
    app = open_page("train")
    for name in presets:
        fill(app, preset=name)
    fill(app, method=method)
    assert f"by **{title_of(method)}**" in words(app) and "sampled plans on" in words(app)
    assert begin(app, launched) == preset_spec(presets[-1], method=method)


def test_a_language_models_preset_asks_for_the_model_and_says_what_it_takes(
    launched: list[SessionSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frozenlab.app.train.preview.shortfalls", lambda spec, waits: [])
    app = fill(fill(open_page("train"), method="imitation"), preset="paper")
    assert app.selectbox(key="form_method").value == "grpo", "its one method"
    said = words(app)
    assert "4 billion weights" in said and "GiB" in said and "on an NVIDIA H100" in said
    trained = {"policy": "Qwen/Qwen3-8B", "rank": 0, "max_tokens": 20_000, "processes": 4, "completions_per_board": 7}
    fill(app, **trained, compact=True, guidance=False, writer=TRANSFORMERS)
    assert "answers in a form without thoughts: leave thinking off" in words(app)
    fill(app, thinking=False)
    assert "8.2 billion weights" in words(app)
    spec = begin(app, launched)
    language = spec.language
    assert spec.policy == "Qwen/Qwen3-8B" and language is not None
    assert (language.lora, language.vllm, language.thinking, language.launcher.processes) == (None, None, False, 4)
    assert language.question == "compact"
    assert (spec.engineer.guidance, language.rows) == (False, 4), "32 boards x 7 plans, shared by four, come out even in passes of four"
    assert (language.max_tokens, language.context) == (20_000, 40_000)


def test_the_model_is_chosen_from_the_beginning(launched: list[SessionSpec], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.app.train.preview.shortfalls", lambda spec, waits: [])
    monkeypatch.setattr("frozenlab.app.train.preview.on_processor", lambda settings: True)
    app = open_page("train")
    assert app.selectbox(key="form_student").value == "lab-model"
    fill(app, student=PLANNER)
    plain = preset_spec("smollm2")
    assert (app.selectbox(key="form_preset").value, app.selectbox(key="form_engineer").value) == ("smollm2", plain.engineer.kind)
    assert app.toggle(key="form_compact").value and app.number_input(key="form_rank").disabled, "as it was taught, with its adapters"
    assert "noise" in words(fill(app, engineer="policy")) and "noise" not in words(fill(app, engineer=plain.engineer.kind))
    said = words(app)
    assert "0.13 billion weights" in said and "GiB** of memory" in said
    assert "Fetch SmolLM2-135M-Instruct · 93 MB, Apache-2.0" in [button.label for button in app.button]
    fill(app, student="other")
    assert not app.toggle(key="form_compact").value and not app.number_input(key="form_rank").disabled
    assert "Which model? Name a folder on this machine, or a model on the hub" in app.info[0].value
    fill(app, policy="Qwen/Qwen3-0.6B", rows=2, dtype="float32", device="cpu")
    said = words(app)
    assert "0.6 billion weights" in said and "of CPU time" in said and "that it takes here" in said
    spec = begin(app, launched)
    assert plain.language is not None and spec.policy == "Qwen/Qwen3-0.6B"
    assert spec.language == plain.language.model_copy(update={"rows": 2, "dtype": "float32", "device": "cpu", "question": "full"})
    assert (spec.training, spec.engineer) == (plain.training, plain.engineer)


@pytest.mark.parametrize(("first", "then"), [(PLANNER, "lab-model"), ("other", "lab-model"), ("other", PLANNER)])
def test_another_model_brings_the_preset_that_it_needs(
    first: str, then: str, launched: list[SessionSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frozenlab.app.train.preview.shortfalls", lambda spec, waits: [])
    spec = begin(fill(fill(open_page("train"), student=first), student=then), launched)
    assert spec == preset_spec("smollm2" if then == PLANNER else "quick")


def test_smollm2_is_fetched_from_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    monkeypatch.setattr(fetching, "begin", begun.append)
    monkeypatch.setattr(
        fetching,
        "progress",
        lambda name: fetching.Progress("fetching", "20 of 93 MB", 0.2) if begun else fetching.Progress("failed", "no network"),
    )
    app = fill(open_page("train"), student=PLANNER)
    assert "no network" in [error.value for error in app.error]
    app.button(key="form_fetch").click().run()
    assert begun == ["smollm2"] and "form_fetch" not in [button.key for button in app.button]
    assert "Fetching SmolLM2-135M-Instruct: 20 of 93 MB" in [bar.proto.text for bar in app.get("progress")]


def test_shortfalls_of_this_machine_are_shown_before_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.app.train.preview.shortfalls", lambda spec, waits: ["it needs a GPU, and there is none"])
    app = fill(open_page("train"), preset="qwen3-0.6b")
    assert "It needs a GPU, and there is none" in app.error[0].value
    assert app.button(key="form_start").disabled


def test_what_a_preset_filled_in_can_be_changed(launched: list[SessionSpec]) -> None:
    app = open_page("train")
    app.number_input(key="form_steps").set_value(7)
    fill(fill(app, preset="demo"), boards_per_step=16)
    demo = preset_spec("demo")
    assert begin(app, launched) == demo.model_copy(update={"training": demo.training.model_copy(update={"boards_per_step": 16})})


def test_the_form_says_that_a_session_would_wait_and_lets_it_begin_at_once(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(os.cpu_count() or 1):
        other = build_session(sessions_folder, session_id=f"other-{n}", status="running", finished_stages=1)
        QueueDB(sessions_folder).add(replace(QueuedJob.of(other), running=True, pid=os.getpid(), began=time.time()))
    monkeypatch.setattr("frozenlab.jobs.queue.look.wake_if_needed", lambda root: None)
    started = []
    monkeypatch.setattr("frozenlab.session.launch.submit", lambda session, urgent: started.append((session, urgent)))
    app = open_page("train", session="other-0")
    app.button(key="new").click().run()
    assert f"This machine is at work: {os.cpu_count()} running. This session will be next in line." in app.info[0].value
    app.checkbox(key="form_urgent").check().run()
    app.button(key="form_start").click().run()
    ((session, urgent),) = started
    assert urgent and app.query_params["session"] == session.id


@pytest.mark.parametrize(("method", "label", "panel"), [("grpo", "GRPO", "reward"), ("expert-iteration", "expert iteration", "loss")])
def test_the_live_view_names_the_method_and_shows_its_measure(sessions_folder: Path, method: str, label: str, panel: str) -> None:
    spec = small_spec()
    build_session(sessions_folder, spec.model_copy(update={"training": spec.training.model_copy(update={"method": method})}))
    app = open_page("train", session="built")
    assert f"{label} · engineer: the model itself · 3 stages" in words(app)
    assert f'"text":"{panel}"' in app.get("plotly_chart")[0].proto.spec.replace(" ", "")


def test_a_config_from_design_opens_the_form_with_it(sessions_folder: Path, launched: list[SessionSpec]) -> None:
    build_session(sessions_folder)
    assert open_page("train").title[0].value == "Is the model learning?"
    config = EnvironmentConfig.uniform((4, 8), agents=3, hole_ratio=0.3, wait_ratio=0.3, layouts={"maze": 0.5, "rooms": 0.5})
    app = designed(config.to_json())
    assert app.title[0].value == "What should run?" and "50 % rooms, 50 % maze" in words(app)
    spec = begin(app, launched)
    assert spec.initial_config == config and spec.suite.sizes == (4, 8)


def test_a_preset_begins_a_session_and_layouts_can_be_allowed(launched: list[SessionSpec]) -> None:
    spec = begin(fill(open_page("train"), source="the preset small-first", layouts=["open", "maze"]), launched)
    assert spec.initial_config == preset("small-first") and spec.layouts == ("maze", "open")


def test_a_session_can_be_continued_from_its_last_config(sessions_folder: Path, launched: list[SessionSpec]) -> None:
    session = build_session(sessions_folder)
    app = open_page("train").button(key="new").click().run()
    assert begin(fill(app, source="built"), launched).initial_config == session.proposal(2).config_after


LIKE_SPEC = small_spec(
    2, title="as it was", engineer="rules", sections=("failures",), ask_first=True, guard=GuardSettings(max_step=0.5), seed=4,
)  # fmt: skip


def test_a_new_session_begins_as_another_one_with_changes_and_several_seeds(sessions_folder: Path, launched: list[SessionSpec]) -> None:
    build_session(sessions_folder, LIKE_SPEC, "first")
    app = open_page("train", like="first")
    assert "like" not in app.query_params and app.title[0].value == "What should run?"
    assert app.selectbox(key="form_preset").value == "train_like" and "as in as it was" in app.selectbox(key="form_preset").options
    fill(app, steps=3, times=2)
    assert "frozenlab run spec.json --seed 5" in words(app)
    app.button(key="form_start").click().run()
    steps = LIKE_SPEC.training.model_copy(update={"steps": 3})
    assert launched == [LIKE_SPEC.changed(training=steps, seed=seed, title=f"as it was, seed {seed}") for seed in (4, 5)]


def test_a_fork_or_a_session_with_an_api_engineer_can_be_begun_again(sessions_folder: Path, launched: list[SessionSpec]) -> None:
    api = ApiEngineer(model="large", base_url="http://127.0.0.1:9/v1", timeout=7.0)
    spec = small_spec(title="asks", stages=2, engineer=api, parent={"session": "x", "stage": 0})
    SessionStore().create(spec, "asks")
    fields = {name: open_page("train", like="asks").session_state[f"form_api_{name}"] for name in ("model", "base_url", "timeout")}
    assert fields == {"model": "large", "base_url": "http://127.0.0.1:9/v1", "timeout": 7.0}


def test_a_file_fills_the_form(launched: list[SessionSpec]) -> None:
    app = open_page("train")
    for name, data in (("notes.json", b'{"stages": 2}'), ("spec.json", LIKE_SPEC.model_dump_json().encode())):
        app.file_uploader(key="form_spec_file").set_value((name, data, "application/json")).run()
        assert [error.value for error in app.error if "is not the spec of a session" in error.value] == [
            error.value for error in app.error
        ][: name == "notes.json"]
    app.button(key="form_start").click().run()
    assert launched == [LIKE_SPEC]


def test_a_config_that_cannot_be_drawn_is_refused_with_the_reason() -> None:
    sizes = {"3": {"share": 0.5, "hole_ratio": 0.9, "wait_ratio": 0.5}, "12": {"share": 0.5, "hole_ratio": 0.1, "wait_ratio": 0.1}}
    app = designed(json.dumps({"agents": 2, "sizes": sizes}))
    reasons = "".join(error.value for error in app.error)
    assert "12×12" in reasons
    assert "3x3" in reasons or "size 3" in reasons.lower()
    assert app.button(key="form_start").disabled


def test_a_finished_session_says_what_training_did(sessions_folder: Path) -> None:
    session = build_session(sessions_folder)
    app = open_page("train", session="built")
    after = 100 * session.validation(2)["valid"].mean()
    said = words(app)
    assert f"to <b>{after:.0f} %</b>" in said
    assert "n = 48" in said
    assert "After stage 1 the engineer changed" in said
    assert {button.key for button in app.button} == {"new", "again", "train-present"}


def test_a_stopped_session_can_be_resumed(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_session(sessions_folder, status="stopped", finished_stages=1)
    resumed: list[str] = []
    monkeypatch.setattr(launch, "resume", lambda session, store: resumed.append(session.id))
    app = open_page("train", session="built")
    assert "Resume continues from there" in words(app)
    app.button(key="resume").click().run()
    assert resumed == ["built"]


def test_a_session_that_does_not_fit_is_not_resumed(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = small_spec().changed(policy="smollm2", engineer="rules", language={"vllm": None, "rows": 1})
    session = build_session(sessions_folder, large, status="stopped", finished_stages=1)
    monkeypatch.setattr(launch, "shortfalls", lambda spec, waits: ["it needs 4.0 GiB of memory"] if waits else [])
    app = open_page("train", session="built")
    app.button(key="resume").click().run()
    assert "this session cannot run here: it needs 4.0 GiB of memory" in words(app)
    assert session.state().status == "stopped"


def beats(app: AppTest) -> list[dict[str, Any]]:
    """What the page shows of a live session until its feed tells more."""
    return [given["beat"] for given in components(app, "beat") if given["beat"]]


def test_a_page_that_is_not_live_joins_no_feed(running: Session) -> None:
    def joined(app: AppTest) -> list[str | None]:
        return [given["feed"] for given in components(app, "feed")]

    app = open_page("train", session="built")
    assert joined(app) == [address(running)]
    assert joined(app.toggle(key="live").set_value(False).run()) == [None]


def test_the_browser_can_tell_of_the_end_where_people_wait_for_it(running: Session) -> None:
    """Also where the queue has not heard of the end yet, as its worker is still about to leave."""

    def ended(app: AppTest) -> list[list[dict[str, str]]]:
        return [given["ended"] for given in components(app, "ended")]

    assert ended(open_page("train", session="built")) == [[]]
    store_state(running.dir, running.state().model_copy(update={"status": "done", "finished": 1_780_000_100.5}))
    app = open_page("train", session="built")
    assert ended(app) == [], "no reader waits for what has ended"
    app.session_state[WAITED] = {"built"}
    assert ended(app.run()) == [[{"id": f"{running.dir}@1780000100.5", "title": "Built session", "status": "done"}]]


def test_a_running_session_shows_progress_time_left_and_its_heartbeat(running: Session) -> None:
    app = open_page("train", session="built")
    assert running.state().status == "stalled"  # its heartbeat is years old
    assert "The worker lives but is silent" in words(app)
    (beat,) = beats(app)
    assert re.fullmatch(r"Stage 2 of 3: training, step 4 of 8 · \d+ % of the newest plans valid · 50 % of the session", beat["words"])
    assert beat["progress"] == 0.5 and beat["age"] > 1e6
    assert app.button(key="stop")


@pytest.mark.parametrize(
    ("phase", "done", "shown"),
    [("starting", 0.0, "1 min"), ("baseline", 0.5, "24 of 48 boards · 1 min"), ("generating", 0.0, "1 min")],
)
def test_the_first_minute_is_three_steps_with_a_clock_and_no_empty_chart(
    sessions_folder: Path, alive: None, monkeypatch: pytest.MonkeyPatch, phase: Phase, done: float, shown: str
) -> None:
    build_session(sessions_folder, session_id="other")
    session = SessionStore(sessions_folder).create(small_spec(), "young")
    now = time.time()
    monkeypatch.setattr("frozenlab.app.train.watch.time", SimpleNamespace(time=lambda: now))
    state = State(status="running", phase=phase, phase_done=done, phase_since=now - 60, started=now - 70, heartbeat=now, steps=8)
    write_text(session.dir / "state.json", state.model_dump_json())
    app = open_page("train", session="young")
    said = words(app)
    assert all(step in said for step in ("Load the model", "Validate the base", "Draw the boards of stage 1", f">{shown}</span>"))
    assert not app.get("plotly_chart")
    assert "of another session, Built session" in said, "a board that training solved is played meanwhile"


def test_the_first_minute_of_a_session_that_asks_first_has_a_step_for_it(sessions_folder: Path) -> None:
    spec = small_spec(ask_first=True)
    spec = spec.changed(test=spec.suite.model_copy(update={"boards_per_cell": 30}))
    session = SessionStore(sessions_folder).create(spec, "young")
    asking = steps(session, State(status="running", phase="asking"))
    assert [(title, stands) for title, _, stands, _ in asking] == [
        ("Load the model", "done"), ("Validate the base", "done"), ("Ask the engineer", "now"), ("Draw the boards of stage 1", "next"),
    ]  # fmt: skip
    validating = State(status="running", phase="baseline", phase_done=0.5, started=1.0)
    assert (
        steps(session, validating)[1][3].startswith("24 of 48 boards") and "48 and 120 held-out boards" in steps(session, validating)[1][1]
    )
    shutil.copytree(build_session(sessions_folder).stage_dir(None), session.stage_dir(None))
    assert steps(session, validating)[1][3].startswith("60 of 120 boards"), "the validation boards are done, the test boards are not"


def test_a_session_that_is_asked_to_stop_says_that_it_is_stopping(running: Session) -> None:
    (running.dir / STOP_FILE).touch()
    app = open_page("train", session="built")
    assert beats(app)[0]["words"].startswith("Stopping after this step. Stage 2 of 3: training")
    assert {button.key for button in app.button} == {"new", "again", "train-present"}, "it cannot be asked twice"
    assert "stopping" in words(app)


@pytest.mark.parametrize("status", ["running", "stopped", "failed"])
def test_the_stage_that_holds_the_curve_stays_chosen_when_it_ends_early(sessions_folder: Path, status: Status) -> None:
    build_session(sessions_folder, status=status, finished_stages=0)
    assert [given["selected"] for given in components(open_page("train", session="built"), "selected")] == [1]


def test_stopping_asks_first(running: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped: list[str] = []
    monkeypatch.setattr(launcher, "stop", lambda session: stopped.append(session.id))
    app = open_page("train", session="built")
    app.button(key="stop").click().run()
    assert not stopped
    app.button(key="stop-yes").click().run()
    assert stopped == ["built"]


def test_a_dead_worker_is_reported(sessions_folder: Path) -> None:
    build_session(sessions_folder, status="running", finished_stages=1)
    app = open_page("train", session="built")
    assert any("The worker died" in error.value for error in app.error)
    assert app.button(key="resume")


def test_a_failed_session_shows_why_as_text(sessions_folder: Path) -> None:
    session = build_session(sessions_folder, status="failed", finished_stages=1)
    state = session.state().model_copy(update={"error": "ValueError: ![x](http://example.com/x)"})
    write_text(session.dir / "state.json", state.model_dump_json())
    app = open_page("train", session="built")
    assert "ValueError: ![x](http://example.com/x)" in [code.value for code in app.code]
    assert not links(app)


def links(app: AppTest) -> list[str]:
    """Queries of the links to a recorded session in place of one that failed."""
    return [link.proto.query_string for link in app.get("page_link") if link.proto.label == "Show the recorded session instead"]


def test_a_failed_session_gives_way_to_the_one_that_present_falls_back_to(sessions_folder: Path) -> None:
    build_session(sessions_folder, session_id="recorded")
    build_session(sessions_folder, session_id="live", status="failed", finished_stages=1)
    assert links(open_page("train", session="live")) == ["session=recorded"]


def test_recorded_sessions_cannot_be_changed(sessions_folder: Path) -> None:
    build_session(sessions_folder, session_id="example-built", status="stopped", finished_stages=1)
    assert {button.key for button in open_page("train", session="example-built").button} == {"new", "again", "train-present"}


def test_a_session_that_has_only_been_queued_is_no_error(sessions_folder: Path) -> None:
    session = SessionStore(sessions_folder).create(small_spec(), "queued")
    write_text(session.dir / "state.json", State(heartbeat=4e9, host=socket.gethostname()).model_dump_json())
    assert "queued" in words(open_page("train", session="queued"))


def test_figures_of_a_live_session_are_drawn_once_for_all_viewers(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    monkeypatch.setattr(
        "frozenlab.app.train.watch.training_curves", lambda *given, **named: drawn.append(1) or training_curves(*given, **named)
    )
    session = build_session(sessions_folder, status="running", finished_stages=1)
    for _ in range(3):
        open_page("train", session=session.id)
    assert len(drawn) == 1
    append_line(session.stage_dir(1) / "metrics.jsonl", {"step": 7, "reward": 0.5, "valid": 0.5, "optimal": 0.5})
    for _ in range(2):
        open_page("train", session=session.id)
    assert len(drawn) == 2
