"""The benchmark of the app: a visit costs the server CPU time, an idle page almost none."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from benchmarks.server_cpu import cpu_of
from benchmarks.ui_speed import measure
from tests.browser.conftest import App

pytestmark = pytest.mark.long


def test_a_visit_costs_cpu_time_and_an_idle_page_does_not(app: App, browser: Browser) -> None:
    page = browser.new_page()
    visit = measure(app, page, lambda: page.goto(app.url))
    assert visit.cpu > 0
    assert visit.wall > 0
    before = cpu_of(app)
    page.wait_for_timeout(500)
    assert cpu_of(app) - before < visit.cpu
    page.close()
