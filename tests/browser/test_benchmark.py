"""From a figure to its boards and back, and a link that shows another person the same."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from frozenlab.experiments.benchmark.results import Result
from frozenlab.lake.suites import SuiteSpec, build_suite
from tests.browser.conftest import App, downloaded
from tests.builders import build_result


@pytest.fixture(scope="module")
def measured(app: App) -> Result:
    """The later of two results in the lab of the server."""
    boards = build_suite(SuiteSpec(agents=(3, 4), sizes=(3, 4, 5), boards_per_cell=10, seed=5))
    build_result(app.sessions, "base", boards, 0.0, title="lab model")
    return build_result(app.sessions, "trained", boards, 0.6, title="after stage 3", method="grpo", session="long", stage=2)


def scrolled(page: Page) -> float:
    return page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop")


@pytest.mark.slow
def test_a_figure_leads_to_its_boards_and_the_link_opens_them(app: App, measured: Result, page: Page, visit: Callable[..., Page]) -> None:
    assert measured.rows is not None
    cell = measured.rows[(measured.rows["agents"] == 3) & (measured.rows["size"] == 5)]
    solved = f"{cell['valid'].sum()} of 10"

    page.goto(f"{app.url}/benchmark")
    figure = page.get_by_role("button", name=re.compile("^after stage 3, 5×5: .*show the boards"))
    figure.scroll_into_view_if_needed()
    assert scrolled(page) > 0
    figure.click()
    expect(page.get_by_text("Which boards are behind the figure?")).to_be_visible()
    expect(page.locator(".fl-answer b", has_text="of 10")).to_have_text(solved)  # what it replaces may still be there
    expect(page.locator(".player canvas")).to_have_count(3)  # its plan, that of the other result, the optimal one
    page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollTop === 0")

    page.locator(".gallery button").nth(3).click()
    expect(page).to_have_url(re.compile("boards=trained~3~5~all~~~3ag_5x5"))
    board = f"To the letter: the answers to board {page.url.rsplit('~', 1)[1]}"
    expect(page.get_by_text(board)).to_be_visible()

    other = visit()
    other.goto(page.url)
    expect(other.get_by_text(board)).to_be_visible()
    expect(other.locator(".gallery button[aria-pressed=true]")).to_have_count(1)
    expect(other.locator(".fl-answer b")).to_have_text(solved)
    other.close()

    page.go_back()
    expect(page).to_have_url(re.compile("boards=trained~3~5~all~~~$"))
    page.go_back()
    expect(page.get_by_role("heading", name="How good is a checkpoint?")).to_be_visible()
    expect(page.locator(".scoreboard table").first).to_be_visible()


@pytest.mark.slow
def test_a_bar_of_faults_leads_to_its_boards(app: App, measured: Result, page: Page) -> None:
    page.goto(f"{app.url}/benchmark?suite=paper&result=base&result=trained")
    bar = page.locator(".st-key-outcomes .trace.bars .point path").first
    bar.scroll_into_view_if_needed()
    bar.click(force=True)
    expect(page.get_by_text("Which boards are behind the figure?")).to_be_visible()
    expect(page).to_have_url(re.compile("boards=(base|trained)~3~all~[a-z_]+~"))
    page.get_by_role("button", name="All figures").click()
    expect(page.get_by_role("heading", name="How good is a checkpoint?")).to_be_visible()


@pytest.mark.slow
def test_the_plot_and_the_tables_can_be_taken_along(app: App, measured: Result, page: Page) -> None:
    page.goto(f"{app.url}/benchmark")
    expect(page.locator(".st-key-rates .main-svg").first).to_be_visible()
    for press, name in (
        (page.locator(".st-key-rates .modebar-btn").first, "frozenlab-rates.svg"),
        (page.get_by_role("button", name="CSV", exact=True), "benchmark-paper.csv"),
        (page.get_by_role("button", name="JSON"), "benchmark-paper.json"),
    ):
        taken = downloaded(page, press)
        assert taken.suggested_filename == name
        if name.endswith("svg"):
            assert 'class="legend"' in taken.path().read_text(), "which stands above the figure on the page"
    expect(page.locator(".fl-legend").first).to_contain_text("Qwen3-4B")
    expect(page.locator(".js-plotly-plot .legend")).to_have_count(0)
