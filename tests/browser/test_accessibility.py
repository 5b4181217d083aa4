"""axe-core finds nothing serious on any page, light and dark, on a wide screen and on a phone; and no page is too long."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, Page, expect

from frozenlab.ui.nav import PAGES

if TYPE_CHECKING:
    from tests.browser.conftest import App

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
SERIOUS = ("serious", "critical")
LONGEST = 2500
"""Pixels of a page on a wide screen, before its reader asks for more."""
SCREENS = {"wide": (1440, 900), "phone": (390, 844)}


@pytest.fixture(scope="module", params=["light", "dark"])
def themed(request: pytest.FixtureRequest, browser: Browser) -> Iterator[Page]:
    """One page for all addresses, so that the app's files are loaded once a theme."""
    context = browser.new_context(color_scheme=request.param, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(60_000)
    yield page
    context.close()


def violations(page: Page) -> list[str]:
    """What axe finds, a line for each rule with the first elements that break it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        f"{rule['id']} ({rule['impact']}, {len(rule['nodes'])}): " + " | ".join(_node(node) for node in rule["nodes"][:5])
        for rule in found
        if rule["impact"] in SERIOUS
    ]


def _node(node: dict) -> str:
    reasons = [check["message"] for check in (*node["any"], *node["all"], *node["none"])]
    return f"{node['target']} {node['html'][:160]} {'; '.join(reasons)[:200]}"


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_breaks_no_serious_rule_and_is_not_too_long(app: App, themed: Page, name: str, screen: str) -> None:
    width, height = SCREENS[screen]
    themed.set_viewport_size({"width": width, "height": height})
    themed.goto(f"{app.url}/{'' if name == 'home' else name}")
    expect(themed.get_by_role("heading", level=1)).to_be_visible()
    themed.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
    expect(themed.locator('[data-testid="stSkeleton"]')).to_have_count(0)
    broken = violations(themed)
    assert not broken, "\n".join(broken)
    if screen == "wide":
        assert themed.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight") <= LONGEST
