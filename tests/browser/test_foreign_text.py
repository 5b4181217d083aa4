"""With a stranger's folders on every page, and with a file of theirs that is imported, the browser contacts only the lab's server and makes
no element from their text."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from frozenlab.experiments.bundles.found import find
from frozenlab.experiments.bundles.writing import export
from frozenlab.session.store import SessionStore
from tests.browser.conftest import App
from tests.builders import build_session, small_spec
from tests.marked import Marker, strangers

PAGES = [
    "", "design", "play", "train?session=lab", "train?session=language", "train?session=failed", "train?session=damaged",
    "story?session=lab&stage=1", "story?session=lab&stage=1&part=read", 
    "story?session=lab&stage=2&part=wrote", "story?session=language&stage=1&part=wrote", "story?session=damaged&stage=1",
    "studies?study=mine", "studies?study=mine&view=predictions", "replay?replay=mine", "replay?session=lab&stage=1", "benchmark",
    "benchmark?boards=theirs~3~all~all~~~",
]  # fmt: skip


@pytest.fixture
def trap() -> Iterator[tuple[str, list[str]]]:
    """A server that nobody has a reason to ask, and what it was asked."""
    asked: list[str] = []

    class Trap(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Trap)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


def made(page: Page, host: str) -> list[str]:
    """The elements that a page has made of foreign text, as HTML, once it is drawn."""
    page.locator("[data-testid=stStatusWidget]").wait_for(state="detached")
    page.wait_for_timeout(500)
    found = page.locator(f'[src*="{host}"], a[href*="{host}"], a[href^="javascript:"], [onerror]')
    return found.evaluate_all("all => all.map((element) => element.outerHTML)")


@pytest.mark.slow
def test_no_page_sends_a_request_or_makes_an_element(app: App, page: Page, trap: tuple[str, list[str]]) -> None:
    host, asked = trap
    strangers(app.sessions, marker := Marker("markdown", host))
    found = []
    for address in PAGES:
        page.goto(f"{app.url}/{address}")
        page.get_by_role("heading").first.wait_for()
        found += [f"{address}: {marker.place(html)}: {html[:400]}" for html in made(page, host)]
    assert not found, "\n".join(found)
    assert not asked


@pytest.mark.slow
def test_a_strangers_file_asks_nobody(new_app: Callable[[], App], page: Page, trap: tuple[str, list[str]], tmp_path: Path) -> None:
    app, (host, asked) = new_app(), trap
    marker = Marker("markdown", host)
    session = build_session(tmp_path / "theirs", small_spec(stages=1, sizes=(3,), boards_per_size=4), "stranger")
    marker.folder(session.dir)
    export([find("stranger", SessionStore(tmp_path / "theirs"))], tmp_path / "out.zip")
    data = (tmp_path / "out.zip").read_bytes()
    page.goto(f"{app.url}/runs")
    page.get_by_role("button", name="Import").click()
    name = f"{marker.mark('file name')[:80].replace('/', '&#47;')}.zip"
    page.locator("input[type=file]").set_input_files({"name": name, "mimeType": "application/zip", "buffer": data})
    expect(page.get_by_text("session stranger:")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("The session stranger is imported, and read-only")).to_be_visible()
    for address in ("train?session=stranger", "story?session=stranger&stage=1&part=wrote"):
        page.goto(f"{app.url}/{address}")
        expect(page.get_by_role("button", name="Make it mine")).to_be_visible()
        assert not made(page, host)
    assert not asked
