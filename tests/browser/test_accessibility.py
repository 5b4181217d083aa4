"""axe-core finds nothing serious on any page, on a wide screen and on a phone, and no page is too long. The colours of both themes are in
``tests/ui/test_contrast.py``."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from frozenlab.app.ui.nav import PAGES
from tests.browser.axe import check_axe
from tests.browser.conftest import AT_REST, PHONE, WIDE, App

pytestmark = pytest.mark.slow

LONGEST = 2500
"""Pixels of a page on a wide screen, before its reader asks for more."""


@pytest.fixture(scope="module")
def calm(browser: Browser) -> Iterator[Page]:
    """One page for all addresses, so that the app's files are loaded once."""
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(60_000)
    yield page
    context.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_breaks_no_serious_rule_and_is_not_too_long(shared_app: App, calm: Page, name: str) -> None:
    """Both screens look at one load of the page: its window is narrowed, as when a phone is turned."""
    calm.set_viewport_size(WIDE)
    calm.goto(f"{shared_app.url}/{'' if name == 'home' else name}")
    heights = []
    for screen in (WIDE, PHONE):
        calm.set_viewport_size(screen)
        expect(calm.get_by_role("heading", level=1)).to_be_visible()
        calm.locator(AT_REST).wait_for()
        expect(calm.locator('[data-testid="stSkeleton"]')).to_have_count(0)
        check_axe(calm, f"{screen['width']} px")
        heights.append(calm.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight"))
    assert heights[0] <= LONGEST
