from __future__ import annotations

import asyncio
import re
import shutil
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from anyio.from_thread import start_blocking_portal
from starlette.applications import Starlette
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect
from streamlit.testing.v1 import AppTest

from frozenlab.app.ui import live, server
from frozenlab.app.ui.live import DRAW, DRAWS_A_SECOND, UNKNOWN, Crowd, Feed, Seen, address, files_of, revision, revision_of, routes
from frozenlab.base import places
from frozenlab.base.files import append_line
from frozenlab.jobs.job import STOP_FILE
from frozenlab.session.session import Session
from tests.builders import build_session

OWN = {"origin": "http://127.0.0.1:8501", "host": "127.0.0.1:8501"}


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(tmp_path))
    monkeypatch.setattr("frozenlab.jobs.state.worker_alive", lambda state: True)
    return build_session(tmp_path, status="running", finished_stages=1)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """The feeds behind what stands between the network and Streamlit."""
    monkeypatch.setattr(live, "LOOK", 0.01)
    monkeypatch.setattr(live, "DRAW", 0.05)
    with TestClient(Starlette(routes=routes(), middleware=server.middleware()), base_url="http://127.0.0.1:8501") as client:
        yield client
    live._feeds.clear()  # they belong to the loop of this client


def test_a_viewer_is_told_of_the_session_and_of_its_changes(client: TestClient, session: Session) -> None:
    with client.websocket_connect(f"/{address(session)}?drawn={revision(session)}", headers=OWN) as socket:
        first = socket.receive_json()["beat"]
        assert first["words"].startswith("Stage 2 of 3: training, step 4 of 8") and first["progress"] == 0.5
        assert [mark["title"] for mark in first["marks"]] == ["Before training", "Stage 1", "Stage 2", "Stage 3"]
        append_line(session.stage_dir(1) / "metrics.jsonl", {"step": 5, "reward": 1.0, "valid": 1.0, "optimal": 1.0})
        assert set(socket.receive_json()) == {"beat"}
        assert socket.receive_json() == {"draw": revision(session)}
        (session.dir / STOP_FILE).touch()
        assert socket.receive_json()["beat"]["words"].startswith("Stopping after this step.")


@pytest.mark.parametrize("base", ["lab", "/a/b/"])
def test_below_a_path_the_feed_is_where_the_pages_are(session: Session, monkeypatch: pytest.MonkeyPatch, base: str) -> None:
    usual = server.config.get_option
    monkeypatch.setattr(server.config, "get_option", lambda name: base if name == "server.baseUrlPath" else usual(name))
    feed = urljoin(f"/{base.strip('/')}/train", address(session))
    app = Starlette(routes=routes(), middleware=server.middleware())
    with TestClient(app) as client, client.websocket_connect(feed, headers=OWN) as socket:
        assert "beat" in socket.receive_json()
    live._feeds.clear()


def test_a_page_that_was_drawn_before_a_change_is_drawn_again(client: TestClient, session: Session) -> None:
    with client.websocket_connect(f"/{address(session)}?drawn=before", headers=OWN) as socket:
        assert "beat" in socket.receive_json()
        assert socket.receive_json() == {"draw": revision(session)}


def test_the_viewers_of_a_session_that_is_deleted_hear_that_it_is_gone(client: TestClient, session: Session) -> None:
    with client.websocket_connect(f"/{address(session)}?drawn={revision(session)}", headers=OWN) as socket:
        assert "beat" in socket.receive_json()
        shutil.rmtree(session.dir)
        with pytest.raises(WebSocketDisconnect) as closed:
            while True:  # it may be looked at while it is being deleted
                socket.receive_json()
        assert closed.value.code == UNKNOWN


@pytest.mark.parametrize(
    "path", ["session/none", "session/..", "session/%2e%2e%2fx", "cat/built", "study/built", "session/BUILT", "replay/x%00"]
)
def test_there_are_feeds_of_jobs_in_the_sessions_folder_only(client: TestClient, session: Session, path: str) -> None:
    try:
        with client.websocket_connect(f"/live/{path}", headers=OWN) as socket:
            socket.receive_json()
    except WebSocketDisconnect as closed:
        assert closed.code in (UNKNOWN, 1000)
    else:
        pytest.fail("it tells of something")


def test_no_other_page_may_listen(client: TestClient, session: Session) -> None:
    with (
        pytest.raises(WebSocketDenialResponse),
        client.websocket_connect(f"/{address(session)}", headers=OWN | {"origin": "http://evil.example"}),
    ):
        pass


def test_a_revision_changes_with_any_file_that_a_page_shows(session: Session) -> None:
    known = {revision_of(session.dir, "running")}
    assert revision_of(session.dir, "running") in known
    for path in ("state.json", "stages/01/metrics.jsonl", "stages/01/new.json"):
        with (session.dir / path).open("a") as file:
            file.write("\n")
        known.add(revision_of(session.dir, "running"))
    known.add(revision_of(session.dir, "crashed"))
    assert len(known) == 5
    policy = session.stage_dir(0) / "policy"
    policy.mkdir(exist_ok=True)
    (policy / "weights").touch()
    assert revision_of(session.dir, "running") in known, "weights are not shown"
    assert list(files_of(session.dir / "nothing")) == []


def test_the_more_are_watching_the_more_seldom_a_page_is_drawn() -> None:
    crowd = Crowd()
    assert crowd.pace == DRAW
    crowd.size = 100
    assert crowd.pace == 100 / DRAWS_A_SECOND


async def heard_until(feed: Feed, beats: int) -> list[dict[str, Any]]:
    """The messages to a viewer until it has had so many beats."""
    heard: list[dict[str, Any]] = []
    async with aclosing(feed.follow("before")) as updates:
        async for update in updates:
            heard.append(update)
            if sum("beat" in one for one in heard) == beats:
                break
    return heard


def test_all_viewers_share_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of viewers, a revision is looked at once, and nobody looks when nobody watches."""
    monkeypatch.setattr(live, "LOOK", 0.01)
    monkeypatch.setattr(live, "DRAW", 600.0)
    looks: list[int] = []

    def look() -> Seen:
        looks.append(1)
        return Seen(f"r{len(looks) // 3}", {"look": len(looks)})

    async def watch() -> tuple[list[list[dict[str, Any]]], Feed]:
        feed = Feed(look, Crowd())
        heard = await asyncio.gather(*(heard_until(feed, 3) for _ in range(10)))
        before = len(looks)
        await asyncio.sleep(0.05)
        assert len(looks) <= before + 1, "a look may have been under way"
        return heard, feed

    with start_blocking_portal() as portal:  # in a thread of its own: in that of a test in the browser, Playwright's loop runs
        heard, feed = portal.call(watch)
    beats = [[update["beat"] for update in updates if "beat" in update] for updates in heard]
    assert all(one == beats[0] for one in beats), "one computation a revision, for all"
    assert all(sum("draw" in update for update in updates) <= 1 for updates in heard), "the next round comes later"
    assert feed.viewers == 0


def test_only_one_function_opens_dialogs_and_no_fragment_draws_the_page_while_one_is_open() -> None:
    modules = {path: path.read_text() for path in (places.ROOT / "core" / "frozenlab" / "app").rglob("*.py")}
    assert [path.name for path, text in modules.items() if re.search(r"(?<!``)\bst\.dialog\(", text)] == ["nav.py"]

    def page() -> None:
        import streamlit as st

        from frozenlab.app.ui import nav

        st.session_state["runs"] = st.session_state.get("runs", 0) + 1
        if st.session_state["runs"] == 1:
            if st.session_state["open"]:
                nav.dialog("A form")(lambda: None)()
            nav.draw_anew()

    for is_open, runs in ((True, 1), (False, 2)):
        app = AppTest.from_function(page)
        app.session_state["open"] = is_open
        assert app.run().session_state["runs"] == runs
