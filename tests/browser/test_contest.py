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
        page.get_by_role("button", name="It was taught wrong about 4×4").click()
        expect(page.get_by_text("your guess")).to_be_visible()
        enter = page.get_by_role("button", name="Train both")
        expect(enter).to_be_disabled()
        expect(page.get_by_text("Why the engineer chose this")).to_have_count(0)
        more = page.get_by_role("button", name="One token more on 4×4")
        more.focus()
        for left in range(9, -1, -1):
            page.keyboard.press("Enter")
            expect(page.get_by_text(f"{left} token" if left else "All tokens are laid")).to_be_visible()
        page.keyboard.press("Enter")
        group = page.get_by_role("group", name="Tokens on 4×4")
        expect(group.get_by_text("10", exact=True)).to_be_visible()
        page.get_by_role("button", name="One token less on 4×4").click()
        page.get_by_role("button", name="One token more on 5×5").click()
        page.get_by_label("Your name").fill("Ada")
        enter.click()
        expect(page.get_by_text("Side by side")).to_be_visible()
        wait_for(lambda: not contest.unfinished and not contest.state().live, "the end of the queue")
        expect(page.get_by_text("You guessed 4×4, which is right.")).to_be_visible()
        expect(page.get_by_text(re.compile("the oracle knew the planted weakness"))).to_be_visible()
        assert [entry.config.cells["4"].share for entry in contest.entries if entry.name == "Ada" and entry.config] == [0.9]
        board = page.get_by_role("table", name="Scoreboard")
        expect(board.get_by_role("row")).to_have_count(4)
        expect(page.get_by_role("button", name="Scoreboard as CSV")).to_be_visible()
        page.reload()
        expect(board.get_by_role("row")).to_have_count(4)
        page.get_by_text("Try another config", exact=True).click()
        expect(page.get_by_role("button", name="Train this too")).to_be_visible()
    finally:
        end_workers([side for one in contest.entries if (side := contest.side(one.number))] + Contest.all(store))
