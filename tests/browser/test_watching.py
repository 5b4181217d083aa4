"""A page of a session that runs hears of what changes in its files."""

from __future__ import annotations

import json
import time

import pytest
from playwright.sync_api import Page, WebSocket, expect

from frozenlab.app.ui.live import PATH
from frozenlab.base.files import append_line, write_text
from frozenlab.jobs.state import own_process
from frozenlab.session.session import Session
from tests.browser.conftest import App
from tests.builders import build_session
from tests.running import wait_for

LAST_STEP = """Math.max(...document.querySelector('.js-plotly-plot')._fullData.flatMap((one) => [...(one.x ?? [])]))"""


def put(session: Session, **fields: object) -> None:
    """Changes the state as a worker does that is this process."""
    path = session.dir / "state.json"
    write_text(path, json.dumps(json.loads(path.read_text()) | own_process() | {"heartbeat": time.time()} | fields))


def feed_left(page: Page, sockets: list[WebSocket]) -> bool:
    page.evaluate("0")  # Playwright hears of sockets while it is asked something
    return all(socket.is_closed() for socket in sockets if f"/{PATH}/" in socket.url)


@pytest.mark.slow
def test_a_live_page_shows_each_change_of_its_session(app: App, page: Page) -> None:
    session = build_session(app.sessions, status="running", finished_stages=1)
    put(session, step=4)
    sockets: list[WebSocket] = []
    page.on("websocket", lambda socket: sockets.append(socket))
    page.goto(f"{app.url}/train?session={session.id}")
    words, curves = page.locator(".beat .words"), page.get_by_test_id("stPlotlyChart").first
    expect(words).to_contain_text("step 4 of 8")
    expect(page.locator(".beat .note")).to_contain_text("Heard from the worker")
    expect(curves).to_be_visible()
    page.evaluate("window.same = document")  # the page itself is not loaded again

    for step in (5, 6):
        append_line(session.stage_dir(1) / "metrics.jsonl", {"step": step, "reward": 0.4, "valid": 0.4, "optimal": 0.2})
        put(session, step=step)
        expect(words).to_contain_text(f"step {step} of 8")
    wait_for(lambda: page.evaluate(LAST_STEP) >= 14, "curves that follow, in a run of the page")

    page.locator("label").filter(has_text="Live").click()
    wait_for(lambda: feed_left(page, sockets), "the feed to be left")
    put(session, step=7)
    page.wait_for_timeout(1500)
    expect(words).to_contain_text("step 6 of 8")
    page.locator("label").filter(has_text="Live").click()
    expect(words).to_contain_text("step 7 of 8")

    put(session, status="stopped")
    expect(page.get_by_text("Stopped. Resume continues from there.")).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    assert page.evaluate("window.same === document")
