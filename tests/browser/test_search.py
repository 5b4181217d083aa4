"""The words of a search, and a search that a reader does by hand."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from frozenlab.app.ui.components import text_of
from frozenlab.app.views.lake import drawing
from frozenlab.app.views.lake import search as view
from frozenlab.app.views.lake.search import COSTS, MAX_NODES, Solved, solved_of, worth_watching
from frozenlab.app.views.lake.share import encode
from frozenlab.app.views.lake.tracks import SENTENCES
from frozenlab.lake.board import Board, read_board
from frozenlab.lake.solvers.solver import Solution, solve
from tests.browser.conftest import AT_REST, App, running

HEAD_ON = read_board("S g F G s\nH H F H H")
NO_WAY_PAST = read_board("S g F F s F F G")
EASY = read_board("S F G\nF F F\ng F s")
WORDS = text_of(view.__file__, "words.js")
NAMES = {"measure": COSTS["sum_of_costs"], "sentences": SENTENCES}
HERE = """
globalThis.textsOf = (board, most, names, solver) => {
  const tree = new ConstraintTree(new Lake(board), "sum_of_costs");
  const steps = [...tree.search(most)];
  return { actions: steps.map(({ action }) => action), texts: steps.map((step) => explained(step, tree, names)),
    ending: ending(steps[steps.length - 1], tree, names, solver), nodes: tree.nodes.length };
};
globalThis.forbids = forbids;
"""


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    with running(browser, drawing.CODE, drawing.ENGINE, WORDS, HERE) as page:
        yield page


def texts(blank: Page, board: Board, solution: Solution | None = None) -> dict:
    found = solution or solve(board, sum_of_costs=True)
    solver = {"status": found.status, "best": found.sum_of_costs}
    return blank.evaluate("([...given]) => textsOf(...given)", [drawing.plain_board(board), MAX_NODES, NAMES, solver])


def test_every_step_is_described_in_words(blank: Page) -> None:
    found = texts(blank, HEAD_ON)["texts"]
    assert "its own shortest path" in found[0] and "Step 2: agents 0 and 1 are both on (0, 2)." in found[0]
    assert found[1].startswith("Node 0 is the cheapest that is open.")
    assert found[2].startswith("Child of node 0: agent 0 must not be on (0, 2) at step 2.")
    assert "optimal, with a sum of costs of 9" in found[-1]
    assert all(text.count("..") == 0 for text in found)


def test_constraints_in_words(blank: Page) -> None:
    rule = {"agent": 1, "step": 3, "cell": [0, 2], "origin": None}
    assert blank.evaluate("(rule) => forbids(rule)", rule) == "agent 1 must not be on (0, 2) at step 3"
    rule["origin"] = [0, 1]
    assert blank.evaluate("(rule) => forbids(rule)", rule) == "agent 1 must not go from (0, 1) to (0, 2) in step 3"


@pytest.mark.parametrize(
    ("board", "solution", "words"),
    [
        (HEAD_ON, None, ""),
        (EASY, None, "nobody meets anybody"),
        (NO_WAY_PAST, None, "proven that this board has no solution"),
        (NO_WAY_PAST, Solution("solved", 20, 30), "knows: it is 30"),
        (NO_WAY_PAST, Solution("undecided"), "no plan has a smaller sum of costs than"),
        (read_board("S H G"), None, ""),
    ],
)
def test_the_end_is_honest(blank: Page, board: Board, solution: Solution | None, words: str) -> None:
    text = texts(blank, board, solution)["ending"]
    assert words in text and bool(words) == bool(text)


def test_a_search_that_gives_up_stays_small(blank: Page) -> None:
    endless = texts(blank, NO_WAY_PAST)
    assert endless["nodes"] <= MAX_NODES and "gives up" in endless["texts"][-1]
    pruned = [text for action, text in zip(endless["actions"], endless["texts"], strict=True) if action == "pruned"]
    assert pruned and all("this branch ends here" in text for text in pruned)


def test_a_search_is_worth_watching_if_it_branches_and_ends() -> None:
    assert worth_watching(HEAD_ON, "sum_of_costs")
    assert not worth_watching(EASY, "sum_of_costs") and not worth_watching(NO_WAY_PAST, "sum_of_costs")


@pytest.mark.parametrize("sent", [None, 3, {"base": "b", "cost": 3}, {"base": "b", "cost": "3", "wrong": 0, "nodes": 1}, {"base": "a"}])
def test_only_a_whole_result_of_this_search_is_taken(sent: object) -> None:
    assert solved_of(sent, "b") is None
    assert solved_of({"base": "b", "cost": 9, "wrong": 0, "nodes": 7}, "b") == Solved(9, 0, 7)


def test_a_reader_searches_by_hand_without_the_server(shared_app: App, page: Page) -> None:
    page.goto(f"{shared_app.url}/play?board={encode(HEAD_ON)}")
    page.get_by_text("How a solver finds it").click()
    search = page.locator(".search")
    expect(search.get_by_text("its own shortest path")).to_be_visible()
    page.locator(AT_REST).wait_for()
    search.get_by_role("button", name="You choose").click()
    expect(search.locator(".words")).to_contain_text("Which open node comes next?")
    expect(search.locator(".tree g")).to_have_count(1)
    wrong = 0
    while "is optimal" not in search.locator(".words").inner_text():
        marks = search.locator(".tree g.open")
        costs = [int(re.findall(r"sum of costs (\d+)", mark.get_attribute("aria-label") or "")[0]) for mark in marks.all()]
        if max(costs) > min(costs) and not wrong:
            marks.nth(costs.index(max(costs))).click()
            expect(search.locator(".words")).to_contain_text("A cheaper plan may still lie below it.")
            wrong = 1
        before = search.locator(".clock").first.inner_text()
        marks.nth(costs.index(min(costs))).press("Enter")
        expect(search.locator(".clock").first).not_to_have_text(before)
    assert wrong
    expect(search.locator(".head .badge")).to_have_text("valid")
    search.get_by_role("button", name="You choose").click()
    search.get_by_role("button", name="You choose").click()
    search.get_by_role("button", name="Let it run").click()
    expect(search.locator(".words")).to_contain_text("is optimal")
