"""A viewer's clicks, on every button: nothing is started, stopped, written or deleted."""

from __future__ import annotations

import hashlib
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from frozenlab.app import allowances
from frozenlab.app.learn import records
from frozenlab.app.ui import nav
from frozenlab.base import limits, roles
from frozenlab.base.roles import NotAllowedError, Person, Role
from frozenlab.engineer.engineers import engineer_of
from frozenlab.engineer.engineers.api import ApiEngineer
from frozenlab.experiments.benchmark.evaluations import Evaluation
from frozenlab.experiments.benchmark.task import task_for
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import task_against
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.diagnosis.task import task_for as diagnosis_of
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.experiments.replays.arms import arms_of_engineers
from frozenlab.experiments.replays.store import Answer, Replay, write_answers
from frozenlab.experiments.replays.task import task_for as replay_of
from frozenlab.experiments.shelf import shelf
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs import launcher
from frozenlab.jobs.state import store_state, stored_state
from frozenlab.models.settings import LanguageSettings
from frozenlab.session import launch
from frozenlab.session.labels import Labels
from frozenlab.session.presets import preset_spec
from frozenlab.session.session import Checkpoint, Session
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.contests.builders import tiny_contest
from tests.headroom.builders import tiny_spec
from tests.pages.apptest import open_page, words
from tests.planted import planted

HARMLESS = {".index.json"}
ONLY = "Only an operator "
"""What the hint of a button begins with that viewers cannot press."""
QUEUE = {"q-queue-pause", "q-now", "q-pause", "q-cancel"}
"""Buttons of a queue in which a job waits."""


@pytest.fixture
def session(sessions_folder: Path) -> Session:
    return SessionStore().create(preset_spec("demo"), "mine")


@pytest.fixture
def as_viewer(session: Session, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def no_process(command: list[str], **options: object) -> None:
        if "frozenlab.jobs" in " ".join(command):
            raise AssertionError(f"a viewer started {command}")
        raise FileNotFoundError(command[0])  # as what asks for graphics cards expects

    monkeypatch.setattr(subprocess, "Popen", no_process)
    monkeypatch.setattr(limits, "_purse", limits.Purse())
    st.cache_data.clear()  # what is there already costs nothing
    roles.ask(lambda: Person(Role.VIEWER, "somebody"))
    yield
    roles.ask(roles.whoever_is_here)


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What viewers were refused; it grows."""
    found: list[str] = []

    class Noted(NotAllowedError):
        def __init__(self, why: str) -> None:
            super().__init__(why)
            found.append(why)

    monkeypatch.setattr(roles, "NotAllowedError", Noted)
    return found


@pytest.fixture
def halted(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab with a job of every kind that was stopped, a session that waits for a person, one in the trash and one in the queue."""
    full_lab(sessions_folder, monkeypatch, {"status": "stopped"})


@pytest.fixture
def running(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same lab with the jobs under way."""
    worker = {"pid": os.getpid(), "create_time": psutil.Process().create_time(), "heartbeat": time.time(), "host": socket.gethostname()}
    full_lab(sessions_folder, monkeypatch, {"status": "running"} | worker)


def full_lab(root: Path, monkeypatch: pytest.MonkeyPatch, now: dict[str, Any]) -> None:
    for starter in ("frozenlab.jobs.launcher.wake", "frozenlab.jobs.queue.look.wake_if_needed"):
        monkeypatch.setattr(starter, lambda root: None)
    store, small = SessionStore(root), small_spec(stages=2, sizes=(3, 4), boards_per_size=4)
    told = build_session(root, small, "told")
    asked = build_session(root, small.changed(engineer="human"), "asked", finished_stages=1)
    (asked.stage_dir(0) / "proposal.json").unlink()
    put(asked.dir, {"status": "waiting", "stage": 0, "phase": "proposing"})
    shelf.delete(store.create(small, "gone"), store)
    launcher.submit(store.create(small, "waits"))
    arms = arms_of_engineers(map(engineer_of, ("rules", "fixed")), "rules")
    replay = Replay.create(replay_of(told, 0, arms, "engineers", samples=2), store, "mine")
    record = told.proposal(0)
    assert record is not None
    write_answers(replay.dir, [Answer("rules", 0, record)])
    contest = tiny_contest(store)
    far = ApiEngineer(base_url="https://far.example/v1", model="theirs")
    for job in (
        store.create(small.changed(engineer=far), "half"),
        replay,
        contest,
        Study.create(engineers_study(1, session=small, engineers=("rules", "fixed")), store, "mine"),
        Headroom.create(tiny_spec(), store, "mine"),
        Diagnosis.create(diagnosis_of([planted(store, "never-saw-5", ("5",))]), store, "mine"),
        Evaluation.create(task_for("lab-model", "quick", store), store),
    ):
        put(job.dir, now)


def put(folder: Path, now: dict[str, Any]) -> None:
    state = stored_state(folder)
    assert state is not None
    store_state(folder, state.model_copy(update=now))


def contents(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in HARMLESS)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.usefixtures("as_viewer")
def test_nothing_is_started_stopped_or_deleted_for_a_viewer(session: Session, sessions_folder: Path) -> None:
    store, before = SessionStore(), contents(sessions_folder)
    for change in (
        lambda: launch.start(preset_spec("demo"), store),
        lambda: launch.resume(session, store),
        lambda: launcher.submit(session),
        lambda: launcher.queue(session),
        lambda: launcher.launch(session),
        lambda: launcher.stop(session),
        lambda: launcher.cancel(store.root, session.dir),
        lambda: launcher.pause_queue(store.root),
        lambda: launcher.make_urgent(store.root, session.dir),
        lambda: shelf.delete(session, store),
        lambda: shelf.restore("mine", store),
        lambda: shelf.empty_trash(store),
        lambda: shelf.label(session, Labels(title="another")),
        lambda: Contest.start(task_against(None), store),
    ):
        with pytest.raises(NotAllowedError, match="only an operator may"):
            change()
    assert contents(sessions_folder) == before


@pytest.mark.usefixtures("as_viewer")
def test_a_viewer_hands_in_exercises(sessions_folder: Path) -> None:
    records.hand_in("7b", "Ada", "wait", True, SessionStore())
    assert len(records.results("7b", SessionStore())) == 1


@pytest.mark.usefixtures("as_viewer")
@pytest.mark.parametrize(
    ("name", "allowance", "button"),
    [("play", allowances.PLANS, "play_plan"), ("play", allowances.DRAWN, "play_another"), ("design", allowances.DRAWN, "")],
)
def test_a_viewer_who_has_had_enough_is_told_to_wait(name: str, allowance: limits.Allowance, button: str) -> None:
    page = open_page(name) if button else None
    limits.spend(allowance, allowance.most)
    page = page.button(key=button).click().run() if page else open_page(name)
    said = [message.value for message in [*page.error, *page.warning]]
    assert any(f"as many {allowance.what} as one viewer gets" in words for words in said), said


@pytest.mark.usefixtures("as_viewer")
def test_a_viewer_reads_who_may_press_a_button() -> None:
    quick = open_page("home").button(key="start-quick")
    assert quick.disabled and quick.help == "Only an operator starts sessions."


def press_all(refused: list[str], name: str, **query: str) -> set[str]:
    """Press every button that a viewer can press on the page and in its dialogs: none may be refused.

    Returns:
        The keys of the buttons that only operators may press, without the ids and numbers in them.
    """
    page = open_page(name, **query)
    assert not page.exception
    of_operators = greyed(page)
    for button_id in pressable(page.button):
        if button_id not in pressable(page.button):
            page = open_page(name, **query)
        press(page, button_id, refused)
        for inner in pressable(button for dialog in page.get("dialog") for button in dialog.button):
            press(page, inner, refused)
    return of_operators


def press(page: AppTest, button_id: str, refused: list[str]) -> None:
    button = next(button for button in page.button if button.proto.id == button_id)
    button.click().run()
    assert not refused, f"{button.label!r} ({button.key}) can be pressed, and then {refused}"


def pressable(buttons: Iterable[Button]) -> list[str]:
    return [button.proto.id for button in buttons if not button.proto.disabled]


def greyed(page: AppTest) -> set[str]:
    return {re.sub(r"-\d.*", "", str(button.key)) for button in page.button if button.proto.disabled and button.help.startswith(ONLY)}


@pytest.mark.usefixtures("as_viewer")
@pytest.mark.parametrize(
    ("name", "of_operators"),
    [
        ("home", {"start-quick"}),
        ("train", {"resume"}),
        ("runs", {"import"}),
        ("benchmark", set()),
        ("contest", {"contest-begin"}),
        ("design", {"design_keep"}),
    ],
)
def test_no_button_changes_anything_for_a_viewer(name: str, of_operators: set[str], refused: list[str], sessions_folder: Path) -> None:
    assert name in nav.PAGES
    before = contents(sessions_folder)
    assert press_all(refused, name) == of_operators
    assert contents(sessions_folder) == before


@pytest.mark.usefixtures("halted", "as_viewer")
def test_whatever_has_ended_waits_for_an_operator(refused: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.app.runs.table.table", lambda shown, columns: shown[:1])  # as if the first were ticked
    assert press_all(refused, "train", session="half") == {"resume", "resume-allow-far.example"}
    assert press_all(refused, "runs") == {"import", "restore", "empty-trash", "archive", "delete", "save-labels", *QUEUE}
    assert press_all(refused, "studies") == {"diagnosis-go-on", "diagnosis-delete", "diagnosis-start", "study-go-on", "study-delete"}
    assert press_all(refused, "headroom") == {"headroom-go-on", "headroom-delete"}
    assert press_all(refused, "replay", replay="mine") == {"replay-go-on", "replay-delete"}
    assert press_all(refused, "benchmark") == {"delete"}
    assert press_all(refused, "contest", contest="tiny") == {"contest-again", "contest-delete"}
    assert greyed(open_page("story", session="asked", stage="1")) == {"turn-go"}
    assert greyed(open_page("story", session="told", stage="1", part="wrote")) == {"fork-go"}
    assert "Only an operator prepares talks." in words(open_page("present", session="told"))
    assert greyed(AppTest.from_function(nothing_measured).run()) == {"measure-first"}


@pytest.mark.usefixtures("running", "as_viewer")
def test_whatever_runs_is_stopped_by_operators(refused: list[str]) -> None:
    assert press_all(refused, "train", session="half") == {"stop"}
    assert press_all(refused, "train", session="waits") == {"stop", "q-turn-now-waits"}
    assert press_all(refused, "studies") == {"diagnosis-stop", "study-stop"}
    assert press_all(refused, "headroom") == {"headroom-stop"}
    assert press_all(refused, "replay", replay="mine") == {"replay-stop"}
    assert press_all(refused, "benchmark") == {"cancel"}


def nothing_measured() -> None:
    from frozenlab.app.benchmark.lake.page import nothing_yet
    from frozenlab.session.store import SessionStore

    nothing_yet(SessionStore())


@pytest.mark.usefixtures("as_viewer")
@pytest.mark.parametrize("name", ["play", "learn"])
def test_a_viewer_may_do_everything_here(name: str) -> None:
    assert not greyed(open_page(name))


@pytest.mark.usefixtures("as_viewer")
def test_a_viewer_is_not_offered_to_let_a_large_language_model_plan(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    large = Checkpoint(label="large", stage=None, path=session.dir, language=LanguageSettings())
    monkeypatch.setattr("frozenlab.app.play.choices.models", lambda store: {"large": large})
    assert greyed(open_page("play")) == {"play_plan"}


@pytest.mark.usefixtures("as_viewer")
def test_a_viewer_reads_who_they_are_and_the_way_out() -> None:
    assert "You are here as <b>viewer</b>." in words(open_page("help"))
