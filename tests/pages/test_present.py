"""The page Present without a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.present.scenes import Preparation, prepare
from frozenlab.session.store import SessionStore
from tests.builders import build_session
from tests.pages.apptest import components, open_page, words

pytestmark = pytest.mark.usefixtures("sessions_folder")


def decks(app: AppTest) -> list[dict]:
    return components(app, "scenes")


def test_the_deck_opens_by_its_button_and_by_its_address(sessions_folder: Path) -> None:
    session = build_session(sessions_folder)
    app = open_page("present", session=session.id)
    assert not decks(app)
    [deck] = decks(app.button(key="present-go").click().run())
    assert deck["id"] == session.id and deck["scenes"][0]["name"] == "opening" and not deck["says"]
    assert decks(open_page("present", session=session.id, play="1"))


def test_the_deck_has_the_scenes_and_notes_that_were_prepared(sessions_folder: Path) -> None:
    session = build_session(sessions_folder)
    prepare(session, SessionStore(sessions_folder), Preparation(scenes=("came", "opening"), notes={"came": "Slowly."}))
    [deck] = decks(open_page("present", session=session.id, play="1"))
    assert [scene["name"] for scene in deck["scenes"]] == ["came", "opening"] and deck["notes"] == {"came": "Slowly."}


@pytest.mark.parametrize("status", ["failed", "stopped", "running"])
def test_a_session_without_a_story_gives_way_to_a_recorded_one_and_says_so(sessions_folder: Path, status: str) -> None:
    build_session(sessions_folder, session_id="recorded")
    live = build_session(sessions_folder, session_id="live", status=status, finished_stages=1)
    [deck] = decks(open_page("present", session=live.id, play="1"))
    assert deck["id"] == "recorded" and "has no story yet: this is the recorded session recorded." in deck["says"]


def test_without_any_story_the_page_says_why(sessions_folder: Path) -> None:
    build_session(sessions_folder, status="stopped", finished_stages=1)
    app = open_page("present")
    assert not decks(app) and "no recorded session to fall back to" in words(app)
