"""One board on five checkpoints under one timeline, from Story and Play; ``test_benchmark.py`` opens one behind a figure."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from frozenlab.app.views.lake.share import encode
from frozenlab.base import places
from frozenlab.lake.board import read_board
from tests.browser.conftest import App, pixels

BOARD = read_board("S F F F\nF H F F\nF F F g\ns F F G")
STAGES = ["Stage 1", "Stage 2", "Stage 3", "Stage 4"]


def expect_lockstep(page: Page, labels: list[str]) -> None:
    """A board for each of ``labels``, all of which a key takes on together."""
    expect(page.locator(".player .label")).to_have_text(labels)
    expect(page.locator(".player .badge:visible")).to_have_count(len(labels))  # all have planned
    page.locator(".player").press("Home")
    expect(page.locator(".player .clock")).to_contain_text("step 0 /")
    start = pixels(page)
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".player .clock")).to_contain_text("step 2 /")
    assert sum(a != b for a, b in zip(start, pixels(page), strict=True)) >= 5, "all plans that there are go on under one timeline"


@pytest.fixture
def app(new_app: Callable[[], App]) -> App:
    """A server with a copy of the longest recorded session."""
    app = new_app()
    shutil.copytree(places.ROOT / "sessions" / "example-long", app.sessions / "long")
    return app


@pytest.mark.slow
def test_from_the_story_of_a_session(app: App, page: Page) -> None:
    page.goto(f"{app.url}/story?session=long&part=failed")
    page.locator(".st-key-story-board-plans").get_by_text("every stage").click()
    expect(page.locator(".player figure")).to_have_count(6)
    expect_lockstep(page, ["Before training", *STAGES, "optimal plan"])


@pytest.mark.long
def test_from_any_board_on_play(app: App, page: Page) -> None:
    stages = app.sessions / "long" / "stages"
    for stage in ("00", "01", "02"):  # only the last stage ships with its weights
        shutil.copytree(stages / "03" / "policy", stages / stage / "policy")
    page.goto(f"{app.url}/play?board={encode(BOARD)}")
    page.get_by_role("radio", name="Every stage").click()
    page.get_by_role("combobox", name="Session").click()
    page.get_by_role("option", name="(long)").click()
    page.get_by_role("button", name="Let them plan").click()
    expect(page.locator(".player figure")).to_have_count(6)
    expect_lockstep(page, ["base", *(stage.lower() for stage in STAGES), "Exact solver"])
