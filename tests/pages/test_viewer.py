"""A viewer's clicks, on every button: nothing is started, stopped, written or deleted."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from frozenlab import limits, roles
from frozenlab.benchmark import evaluations
from frozenlab.contests import launch as contest_launch
from frozenlab.contests.task import task_against
from frozenlab.jobs import launcher
from frozenlab.jobs.task import throw_away
from frozenlab.loop import launch, shelf
from frozenlab.loop.labels import Labels
from frozenlab.loop.presets import preset_spec
from frozenlab.loop.session import Session
from frozenlab.loop.store import SessionStore
from frozenlab.roles import NotAllowedError, Person, Role
from frozenlab.tasks.lake.page import allowances
from frozenlab.tasks.lake.page.learn import records
from frozenlab.ui import nav
from tests.pages.apptest import open_page, words

HARMLESS = {".index.json"}


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
        lambda: launcher.cancel(store.root, str(session.dir)),
        lambda: launcher.pause_queue(store.root),
        lambda: launcher.move_first(store.root, str(session.dir)),
        lambda: shelf.delete(session, store),
        lambda: shelf.restore("mine", store),
        lambda: shelf.empty_trash(store),
        lambda: shelf.label(session, Labels(title="another")),
        lambda: evaluations.throw_away("result", store),
        lambda: throw_away(session),
        lambda: contest_launch.start(task_against(None), store),
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


@pytest.mark.usefixtures("as_viewer")
@pytest.mark.parametrize("name", ["home", "train", "runs", "benchmark", "contest"])
def test_no_button_changes_anything_for_a_viewer(name: str, sessions_folder: Path) -> None:
    assert name in nav.PAGES
    before = contents(sessions_folder)
    keys = [button.key for button in open_page(name).button if button.key]
    for key in keys:
        page = open_page(name)
        for button in page.button:
            if button.key == key and not button.proto.disabled:
                button.click().run()
    assert contents(sessions_folder) == before


@pytest.mark.usefixtures("as_viewer")
def test_a_viewer_reads_who_they_are_and_the_way_out() -> None:
    assert "You are here as <b>viewer</b>." in words(open_page("help"))
