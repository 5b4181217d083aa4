"""Runs are compared, archived, deleted and taken back; a link shows the same view; a figure gives its data."""

from __future__ import annotations

import csv
import re

import pytest
from playwright.sync_api import Download, Page, expect

from tests.browser.conftest import App, downloaded, soon
from tests.builders import build_session, small_spec

ROW = 35
"""Height of a row of the table in pixels."""


@pytest.fixture(scope="module")
def three(app: App) -> list[str]:
    specs = {
        "run-a": small_spec(stages=2, sizes=(3, 5), title="First"),
        "run-b": small_spec(stages=2, sizes=(3, 5), title="Second", engineer="uniform", seed=4),
        "run-c": small_spec(stages=2, sizes=(3, 5), title="Third", seed=9),
    }
    return [build_session(app.sessions, spec, name).id for name, spec in specs.items()]


def tick(page: Page, *rows: int) -> None:
    """Tick these rows of the table, from 0 on: its cells are drawn on a canvas."""
    table = page.locator('[data-testid="stDataFrame"] .dvn-scroller')
    expect(table).to_be_visible()
    for number, row in enumerate(rows, start=1):
        table.click(position={"x": 16, "y": ROW * (row + 1) + ROW // 2})
        expect(page.get_by_text(f"{number} ticked.")).to_be_visible()


def test_three_runs_are_compared_and_the_link_shows_the_same(app: App, three: list[str], page: Page) -> None:
    page.goto(f"{app.url}/runs?status=done")
    tick(page, 0, 1, 2)
    page.get_by_role("button", name="Compare").click()
    expect(page).to_have_url(re.compile("compare="))
    table = page.get_by_role("table", name="Each two runs on the same boards")
    expect(table.get_by_role("row")).to_have_count(4)  # the head, and three pairs
    expect(page.locator(".player .stage canvas")).to_have_count(3)
    page.get_by_role("radio", name="boards seen").click()
    expect(page).to_have_url(re.compile("along=boards"))
    page.get_by_role("button", name="Copy link to this view").click()
    expect(page.get_by_text("Link copied")).to_be_visible()
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url
    page.goto("about:blank")
    page.goto(link)
    expect(table.get_by_role("row")).to_have_count(4)
    expect(page.get_by_role("radio", name="boards seen")).to_be_checked()


def table_of(download: Download) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with download.path().open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_a_figure_gives_its_data(app: App, three: list[str], page: Page) -> None:
    page.goto(f"{app.url}/runs?compare=run-a,run-b")
    download = downloaded(page, page.get_by_role("button", name="Download data as CSV"))
    assert download.suggested_filename == "frozenlab-overlay-step.csv"
    rows = table_of(download)
    checks = [row for row in rows if row["series"] == "First"]
    assert [float(row["training step"]) for row in checks] == [0, 8, 16] and {row["n"] for row in checks} == {"24"}
    assert all(float(row["low"]) < float(row["y"]) < float(row["high"]) for row in checks)
    assert len([row for row in rows if row["series"] == "First: reward while training"]) == 16
    assert {row["panel"] for row in rows} == {"valid plans", "reward"} and all(row["series"] for row in rows)
    page.goto(f"{app.url}/story?session=example-quick&stage=1&part=session")
    expect(page.locator(".fl-csv").nth(1)).to_be_attached()

    def of_second() -> list[dict[str, str]]:
        return table_of(downloaded(page, page.get_by_role("button", name="Download data as CSV").nth(1)))

    columns = {"panel", "stage", "share", "valid rate in training", "text", "share of boards", "boards"}
    # figures come in one by one; no bands, no names that Plotly makes up, nothing joined in one column
    soon(page, lambda: {*(rows := of_second())[0]} == columns and len(rows) == 18, "the second figure is the map of the session")


@pytest.mark.slow
def test_a_run_is_archived_deleted_and_taken_back(app: App, three: list[str], page: Page) -> None:
    page.goto(f"{app.url}/runs?find=Third")
    tick(page, 0)
    page.get_by_role("button", name="Archive", exact=True).click()
    expect(page.get_by_text("Third is in the archive.")).to_be_visible()
    expect(page.get_by_text("No run fits these filters.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Third is back in the lists.")).to_be_visible()
    tick(page, 0)
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("Third is in the trash.")).to_be_visible()
    assert not (app.sessions / "run-c").exists()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Third is back.")).to_be_visible()
    assert (app.sessions / "run-c" / "session.json").exists()
    tick(page, 0)
