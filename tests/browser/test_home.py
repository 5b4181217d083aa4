"""The four doors of Home in a real browser, by mouse and by keyboard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import App

DOORS: dict[str, Callable[[Page], None]] = {
    "Watch it": lambda page: expect(page.locator(".scene h1")).to_have_text("Can a model design what it learns from?"),
    "Begin the course": lambda page: expect(page.locator(".steer .score")).to_contain_text("No conflict"),
    "Play a board": lambda page: expect(page.get_by_role("radio", name="Draw")).to_be_visible(),
    "Set one up": lambda page: expect(page.get_by_role("heading", level=1, name="What should run?")).to_be_visible(),
    "Start an ablation": lambda page: expect(page.get_by_role("dialog").get_by_text("What is compared")).to_be_visible(),
}
"""What each button leads to."""


@pytest.mark.slow
def test_each_door_leads_where_it_says_by_mouse_and_by_keyboard(shared_app: App, page: Page) -> None:
    for place, name in enumerate(DOORS):
        page.goto(shared_app.url)
        door = page.get_by_role("button", name=name)
        if place % 2:
            door.click()
        else:
            door.focus()
            page.keyboard.press("Enter")
        DOORS[name](page)
