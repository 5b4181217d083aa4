"""axe-core finds nothing serious on any page, light and dark, on a wide screen and on a phone; and no page is too long."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Browser, Page, expect

from frozenlab.ui.nav import PAGES
from tests.browser.axe import violations

if TYPE_CHECKING:
    from tests.browser.conftest import App

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
