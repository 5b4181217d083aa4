"""On a server that only looks, every button that can be pressed works, and every other one says why it is grey."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from frozenlab.app import allowances
from frozenlab.app.ui.refusals import WHY
from frozenlab.base import look_only
from frozenlab.engineer.engineers.api import ApiEngineer
from frozenlab.experiments.shelf import shelf
from frozenlab.jobs import launcher
from frozenlab.jobs.state import own_process, store_state, stored_state
from frozenlab.models.settings import LanguageSettings
from frozenlab.session.session import Checkpoint
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.kinds import MAKE
from tests.pages.apptest import open_page, words

QUEUE = {"q-queue-pause", "q-now", "q-pause", "q-cancel"}
"""Buttons of a queue in which a job waits."""


@pytest.fixture
def halted(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab with a job of every kind that was stopped, a session that waits for a person, one in the trash and one in the queue."""
    full_lab(sessions_folder, monkeypatch, {"status": "stopped"})


@pytest.fixture
def running(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same lab with the jobs under way."""
    full_lab(sessions_folder, monkeypatch, {"status": "running", "heartbeat": time.time()} | own_process())


@pytest.fixture
def looking(sessions_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(allowances, "PURSE", allowances.Purse())
    monkeypatch.setattr(allowances, "visitor", lambda: "a visitor")
    st.cache_data.clear()  # what is there already costs nothing
    look_only.begin(Path(os.environ.get("NUMBA_CACHE_DIR") or tmp_path / "cache"))
    yield
    look_only._looks = False


def full_lab(root: Path, monkeypatch: pytest.MonkeyPatch, now: dict[str, Any]) -> None:
    monkeypatch.setattr("frozenlab.jobs.launcher.wake", lambda root: None)
    store, small = SessionStore(root), small_spec(stages=2, sizes=(3, 4), boards_per_size=4)
    asked = build_session(root, small.changed(engineer="human"), "asked", finished_stages=1)
    (asked.stage_dir(0) / "proposal.json").unlink()
    put(asked.dir, {"status": "waiting", "stage": 0, "phase": "proposing"})
    shelf.delete(store.create(small, "gone"), store)
    launcher.submit(store.create(small, "waits"))
    far = ApiEngineer(base_url="https://far.example/v1", model="theirs")
    for job in (store.create(small.changed(engineer=far), "half"), *(make(store) for make in MAKE.values())):
        put(job.dir, now)


def put(folder: Path, now: dict[str, Any]) -> None:
    store_state(folder, stored_state(folder).model_copy(update=now))


def press_all(name: str, **query: str) -> set[str]:
    """Press every button that can be pressed on the page and in its dialogs: none may be refused.

    Returns:
        The keys of the grey buttons, without the ids and numbers in them.
    """
    page = open_page(name, **query)
    grey = greyed(page)
    for button_id in pressable(page.button):
        if button_id not in pressable(page.button):
            page = open_page(name, **query)
        press(page, button_id)
        for inner in pressable(button for dialog in page.get("dialog") for button in dialog.button):
            press(page, inner)
    return grey


def press(page: AppTest, button_id: str) -> None:
    button = next(button for button in page.button if button.proto.id == button_id)
    button.click().run()
    said = [message.value for message in (*page.error, *page.warning)]
    assert not [one for one in said if look_only.WHY in str(one)], f"{button.label!r} ({button.key}) can be pressed, and then {said}"


def pressable(buttons: Iterable[Button]) -> list[str]:
    return [button.proto.id for button in buttons if not button.proto.disabled]


def greyed(page: AppTest) -> set[str]:
    return {re.sub(r"-\d.*", "", str(button.key)) for button in page.button if button.proto.disabled and button.help == WHY}


@pytest.mark.usefixtures("looking")
@pytest.mark.parametrize(
    ("name", "grey"),
    [
        ("home", {"start-quick"}),
        ("runs", {"import", "start-quick"}),
        ("benchmark", set()),
        ("contest", {"contest-begin"}),
        ("design", {"design_keep"}),
        ("play", set()),
        ("learn", set()),
    ],
)
def test_in_an_empty_lab(name: str, grey: set[str], sessions_folder: Path) -> None:
    assert press_all(name) == grey
    assert not list(sessions_folder.iterdir())


@pytest.mark.usefixtures("halted", "looking")
def test_what_has_ended_is_not_resumed_or_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.app.runs.table.table", lambda shown, columns: shown[:1])  # as if the first were ticked
    assert press_all("train", session="half") == {"resume", "resume-allow-far.example"}
    assert press_all("runs") == {"import", "restore", "empty-trash", "archive", "pin", "delete", "save-labels", *QUEUE}
    assert press_all("studies") == {"study-go-on", "study-delete"}
    assert press_all("diagnosis") == {"diagnosis-go-on", "diagnosis-delete"}
    assert press_all("headroom") == {"headroom-go-on", "headroom-delete"}
    assert press_all("replay", replay="mine") == {"replay-go-on", "replay-delete"}
    assert press_all("benchmark") == {"delete"}
    assert press_all("contest", contest="tiny") == {"contest-again", "contest-delete"}
    assert greyed(open_page("story", session="asked", stage="1")) == {"turn-go"}
    assert greyed(open_page("story", session="built", stage="1", part="wrote")) == {"fork-go"}
    assert WHY in words(open_page("present", session="built"))


@pytest.mark.usefixtures("running", "looking")
def test_what_runs_is_not_stopped() -> None:
    assert press_all("train", session="half") == {"stop"}
    assert press_all("train", session="waits") == {"stop", "q-turn-now-waits"}
    assert press_all("studies") == {"study-stop"}
    assert press_all("diagnosis") == {"diagnosis-stop"}
    assert press_all("headroom") == {"headroom-stop"}
    assert press_all("replay", replay="mine") == {"replay-stop"}
    assert press_all("benchmark") == {"cancel"}


@pytest.mark.usefixtures("looking")
def test_no_large_language_model_plans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = Checkpoint(label="large", stage=None, path=tmp_path, language=LanguageSettings())
    monkeypatch.setattr("frozenlab.app.play.choices.models", lambda store: {"large": large})
    assert greyed(open_page("play")) == {"play_plan"}


@pytest.mark.usefixtures("looking")
@pytest.mark.parametrize(
    ("name", "allowance", "button"),
    [("play", allowances.PLANS, "play_plan"), ("play", allowances.DRAWN, "play_another"), ("design", allowances.DRAWN, "")],
)
def test_a_visitor_who_has_had_enough_is_asked_to_wait(name: str, allowance: allowances.Allowance, button: str) -> None:
    page = open_page(name) if button else None
    allowances.spend(allowance, allowance.most)
    page = page.button(key=button).click().run() if page else open_page(name)
    said = [message.value for message in [*page.error, *page.warning]]
    assert any(f"as many {allowance.what} as one visitor gets" in words for words in said), said
