from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from frozenlab.app.present.scenes import Preparation, prepare, prepared
from frozenlab.jobs.state import own_process, store_state
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from tests.builders import build_session, small_spec
from tests.pages.apptest import components, open_page, words

pytestmark = pytest.mark.usefixtures("sessions_folder")


def opened(app: AppTest) -> list[dict]:
    """What the decks on the page take; the film strip has scenes too, and cuts."""
    return [data for data in components(app, "scenes") if "cuts" not in data]


def test_the_deck_opens_by_its_button_and_by_its_address(sessions_folder: Path) -> None:
    session = build_session(sessions_folder)
    app = open_page("present", session=session.id)
    assert not opened(app)
    [deck] = opened(app.button(key="present-go").click().run())
    assert deck["id"] == session.id and deck["scenes"][0]["name"] == "opening" and not deck["says"]
    [film] = opened(open_page("present", session=session.id, play="film"))
    assert film["alone"] and film["ways"]["Play this board"].startswith("play?board=") and film["ways"]["Begin the course"] == "learn"
    assert opened(open_page("present", session=session.id, play="rehearse"))[0]["rehearses"]


def test_the_deck_has_the_scenes_and_notes_that_were_prepared(sessions_folder: Path) -> None:
    session = build_session(sessions_folder)
    prepare(session, SessionStore(sessions_folder), Preparation(scenes=("came", "opening"), notes={"came": "Slowly."}))
    [deck] = opened(open_page("present", session=session.id, play="1"))
    assert [scene["name"] for scene in deck["scenes"]] == ["came", "opening"] and deck["notes"] == {"came": "Slowly."}


@pytest.mark.parametrize("status", ["failed", "stopped", "running"])
def test_a_session_without_a_story_gives_way_to_a_recorded_one_and_says_so(sessions_folder: Path, status: str) -> None:
    build_session(sessions_folder, session_id="recorded")
    live = build_session(sessions_folder, session_id="live", status=status, finished_stages=1)
    [deck] = opened(open_page("present", session=live.id, play="1"))
    assert deck["id"] == "recorded" and "has no story yet: this is Built session, which is recorded." in deck["says"]


def test_a_talk_of_a_session_that_there_is_not_says_whose_it_is(sessions_folder: Path) -> None:
    build_session(sessions_folder, session_id="recorded")
    [deck] = opened(open_page("present", session="nobody", play="1"))
    assert deck["says"] == "There is no session of that name here: this is Built session."


def test_without_any_story_the_page_says_why(sessions_folder: Path) -> None:
    build_session(sessions_folder, status="stopped", finished_stages=1)
    app = open_page("present")
    assert not opened(app) and "no recorded session to fall back to" in words(app)


def test_the_strip_has_every_scene_and_what_is_decided_about_the_talk_is_kept(sessions_folder: Path) -> None:
    session, store = build_session(sessions_folder, small_spec(stages=3)), SessionStore(sessions_folder)
    app = open_page("present", session=session.id)
    [strip] = components(app, "cuts")
    assert {"opening", "came", "closing"} < {scene["name"] for scene in strip["scenes"]} and "came" not in strip["shown"]
    app.text_input(key=f"present-title-{session.id}").set_value("Ice").run()
    app.selectbox(key=f"present-stage-{session.id}").set_value(1).run()
    assert (prepared(session, store).title, prepared(session, store).stage) == ("Ice", 1)
    assert components(app, "cuts")[0]["scenes"][0]["heading"] == "Ice"


def test_the_twin_is_run_from_the_page(sessions_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[SessionSpec] = []
    monkeypatch.setattr("frozenlab.app.ui.sessions.start", lambda specs: asked.extend(specs))
    session = build_session(sessions_folder)
    open_page("present", session=session.id).button(key="present-twin").click().run()
    [twin] = asked
    assert twin.engineer.kind == "fixed" and twin.changed(engineer=session.spec.engineer, title=session.spec.title) == session.spec
    build_session(sessions_folder, twin, "twin")
    assert "Its twin that kept its config" in words(open_page("present", session=session.id))


def test_a_session_that_trains_is_shown_live(sessions_folder: Path) -> None:
    build_session(sessions_folder, session_id="recorded")
    live = build_session(sessions_folder, session_id="live", status="running", finished_stages=1)
    store_state(live.dir, live.state().model_copy(update={"status": "running", "heartbeat": time.time(), **own_process()}))
    [link] = [one for one in open_page("present", session="recorded").get("page_link") if one.label == "Show a training session live"]
    assert link.page == "present" and link.query_string == "session=live&play=live"
    app = open_page("present", session=live.id)
    [deck] = opened(app.button(key="present-live").click().run())
    assert deck["id"] == "live" and deck["scenes"][0]["kind"] == "live" and "Stage" in deck["scenes"][0]["sentence"]
    assert "% of the session" not in deck["scenes"][0]["sentence"], "the curve shows it"
    assert deck["scenes"][0]["ahead"] == "still to come"
    for folder in ("baseline", "stages"):
        shutil.rmtree(live.dir / folder)
    [deck] = opened(open_page("present", session=live.id, play="live"))
    [scene] = deck["scenes"]
    [track] = scene["boards"][0]["tracks"]
    assert (track["label"], track["outcome"]) == ("recorded, untrained", "fault"), "nothing is solved before anything is trained"
    assert scene["checks"] == scene["steps"] == [] and scene["total"] and scene["ahead"] == "first it is measured untrained"
