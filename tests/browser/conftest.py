"""The real app, and a Chromium page that watches for errors and for requests that leave this machine."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Download, Locator, Page, Request, ViewportSize, expect, sync_playwright

from tests.serving import App

EXPECTED_404 = re.compile(r"/_stcore/(health|host-config)$")
"""Streamlit's own client asks for these below the page's path first, on every deep link."""

AT_REST = '[data-testid="stApp"][data-test-script-state="notRunning"]'
"""The app when no script runs."""

WIDE: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
PATIENCE = 180_000  # milliseconds: only what hangs fails; the first board on a machine waits for the solver to be compiled

expect.set_options(timeout=PATIENCE)


@contextmanager
def servers(factory: pytest.TempPathFactory) -> Iterator[Callable[[], App]]:
    """Starts fresh servers, each with an empty sessions folder, and ends them at the end."""
    apps = []

    def start() -> App:
        folder = factory.mktemp("app")
        sessions = folder / "sessions"
        sessions.mkdir()
        apps.append(App(sessions, folder / "server.log"))
        apps[-1].start()
        return apps[-1]

    yield start
    for app in apps:
        app.stop()


@pytest.fixture(scope="session")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """One server for all tests that write nothing into its sessions folder."""
    with servers(tmp_path_factory) as start:
        yield start()


@pytest.fixture(scope="module")
def new_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], App]]:
    """Starts fresh servers and ends them after the module's tests."""
    with servers(tmp_path_factory) as start:
        yield start


@pytest.fixture(scope="module")
def app(new_app: Callable[[], App]) -> App:
    """One server for all tests of a module."""
    return new_app()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium if there is one, else the one that playwright installed."""
    system = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=system, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


@dataclass
class Watch:
    """What went wrong on a page. A test that provokes an error may clear it."""

    errors: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    """Requests to other machines."""

    def on(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._console)
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        expected = "404" in message.text and EXPECTED_404.search(message.location["url"])
        if message.type == "error" and not expected:
            self.errors.append(f"{message.text} ({message.location['url']})")

    def _request(self, request: Request) -> None:
        if not re.match(r"(https?|wss?)://127\.0\.0\.1[:/]|data:|blob:", request.url):
            self.left.append(request.url)


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def visit(browser: Browser, watch: Watch) -> Iterator[Callable[..., Page]]:
    """Opens a page in a new context with these options, of 1440x900 if they do not say otherwise. It fails its test on a console error, a
    script error, or a request that leaves this machine."""
    contexts = []

    def new_page(**options: Any) -> Page:
        contexts.append(browser.new_context(**{"viewport": WIDE} | options))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        watch.on(page)
        return page

    yield new_page
    for context in contexts:
        context.close()
    assert not watch.errors and not watch.left


@pytest.fixture
def page(visit: Callable[..., Page]) -> Page:
    """The page of a test, which may use the clipboard."""
    return visit(permissions=["clipboard-read", "clipboard-write"])


def soon(page: Page, holds: Callable[[], object], what: str = "it") -> None:
    """For what no locator can say: waits until ``holds``."""
    for _ in range(PATIENCE // 100):
        if holds():
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{what} did not happen")


def press_until_seen(page: Page, key: str, shown: Locator) -> None:
    """For a key that a page hears only after all of it is drawn."""
    for _ in range(60):
        page.keyboard.press(key)
        page.wait_for_timeout(500)
        if shown.is_visible():
            break
    expect(shown).to_be_visible()


def downloaded(page: Page, button: Locator) -> Download:
    """The file that the button gives."""
    with page.expect_download() as download:
        button.click()
    return download.value


def pixels(page: Page) -> list[str]:
    """What the canvases of the player show, one text each."""
    return page.locator(".player canvas").evaluate_all("all => all.map((canvas) => canvas.toDataURL())")
