"""A session outlives its page and its server: after a restart it can be watched, stopped and resumed."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from frozenlab.jobs.state import worker_alive
from frozenlab.session.session import Session
from frozenlab.session.state import State
from frozenlab.session.store import SessionStore
from tests.browser.conftest import AT_REST, App, soon
from tests.builders import build_session, small_spec
from tests.running import end_workers, wait_for

SLOW = 600_000
"""Milliseconds for what the worker has to do first: importing torch on a busy machine takes a while."""
CONFIG = {"agents": 2, "sizes": {"3": {"share": 1.0, "hole_ratio": 0.1, "wait_ratio": 0.1}}}


@pytest.fixture
def lab(new_app: Callable[[], App]) -> Iterator[App]:
    """A server of its own, and no worker left behind whatever happens."""
    app = new_app()
    yield app
    end_workers(SessionStore(app.sessions).sessions())


def fill_form(page: Page) -> None:
    """A session of tiny steps, long enough not to end while it is looked at."""
    unfold(page, "The first environment config")
    unfold(page, "Stages, steps and seed")
    page.get_by_role("combobox", name=re.compile("Taken from")).click()
    page.get_by_role("option", name="a file").click()
    page.locator("input[type=file]").set_input_files(
        {"name": "small.json", "mimeType": "application/json", "buffer": json.dumps(CONFIG).encode()}
    )
    expect(page.get_by_role("rowheader", name="3×3")).to_be_visible()
    for label, value in {"Stages": 2, "Steps": 1500, "Boards per step": 2, "Plans per board": 2, "Held-out boards": 5}.items():
        enter_number(page, label, value)
    page.get_by_role("textbox", name="Title").fill("Outlives the page")
    page.keyboard.press("Enter")
    expect(page.get_by_text("2 stages of 1500 steps by GRPO: 6,000 sampled plans")).to_be_visible()


def unfold(page: Page, title: str) -> None:
    """Opens a part of the form, and again if the page was still being drawn and took it back."""
    fold = page.locator("details").filter(has=page.locator("summary").get_by_text(title, exact=True))
    for _ in range(5):
        page.locator(AT_REST).wait_for()
        if fold.get_attribute("open") is not None:
            return
        fold.locator("summary").click()
        page.wait_for_timeout(500)
    expect(fold).to_have_attribute("open", "")


def enter_number(page: Page, label: str, value: int) -> None:
    """Types until the page has taken it: a form that is being redrawn can swallow a first try."""
    field = page.get_by_role("spinbutton", name=label)
    for _ in range(5):
        page.locator(AT_REST).wait_for()
        field.fill(str(value))
        field.press("Enter")
        page.wait_for_timeout(500)
        page.locator(AT_REST).wait_for()
        if field.input_value() == str(value):
            return
    expect(field).to_have_value(str(value))


def session_of(page: Page, app: App) -> Session:
    expect(page).to_have_url(re.compile("session=(?!example-)[a-z0-9-]+"))
    return SessionStore(app.sessions).open(re.search("session=([a-z0-9-]+)", page.url)[1])


def state_when(session: Session, holds: Callable[[State], bool], what: str) -> State:
    wait_for(lambda: holds(session.state()), f"{what}: see {session.dir / 'worker.log'}")
    return session.state()


def shows_step_after(page: Page, step: int) -> None:
    """The page shows a later step than ``step``, by itself."""
    words = page.get_by_text(re.compile(r"Stage 1 of 2: training, step \d+ of 1500"))
    expect(words).to_be_visible(timeout=SLOW)
    soon(page, lambda: int(re.findall(r"step (\d+) of", words.inner_text())[0]) > step, f"a step after {step}")


def test_a_session_outlives_tab_and_server_and_can_be_stopped_and_resumed(lab: App, visit: Callable[..., Page]) -> None:
    page = visit()
    page.goto(f"{lab.url}/train")
    page.get_by_role("button", name="New session").click()  # the page opens on the recorded session
    fill_form(page)
    page.get_by_role("button", name="Start", exact=True).click()
    session = session_of(page, lab)
    shows_step_after(page, 0)
    worker = session.state().pid
    address = page.url

    page.context.close()
    lab.stop(signal.SIGKILL)
    before = session.state()
    after = state_when(session, lambda state: state.step > before.step + 1, "a step without a server")
    assert (after.status, after.pid) == ("running", worker)

    lab.start()
    page = visit()
    page.goto(address)
    shows_step_after(page, after.step)
    assert session.state().pid == worker

    page.get_by_test_id("stMain").get_by_role("button", name="Stop", exact=True).click()  # Streamlit has a Stop of its own above
    page.get_by_role("button", name="Stop it").click()
    stopped = state_when(session, lambda state: state.status == "stopped", "the stop")
    expect(page.get_by_text("Stopped. Resume continues from there.")).to_be_visible()
    wait_for(lambda: not worker_alive(before), "the end of the worker")

    page.get_by_role("button", name="Resume").click()
    resumed = state_when(session, lambda state: state.status == "running" and state.step > stopped.step, "a step after the resume")
    assert resumed.pid != worker
    shows_step_after(page, stopped.step)
    steps = ["started", "stopped", "resumed"]
    assert [event["kind"] for event in session.events() if event["kind"] in steps] == steps


@pytest.fixture(scope="module")
def built(app: App) -> App:
    build_session(app.sessions, small_spec(title="Built"), "built")
    return app


def test_a_stage_of_the_thread_moves_the_story_and_the_address(built: App, page: Page) -> None:
    page.goto(f"{built.url}/story?session=built&stage=2")
    expect(page.get_by_text("Stage 2 took valid plans")).to_be_visible()
    page.get_by_role("tab", name=re.compile("^Stage 1 .* done")).click()
    expect(page.get_by_text("Stage 1 took valid plans")).to_be_visible()
    expect(page).to_have_url(re.compile("stage=1"))
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Stage 2 took valid plans")).to_be_visible()
    expect(page).to_have_url(re.compile("stage=2"))


@pytest.mark.long
def test_a_click_on_a_bar_lists_its_boards(built: App, page: Page) -> None:
    page.goto(f"{built.url}/story?session=built&stage=1")
    bar = page.locator(".st-key-faults .trace.bars path, .st-key-faults .trace.bars .point path").first
    bar.scroll_into_view_if_needed()
    bar.click(force=True)
    expect(page.get_by_text(re.compile(r"^\d+ of 48 boards\.$"))).to_be_visible()
    expect(page.get_by_text("48 of 48 boards.")).to_have_count(0)


@pytest.mark.slow
def test_every_page_with_a_session_is_quiet(built: App, page: Page) -> None:
    for path in ("", "train?session=built", "story?session=built&stage=0&part=failed", "story?session=built&part=failed"):
        page.goto(f"{built.url}/{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator(".player canvas").first).to_be_visible()
        expect(page.locator('[data-testid="stException"]')).to_have_count(0)


@pytest.mark.long
def test_home_leads_to_the_story_of_the_session_it_shows(built: App, page: Page) -> None:
    page.goto(built.url)
    page.get_by_role("button", name="Read its story").click()
    expect(page.get_by_text("Stage 1 took valid plans")).to_be_visible()
    expect(page).to_have_url(re.compile(r"session=[a-z0-9-]+"))


def test_the_server_has_no_torch(built: App) -> None:
    """After the tests above have visited every page that shows a session."""
    assert built.process is not None
    maps = Path(f"/proc/{built.process.pid}/maps")
    if not maps.exists():
        pytest.skip("needs /proc")
    assert "libtorch" not in maps.read_text()
