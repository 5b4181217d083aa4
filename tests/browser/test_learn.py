"""The course in a real browser: every chapter with a wrong and a right answer, and a class with its teacher."""

from __future__ import annotations

import re
from itertools import product

import pytest
from playwright.sync_api import Locator, Page, expect

from frozenlab.app.learn import boards
from frozenlab.app.learn.chapters import CHAPTERS, Chapter
from frozenlab.app.learn.exercises import (
    Bounding,
    Choice,
    Delaying,
    Estimate,
    Exercise,
    Freeing,
    OneStep,
    Ordering,
    Prediction,
    Question,
    Regrouping,
    Steering,
    Stepping,
)
from frozenlab.app.views.lake.share import encode
from frozenlab.lake.board import Plan
from frozenlab.lake.solvers.priorities import plan_in_order
from tests.browser.conftest import AT_REST, PHONE, App, downloaded

COVERED = """(idea) => {
  const more = idea.querySelector(".fl-more").getBoundingClientRect(), covered = [];
  const words = document.createTreeWalker(idea, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    if (words.currentNode.parentElement.closest(".fl-more")) continue;
    const range = document.createRange();
    range.selectNodeContents(words.currentNode);
    for (const { right, top, bottom } of range.getClientRects()) {
      if (right > more.left && top < more.bottom - 2 && bottom > more.top + 2) covered.push(right);
    }
  }
  return covered;
}"""
"""The lines of an idea that run under the words that open the rest of it."""
KEYS = {"U": "ArrowUp", "D": "ArrowDown", "L": "ArrowLeft", "R": "ArrowRight", "W": "w"}


def steer_by_keys(page: Page, plan: Plan) -> None:
    """A plan, by hand; the one move of a wrong answer before it is taken back."""
    page.locator(".steer .player").focus()
    page.keyboard.press("Control+z")
    for agent, letters in enumerate(plan):
        page.keyboard.press(str(agent))
        for letter in letters:
            page.keyboard.press(KEYS[letter])


def answer(page: Page, exercise: Exercise, *, right: bool) -> None:
    """Gives a right or a wrong answer, and hands it in."""
    if isinstance(exercise, Steering):
        steer_by_keys(page, exercise.best() if right else ("W",))
    elif isinstance(exercise, Stepping):
        steer_by_keys(page, next(plan for plan in product("UDLRW", repeat=4) if exercise.mark(plan).right is right))
    elif isinstance(exercise, Freeing):
        steer_by_keys(page, exercise.way_out if right else ("W", "W", "R"))
    elif isinstance(exercise, Estimate):
        for name, true in exercise.truths.items():
            slider = page.get_by_role("slider", name=name)
            for _ in range(round(true if exercise.in_powers else 20 * true) - 1 if right else 1):
                slider.press("ArrowRight")
        at_rest(page)
    elif isinstance(exercise, Ordering):
        order = next(one for one in ((0, 1, 2), (2, 1, 0)) if (len(plan_in_order(exercise.board, one)) == 3) is right)
        pills = [page.locator(".st-key-learn-priorities-order").get_by_role("button", name=f"agent {agent}") for agent in range(3)]
        for pill in pills:
            if pill.get_attribute("aria-pressed") == "true":
                pill.click()
        for agent in order:
            pills[agent].click()
        expect(page.get_by_text("Your order: " + ", then ".join(f"agent {agent}" for agent in order), exact=True)).to_be_visible()
    elif isinstance(exercise, Bounding):
        factor = next(factor for factor in exercise.factors[1:-1] if exercise.mark(factor).right is right)
        page.get_by_role("radio", name=f"{factor:g}", exact=True).click()
        at_rest(page)
        page.get_by_role("slider", name="Nodes that it expands").press("ArrowRight")
        at_rest(page)
        expect(page.get_by_text(f"w = {factor:g}", exact=True)).to_be_hidden()  # before it is checked
    elif isinstance(exercise, Regrouping):
        for agent in set(exercise.best()) ^ {0, 1} if right else {0, 1}:
            page.get_by_role("button", name=f"agent {agent}", exact=True).click()
    elif isinstance(exercise, Delaying):
        for agent in {*exercise.waits()} ^ {0, 1} if right else {0, 1}:
            page.get_by_role("button", name=f"agent {agent}", exact=True).click()
    elif isinstance(exercise, Question):
        best = exercise.right if isinstance(exercise, Choice) else 0
        at = best if right else (best + 1) % len(exercise.options)
        page.get_by_role("radio", name=exercise.options[at], exact=True).click(force=True)
    page.get_by_role("button", name="Check").click()


def at_rest(page: Page) -> None:
    page.wait_for_timeout(200)  # the click has to reach the server first
    page.locator(AT_REST).wait_for()


def verdict(page: Page, *, right: bool) -> Locator:
    return page.get_by_text("Right." if right else "Not yet.", exact=True)


@pytest.mark.slow
@pytest.mark.parametrize("chapter", [chapter for chapter in CHAPTERS if chapter.name != "search"], ids=lambda chapter: chapter.name)
def test_a_chapter_marks_a_wrong_and_a_right_answer_with_a_reason(shared_app: App, page: Page, chapter: Chapter) -> None:
    exercise = chapter.exercise()
    page.goto(f"{shared_app.url}/learn?chapter={chapter.name}")
    expect(page.get_by_role("heading", name=chapter.title)).to_be_visible()
    at_rest(page)
    answer(page, exercise, right=False)
    if isinstance(exercise, Prediction):
        expect(page.get_by_text("What happened.", exact=True)).to_be_visible()
        return
    expect(verdict(page, right=False)).to_be_visible()
    for number in range(1, len(exercise.hints()) + 1):
        page.get_by_role("button", name=f"Hint {number} of").click()
        expect(page.get_by_text(f"Hint {number}.", exact=True)).to_be_visible()
    at_rest(page)
    answer(page, exercise, right=True)
    expect(verdict(page, right=True)).to_be_visible()
    page.wait_for_url(lambda url: f"done={chapter.name}" in url)
    if isinstance(exercise, Steering):
        counted = "after" if exercise.objective == "makespan" else "sum of costs"
        expect(page.locator(".steer .score")).to_have_text(re.compile(rf"^(All on|On its) goal.* {counted} \d+( steps)?\.$"))
        page.locator(".steer .player").focus()
        page.keyboard.press("w")
        expect(verdict(page, right=True)).to_be_hidden()


@pytest.mark.slow
@pytest.mark.parametrize("name", [chapter.name for chapter in CHAPTERS if isinstance(chapter.exercise(), (Steering, OneStep))])
def test_no_exercise_is_solved_by_a_click_on_each_goal(shared_app: App, page: Page, name: str) -> None:
    exercise = next(chapter for chapter in CHAPTERS if chapter.name == name).exercise()
    assert isinstance(exercise, (Steering, OneStep))
    page.goto(f"{shared_app.url}/learn?chapter={name}")
    board = page.locator(".steer canvas")
    expect(board).to_be_visible()
    at_rest(page)
    for agent, (_, (row, column)) in enumerate((agent.start, agent.goal) for agent in exercise.board.agents):
        page.locator(".steer .player").focus()
        page.keyboard.press(str(agent))
        box = board.bounding_box()
        assert box is not None
        wide, high = exercise.board.width, exercise.board.height
        board.click(
            position={"x": (column + 0.5 + 0.34) * box["width"] / (wide + 0.68), "y": (row + 0.5 + 0.34) * box["height"] / (high + 0.68)}
        )
    page.get_by_role("button", name="Check").click()
    expect(verdict(page, right=False).or_(page.get_by_text("does not count as a try"))).to_be_visible()


@pytest.mark.slow
def test_the_flood_runs_from_the_goal_that_the_reader_chooses(shared_app: App, page: Page) -> None:
    page.goto(f"{shared_app.url}/learn")
    page.get_by_role("button", name="Show me how it can go").click()
    expect(page.get_by_role("heading", name="Look")).to_be_in_viewport()
    says = page.locator(".flood p")
    expect(says).to_have_text("From the start, the cell with the dashed ring, 12 steps are left.")
    page.get_by_role("button", name="(0, 1)").click()
    expect(says).to_contain_text("1 step is left")
    page.get_by_role("slider", name="Steps of the flood").fill("0")
    expect(says).to_contain_text("After 0 steps the flood has not reached the start yet.")
    page.get_by_role("button", name="Run the flood").click()
    expect(page.get_by_role("button", name="(5, 5)")).to_have_text("9")


@pytest.mark.slow
def test_the_course_is_kept_while_the_reader_visits_another_page(shared_app: App, page: Page) -> None:
    page.goto(f"{shared_app.url}/learn?class=mapf&boards={encode(boards.CROSSING)}&chapter=engineer&done=one.meeting")
    expect(page.get_by_role("heading", name="An engineer decides")).to_be_visible()
    at_rest(page)
    for name in ("Play", "Learn"):
        page.get_by_role("link", name=name, exact=True).first.click()
        page.wait_for_url(f"**/{name.lower()}*")
        at_rest(page)
    page.wait_for_url(lambda url: all(f"{part}=" in url for part in ("class", "boards", "done")) and "chapter=engineer" in url)
    expect(page.get_by_role("textbox", name="Your name")).to_be_visible()
    expect(page.get_by_role("radio", name="Your teacher's boards")).to_be_visible()
    page.get_by_role("radio", name="The problem 2/6").click()
    expect(page.get_by_role("radio", name="1. One agent ✓")).to_be_visible()


def test_one_press_of_back_leads_to_the_view_before(shared_app: App, page: Page) -> None:
    def expect_chapter(number: int) -> None:
        expect(page.locator(".fl-idea")).to_contain_text(CHAPTERS[number].idea[:20])
        at_rest(page)

    page.goto(f"{shared_app.url}/help")
    at_rest(page)
    page.get_by_role("link", name="Learn", exact=True).first.click()
    expect_chapter(0)
    for number in (2, 3):
        page.get_by_role("radio", name=f"{number + 1}. {CHAPTERS[number].title}").click()
        expect_chapter(number)
    for number in (2, 0):
        page.go_back()
        expect_chapter(number)
    page.go_back()
    page.wait_for_url("**/help")


def test_the_search_is_done_by_hand(shared_app: App, page: Page) -> None:
    page.goto(f"{shared_app.url}/learn?chapter=search&done=one")
    search = page.locator(".search").first
    expect(search.locator(".words")).to_contain_text("Which open node comes next?")
    while "is optimal" not in search.locator(".words").inner_text():
        marks = search.locator(".tree g.open")
        costs = [int(text) for text in marks.locator(".cost").all_text_contents()]
        before = search.locator(".clock").first.inner_text()
        marks.nth(costs.index(min(costs))).press("Enter")
        expect(search.locator(".clock").first).not_to_have_text(before)
    expect(verdict(page, right=True)).to_be_visible()
    expect(page.get_by_text("without a wrong choice")).to_be_visible()
    page.wait_for_url(lambda url: "done=one.search" in url)


@pytest.mark.long
def test_the_search_on_a_curated_board_runs_to_its_end_without_a_request(shared_app: App, page: Page) -> None:
    asked: list[str] = []
    page.on("websocket", lambda socket: socket.on("framesent", lambda frame: asked.append("a message")))
    page.goto(f"{shared_app.url}/learn?chapter=search&done=search")
    search = page.locator(".search").last
    expect(search.locator(".words")).to_contain_text("its own shortest path")
    at_rest(page)
    page.wait_for_timeout(1000)
    page.on("request", lambda request: asked.append(request.url))
    asked.clear()
    while "is optimal" not in search.locator(".words").inner_text():
        before = search.locator(".clock").first.inner_text()
        search.press("ArrowRight")
        expect(search.locator(".clock").first).not_to_have_text(before)
    expect(search.locator(".tree g:not([hidden])")).to_have_count(11)
    assert not asked


@pytest.mark.slow
def test_a_phone_shows_task_board_and_button_at_once(shared_app: App, page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{shared_app.url}/learn?chapter=swapping")
    task, check = page.get_by_text("They stand in each other's way"), page.get_by_role("button", name="Check my plan")
    for part in (page.locator(".fl-idea"), task, page.locator(".steered .stage"), page.locator(".hand"), check):
        expect(part).to_be_in_viewport(ratio=1)
    assert page.locator(".fl-idea").evaluate(COVERED) == [], "no word is cut by what leads on"
    short = page.locator(".fl-idea").bounding_box()
    page.get_by_text("read on").click()
    whole = page.locator(".fl-idea").bounding_box()
    assert short and whole and whole["height"] > 2 * short["height"]


@pytest.mark.slow
def test_the_board_goes_to_the_step_that_a_wrong_answer_names_and_a_phone_shows_all_that_is_pressed(shared_app: App, page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{shared_app.url}/learn?chapter=meeting")
    expect(page.locator(".steer .clock")).to_have_text("step 0")
    at_rest(page)
    steer_by_keys(page, ("DLLU", "LLL"))
    expect(page.locator(".conflicts button:visible")).to_have_count(1)
    expect(page.locator(".steer .clock")).to_have_text("step 3 / 4")
    at_rest(page)
    page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")
    check = page.get_by_role("button", name="Check my plan")
    for part in (page.locator(".steer .play"), check):
        expect(part).to_be_in_viewport(ratio=1)
    page.locator(".steer .play").click(trial=True)  # nothing lies over it
    check.click()
    expect(page.get_by_text("Step 1: agents 0 and 1 are both on (3, 2). The rule:")).to_be_visible()
    expect(page.locator(".steer .clock")).to_have_text("step 1 / 4")


@pytest.mark.slow
def test_a_phone_shows_the_tree_and_the_boards_of_its_nodes_at_once(shared_app: App, page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{shared_app.url}/learn?chapter=search")
    page.locator(".tree g.open").click()
    expect(page.locator(".search .plan figure")).to_have_count(2)
    for part in (page.locator(".search .words"), page.locator(".tree"), *page.locator(".search .stage").all()):
        expect(part).to_be_in_viewport(ratio=1)


@pytest.mark.slow
def test_a_class_has_boards_of_its_own_and_a_table_of_results(shared_app: App, page: Page) -> None:
    page.goto(f"{shared_app.url}/learn?class=mapf&boards={encode(boards.CROSSING)}")
    name = page.get_by_role("textbox", name="Your name")
    name.fill("Ada")
    name.press("Enter")
    page.get_by_role("radio", name="Your teacher's boards").first.click()
    expect(page.locator(".steer")).to_be_visible()
    at_rest(page)
    answer(page, Steering("", boards.CROSSING), right=True)
    expect(verdict(page, right=True)).to_be_visible()
    expect(page.get_by_role("link", name="Train", exact=True)).to_have_count(0)
    page.goto(f"{shared_app.url}/classroom?lesson=mapf")
    expect(page.get_by_role("link", name="Train", exact=True).first).to_be_attached()
    expect(page.get_by_role("cell", name="✓ 1")).to_be_visible()
    table = downloaded(page, page.get_by_role("button", name="CSV", exact=True))
    assert table.path().read_text(encoding="utf-8-sig").splitlines()[1] == "Ada,,,,,,,✓ 1 try"
    answers = downloaded(page, page.get_by_role("button", name="Answers"))
    assert "To hear" in answers.path().read_text(encoding="utf-8")
