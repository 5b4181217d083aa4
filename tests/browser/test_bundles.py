"""A stranger's file in the browser: looked into, imported and opened, without a request to anybody else."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from frozenlab.experiments.bundles.found import find
from frozenlab.experiments.bundles.writing import export
from frozenlab.session.store import SessionStore
from tests.browser.conftest import App
from tests.browser.test_foreign_text import made
from tests.browser.test_foreign_text import trap as trap
from tests.builders import build_session, small_spec
from tests.marked import Marker


def test_a_strangers_file_asks_nobody(app: App, page: Page, trap: tuple[str, list[str]], tmp_path: Path) -> None:
    host, asked = trap
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
