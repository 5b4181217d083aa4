"""One board on five checkpoints under one timeline, from Story; ``tests/pages/test_play.py`` plans on every stage, and
``test_benchmark.py`` opens one behind a figure."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING

from playwright.sync_api import Page, expect

from frozenlab.base import places

if TYPE_CHECKING:
    from tests.browser.conftest import App

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


def pixels(page: Page) -> list[str]:
    return page.locator(".player canvas").evaluate_all("all => all.map((canvas) => canvas.toDataURL())")


def test_from_the_story_of_a_session(new_app: Callable[[], App], page: Page) -> None:
    app = new_app()
    shutil.copytree(places.ROOT / "sessions" / "example-long", app.sessions / "long")
    page.goto(f"{app.url}/story?session=long&part=failed")
    page.locator(".st-key-story-board-plans").get_by_text("every stage").click()
    expect(page.locator(".player figure")).to_have_count(6)
    expect_lockstep(page, ["Before training", *STAGES, "optimal plan"])
