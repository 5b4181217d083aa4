"""Beat the engineer in a browser: from the evidence to the score, with a training of a few steps."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from frozenlab.experiments.contests.store import Contest
from frozenlab.session.store import SessionStore
from tests.browser.conftest import App
from tests.contests.builders import tiny_contest
from tests.running import end_workers, wait_for

pytestmark = pytest.mark.long


def test_the_engineer_is_met_and_scored(app: App, page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROZENLAB_SESSIONS", str(app.sessions))
    store = SessionStore(app.sessions)
    contest = tiny_contest(store, boards_per_cell=8)
    try:
        page.goto(f"{app.url}/contest?contest={contest.id}")
        contest.wake()
        enter = page.get_by_role("button", name="Train both")
        expect(enter).to_be_visible()
        expect(page.get_by_text("Why the engineer chose this")).to_have_count(0)
        page.get_by_label("Your name").fill("Ada")
        four = page.get_by_role("slider").nth(1)
        four.focus()
        four.press("ArrowRight")
        expect(page.get_by_text(re.compile("4×4 42.9 %"))).to_be_visible()
        enter.click()
        expect(page.get_by_text("Side by side")).to_be_visible()
        expect(page.get_by_text("points of valid plans").or_(page.get_by_text(re.compile(r"points \(.* to .*\)"))).first).to_be_visible()
        wait_for(lambda: not contest.unfinished and not contest.state().live, "the end of the queue")
        expect(page.get_by_text("What was possible")).to_be_visible()
        board = page.get_by_role("table", name="Scoreboard")
        expect(board.get_by_role("row")).to_have_count(4)
        expect(page.get_by_role("button", name="Scoreboard as CSV")).to_be_visible()
        page.reload()
        expect(board.get_by_role("row")).to_have_count(4)
        page.get_by_text("Try another config", exact=True).click()
        expect(page.get_by_role("button", name="Train this too")).to_be_visible()
    finally:
        end_workers([side for one in contest.entries if (side := contest.side(one.number))] + Contest.all(store))
