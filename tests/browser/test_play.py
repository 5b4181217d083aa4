"""Play and Design in a real browser: the deep link into a cold server, the player, the editor, the gallery, the look in the dark."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from PIL import Image, ImageColor
from playwright.sync_api import Locator, Page, expect

from frozenlab.app.play.choices import random_board
from frozenlab.app.ui.theme import LIGHT
from frozenlab.app.views.lake.desk import TEMPLATES
from frozenlab.app.views.lake.share import decode, encode
from frozenlab.lake.board import Agent, Board, read_board
from frozenlab.lake.solvers.solver import solve
from tests.browser.conftest import AT_REST, App, downloaded, pixels, soon

CROSSING = read_board("S F F\nF F F\ns F g\nF F G")
"""Small, and its agents meet if they hurry."""


def board_of(page: Page) -> Board:
    """The board in the address."""
    return decode(page.url.split("board=")[1].split("&")[0])


def player(page: Page) -> Locator:
    expect(page.locator(".player .stage canvas").first).to_be_visible()
    return page.locator(".player")


def play(app: App, page: Page, board: Board = CROSSING, mode: str = "") -> Locator:
    """Opens a board on Play, turns the switch on it to ``mode``, and returns its player."""
    page.goto(f"{app.url}/play?board={encode(board)}")
    shown = player(page)
    if mode:
        page.get_by_role("radio", name=mode, exact=True).click()
    return shown


def cells_on(canvas: Locator, rows: int = 4) -> Callable[[float, float], tuple[float, float]]:
    """Where a cell of a board with so many rows is on the screen."""
    expect(canvas).to_be_visible()
    box = canvas.bounding_box()
    assert box is not None
    side = box["height"] / (rows + 2 * 0.08)
    return lambda r, c: (box["x"] + side * (c + 0.58), box["y"] + side * (r + 0.58))


def cell(page: Page, r: int, c: int) -> Locator:
    """A cell of the board that is drawn on."""
    return page.locator(f'.cell[data-r="{r}"][data-c="{c}"]')


def expect_board(page: Page, board: Board | str) -> None:
    """The address holds this board."""
    page.wait_for_url(f"**board={encode(read_board(board) if isinstance(board, str) else board)}*")


@pytest.mark.slow
@pytest.mark.parametrize("name, question", [("play", "How does the model plan"), ("design", "What should the model train on")])
def test_a_deep_link_into_a_cold_server_opens_the_page_in_the_app(new_app: Callable[[], App], page: Page, name: str, question: str) -> None:
    page.goto(f"{new_app().url}/{name}?presenter=true")
    expect(page.get_by_role("heading", name=question)).to_be_visible()
    expect(page.get_by_role("link", name="Home", exact=True)).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(page.locator("html")).to_have_css("font-size", "22px")
    expect(page.locator(".streamlit-wide")).to_have_count(1)


def test_the_player_plays_steps_and_marks_the_first_fault(shared_app: App, page: Page) -> None:
    page.goto(f"{shared_app.url}/help")
    player(page)
    expect(page.locator(".player figure")).to_have_count(2)
    expect(page.get_by_text("Step 1: agents 0 and 1 are both on (1, 1).")).to_be_visible()
    ring = page.locator(".player .ring")
    page.get_by_role("button", name="Pause").click()
    page.locator(".player").press("Home")
    expect(page.locator(".clock")).to_have_text("step 0 / 3")
    expect(ring).to_be_hidden()
    start = pixels(page)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".clock")).to_have_text("step 1 / 3")
    expect(ring).to_be_visible()
    soon(page, lambda: all(now != then for now, then in zip(pixels(page), start, strict=True)))
    page.locator(".player .save summary").click()
    saved = Image.open(downloaded(page, page.locator(".player .save").get_by_role("button", name="PNG")).path()).convert("RGB")
    rings = sum(n for n, color in saved.getcolors(2**24) if color == ImageColor.getrgb(LIGHT.accent))
    assert rings > 500, "a saved picture has the ring, too"
    page.locator(".player").focus()
    page.keyboard.press("Space")
    expect(page.locator(".clock")).to_have_text("step 3 / 3")
    expect(page.locator(".clock")).to_have_text("step 0 / 3")  # it begins again
    page.get_by_role("button", name="Pause").click()
    page.get_by_label("Time step").fill("0.5")
    expect(page.locator(".clock")).to_have_text("step 0 / 3")
    expect(ring).to_be_hidden()


def steering(shared_app: App, page: Page) -> tuple[Locator, Callable[[float, float], tuple[float, float]]]:
    """Play with CROSSING to steer on: the score, and where a cell is on the screen."""
    play(shared_app, page, mode="Plan")
    expect(page.locator(".score")).to_have_text("Press an agent and draw its path, or press the cell where it should go.")
    return page.locator(".score"), cells_on(page.locator(".steered canvas"))


def open_save_menu(page: Page) -> None:
    page.wait_for_timeout(300)  # what was steered has to reach the server first: its run may close the menu again
    page.locator(AT_REST).wait_for()
    page.get_by_role("button", name="Save and share").click()


def test_a_team_is_steered_to_the_optimum_by_mouse(shared_app: App, page: Page) -> None:
    score, at = steering(shared_app, page)
    page.mouse.move(*at(0, 0))
    page.mouse.down()
    for cell in ((1, 0), (2, 0), (2, 1)):
        page.mouse.move(*at(*cell), steps=3)
    page.mouse.up()
    page.mouse.click(*at(3, 2))  # its goal: the rest of the way is the shortest
    expect(score).to_have_text("One conflict. Step 2: agents 0 and 1 are both on (2, 0).")
    ring = page.locator(".ring")
    expect(ring).to_be_visible()
    expect(ring).to_have_css("opacity", "0.5")
    page.get_by_role("button", name="Show step 2").click()
    expect(page.locator(".clock")).to_have_text("step 2 / 5")
    expect(ring).to_have_class("ring now")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Start over").click()
    for cell in ((1, 1), (3, 1), (3, 2), (2, 0), (2, 2)):  # to press agent 1 on (2, 0) goes back to its step 0
        page.mouse.click(*at(*cell))
    expect(score).to_have_text("All on goal after 5 steps. That is the optimal makespan.")
    open_save_menu(page)
    expect(page.get_by_role("button", name="GIF")).to_be_visible()


@pytest.mark.long
def test_a_team_is_steered_to_the_optimum_by_keys(shared_app: App, page: Page) -> None:
    score, _ = steering(shared_app, page)
    page.locator(".player").focus()
    before = pixels(page)
    for key in ("ArrowDown", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowRight", "1", "ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(score).to_have_text("Blocked: the board ends there.")
    page.keyboard.press("w")
    page.keyboard.press("Backspace")
    page.keyboard.press("ArrowUp")
    expect(score).to_have_text("No conflict. Agent 1 is not on its goal yet.")
    page.keyboard.press("Control+z")
    expect(score).to_have_text("All on goal after 5 steps. That is the optimal makespan.")
    soon(page, lambda: pixels(page) != before)
    drawn = pixels(page)
    page.get_by_role("button", name="Optimal ghost").click()
    soon(page, lambda: pixels(page) != drawn)
    page.locator(".player").press("Space")
    expect(page.locator(".clock")).to_have_text("step 5 / 5")


@pytest.mark.slow
def test_readers_who_want_calm_get_no_motion(shared_app: App, visit: Callable[..., Page]) -> None:
    page = visit(reduced_motion="reduce")
    for name in ("design", "play"):
        page.goto(f"{shared_app.url}/{name}")
        player(page)
        expect(page.locator(".clock")).to_contain_text("step 0")
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


@pytest.mark.slow
def test_the_first_board_plays_by_itself_once(shared_app: App, page: Page) -> None:
    page.goto(f"{shared_app.url}/play")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator(".clock")).to_have_text("step 9 / 9")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".player .failed")).to_have_count(0)  # a plan without a fault has none at any time
    page.get_by_role("radio", name="Plan", exact=True).click()
    page.locator(AT_REST).wait_for()
    page.get_by_role("radio", name="Watch", exact=True).click()
    page.locator(AT_REST).wait_for()
    expect(page.locator(".clock")).to_have_text("step 0 / 9")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


@pytest.mark.slow
def test_keys_press_buttons_after_a_click_on_a_widget_but_not_in_text(shared_app: App, page: Page) -> None:
    play(shared_app, page)
    page.get_by_text("Step through Conflict-Based Search").click()
    expect(page.locator(".search")).to_be_visible()
    page.locator(AT_REST).wait_for()  # then it listens to keys again
    page.keyboard.press("n")
    page.wait_for_url(lambda url: encode(CROSSING) not in url)
    drawn = board_of(page)
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("spinbutton", name="Seed").focus()
    page.keyboard.press("n")
    page.keyboard.press("Escape")
    page.get_by_role("radio", name="Greedy").click()
    page.keyboard.press("m")
    expect(page.locator(".player figure").filter(has_text="Lab model")).to_have_count(1)
    assert board_of(page) == drawn, "the key was typed into the field"


def test_a_search_is_stepped_through_without_the_server(shared_app: App, page: Page) -> None:
    play(shared_app, page)
    page.get_by_text("Step through Conflict-Based Search").click()
    search = page.locator(".search")
    expect(search.get_by_text("its own shortest path")).to_be_in_viewport()
    expect(search.get_by_text("Root: every agent on its shortest path")).to_be_in_viewport(ratio=1)
    expect(search.get_by_text("Node 0", exact=True)).to_be_in_viewport()
    expect(search.locator(".steps")).to_be_in_viewport(ratio=1)
    expect(search.locator(".tree")).to_be_in_viewport(ratio=1)
    expect(search.locator(".stage")).to_be_in_viewport(ratio=1)
    page.locator(AT_REST).wait_for()
    page.evaluate("""() => {
      window.sent = 0;
      const send = WebSocket.prototype.send;
      WebSocket.prototype.send = function (message) { window.sent++; return send.call(this, message); };
    }""")
    search.get_by_role("button", name="Next").click()
    expect(search.locator(".words")).to_contain_text("Node 0 is the cheapest that is open")
    search.press("ArrowRight")
    expect(search.locator(".words")).to_contain_text("Child of node 0")
    expect(search.locator(".tree g:not([hidden])")).to_have_count(2)
    expect(search.get_by_text("Root: every agent")).to_be_hidden()
    search.get_by_role("button", name="End", exact=True).click()
    expect(search.locator(".words")).to_contain_text("is optimal")
    expect(search.locator(".head .badge")).to_have_text("valid")
    search.locator(".tree g").first.click()
    expect(search.get_by_text("Node 0", exact=True)).to_be_visible()
    assert page.evaluate("window.sent") == 0


@pytest.mark.slow
def test_the_main_action_is_above_the_fold_and_a_phone_shows_the_board_first(shared_app: App, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    for address in (f"{shared_app.url}/play", f"{shared_app.url}/play?presenter=true"):
        page.goto(address)
        player(page)
        expect(page.get_by_role("button", name="Let the model plan")).to_be_in_viewport(ratio=1)
        page.get_by_role("button", name="Let the model plan").click(trial=True)  # nothing lies over it
        expect(page.locator(".player .stage").first).to_be_in_viewport(ratio=1)
        open_save_menu(page)
        expect(page.get_by_role("img", name="QR code of the address")).to_be_in_viewport(ratio=1)
        expect(page.get_by_role("button", name="Download board-movingai.zip")).to_be_in_viewport(ratio=1)
    page.goto(f"{shared_app.url}/play")
    expect(page.locator(".player .bar")).to_be_in_viewport(ratio=1)
    stage, save = page.locator(".player .stage").first.bounding_box(), page.get_by_role("button", name="Save and share")
    assert stage and stage["height"] >= 345
    for mode in ("Watch", "Plan", "Draw"):
        page.get_by_role("radio", name=mode, exact=True).click()
        expect(save).to_be_in_viewport(ratio=1)
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("radio", name="Session").click()
    expect(page.get_by_text("The rule.")).to_be_in_viewport(ratio=1)
    expect(save).to_be_in_viewport(ratio=1)
    for figure in page.locator(".desk figure").all():
        above, board = figure.locator(".label").bounding_box(), figure.locator("canvas").bounding_box()
        assert above and board and abs(above["x"] + above["width"] / 2 - board["x"] - board["width"] / 2) < 1, "names stand over the middle"
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{shared_app.url}/play")
    player(page)
    expect(page.get_by_role("button", name="Let the model plan")).to_be_in_viewport(ratio=1)
    expect(page.locator(".player .stage")).to_be_in_viewport(ratio=0.7)
    page.get_by_role("button", name="Let the model plan").click()
    expect(page.locator(".player .badge:visible")).to_have_count(2)
    upper, lower = (sheet.bounding_box() for sheet in page.locator(".player .sheet").all())
    assert upper and lower and upper["y"] + upper["height"] < lower["y"] and lower["width"] > 190, "larger than side by side"


@pytest.mark.slow
def test_four_boards_stand_in_two_rows_where_they_are_larger_so_and_come_into_view(shared_app: App, page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{shared_app.url}/play?plan=stages")
    page.get_by_role("button", name="Let them plan").click()
    expect(page.locator(".player figure")).to_have_count(4)
    expect(page.locator(".desk")).to_be_in_viewport(ratio=1)
    boxes = [box for box in (canvas.bounding_box() for canvas in page.locator(".player canvas").all()) if box]
    assert [len({round(box[side]) for box in boxes}) for side in ("x", "y")] == [2, 2] and min(box["height"] for box in boxes) > 270
    page.locator(".player").press("End")
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    page.get_by_role("button", name="Let them plan").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()  # the same answers again play again
    search = page.get_by_role("radio", name="Search", exact=True)
    search.click()  # the page has been scrolled for the boards, and stays where it is at a press
    expect(search).to_be_checked()


@pytest.mark.slow
def test_on_a_phone_the_action_is_in_reach_of_the_choices_and_every_tool_of_a_fingertip(shared_app: App, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    play(shared_app, page, CROSSING)
    desk, ask = page.locator(".desk"), page.get_by_role("button", name="Let the model plan")
    page.get_by_text("Plan every board I show").scroll_into_view_if_needed()
    expect(page.locator(".player .stage")).not_to_be_in_viewport()
    expect(ask).to_be_in_viewport(ratio=1)
    ask.click()
    expect(page.locator(".player figure").filter(has_text="Lab model")).to_have_count(1)
    expect(page.locator(".player .tracks")).to_be_in_viewport(ratio=1)
    assert all(box and box["width"] >= 165 for box in (board.bounding_box() for board in page.locator(".player .sheet").all()))
    assert all(name.evaluate("name => name.scrollWidth <= name.clientWidth") for name in page.locator(".player .label").all()), "uncut"
    page.get_by_role("radio", name="Search", exact=True).click()
    page.get_by_role("button", name="Let them search").click()
    expect(page.get_by_role("heading", name="Planners on this board")).to_be_attached(timeout=30_000)
    page.locator(AT_REST).wait_for()
    expect(page.locator(".player .stage").first).to_be_in_viewport(ratio=1)
    for mode in ("Watch", "Plan", "Draw"):
        page.get_by_role("radio", name=mode, exact=True).click()
        tools = [tool for tool in desk.locator("button:visible, select:visible").all() if tool.bounding_box()]
        for tool in tools:
            box = tool.bounding_box()
            assert box and min(box["width"], box["height"]) >= 40 and 0 <= box["x"] <= 390 - box["width"], (mode, tool.inner_text(), box)
        assert mode == "Watch" or {"Undo", "Redo"} <= {tool.inner_text() for tool in tools}


def test_a_board_is_drawn_with_the_pointer_and_with_the_keyboard(shared_app: App, page: Page) -> None:
    play(shared_app, page, mode="Draw")

    def drag(*cells: tuple[int, int]) -> None:
        cell(page, *cells[0]).hover()
        page.mouse.down()
        for place in cells[1:]:
            cell(page, *place).hover()
        page.mouse.up()

    drag((0, 1), (0, 2), (1, 2))
    expect_board(page, "S H H\nF F H\ns F g\nF F G")
    drag((2, 0), (3, 0))
    expect_board(page, "S H H\nF F H\nF F g\ns F G")
    cell(page, 0, 1).focus()
    for key in ("ArrowDown", "Space", "ArrowLeft", "ArrowUp", "Enter", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect_board(page, "F H H\nS H H\nF F g\ns F G")
    page.get_by_label("Add an agent").click()
    page.get_by_label("Add a row").click()
    expect_board(page, "A H H\nS H H\nF F g\ns a G\nF F F")


@pytest.mark.slow
def test_one_way_ice_and_doors_are_painted_and_a_door_leaves_with_its_agent(shared_app: App, page: Page) -> None:
    play(shared_app, page, mode="Draw")

    def paint(brush: str, r: int, c: int) -> None:
        page.get_by_role("button", name=f"Paint {brush}", exact=True).click()
        cell(page, r, c).click()

    paint("one-way ice, right", 0, 1)
    paint("door of agent 1", 1, 1)
    expect_board(page, "S > F\nF 1 F\ns F g\nF F G")
    cell(page, 1, 1).click()
    expect_board(page, "S > F\nF F F\ns F g\nF F G")
    paint("door of agent 1", 1, 2)
    page.get_by_label("Remove an agent").click()
    expect_board(page, "S > F\nF F F\nF F F\nF F G")


@pytest.mark.slow
def test_rapid_strokes_are_not_lost(shared_app: App, page: Page) -> None:
    play(shared_app, page, mode="Draw")
    for r, c in ((0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (3, 0), (3, 1), (2, 1)):
        cell(page, r, c).click()
    expect_board(page, "S H H\nH H H\ns H g\nH H G")
    expect(page.get_by_text("cannot be solved")).to_be_visible()
    expect(page.locator('.cell[aria-label$="hole"]')).to_have_count(8)


@pytest.mark.slow
def test_the_files_of_a_board_are_what_they_say(shared_app: App, page: Page) -> None:
    play(shared_app, page)
    open_save_menu(page)
    contents = {}
    for name in ("JSON", "Text", "SVG", "GIF"):
        contents[name] = downloaded(page, page.get_by_role("button", name=name, exact=True)).path().read_bytes()
    assert read_board(contents["Text"].decode()) == CROSSING
    assert read_board(json.dumps(json.loads(contents["JSON"]))) == CROSSING
    assert contents["GIF"].startswith(b"GIF89a")
    assert contents["SVG"].startswith(b"<svg") and b"polyline" in contents["SVG"]
    expect(page.get_by_role("img", name="QR code of the address")).to_be_visible()


@pytest.mark.slow
def test_a_board_of_the_gallery_is_played_and_follows_the_theme(shared_app: App, page: Page) -> None:
    page.goto(f"{shared_app.url}/design")
    gallery = page.locator(".gallery button")
    expect(gallery).to_have_count(12)
    expect(page.locator('.gallery button[aria-pressed="true"]')).to_have_count(1)
    other = next(i for i in range(12) if gallery.nth(i).get_attribute("aria-pressed") == "false")
    gallery.nth(other).click()
    expect(gallery.nth(other)).to_have_attribute("aria-pressed", "true")
    steps = re.search(r"(\d+) step", gallery.nth(other).inner_text())
    assert steps is not None
    expect(page.locator(".clock")).to_have_text(re.compile(rf"step {steps[1]} / {steps[1]}"))
    light = pixels(page), gallery.first.locator("canvas").evaluate("canvas => canvas.toDataURL()")
    page.emulate_media(color_scheme="dark")
    expect(page.locator("[data-testid=stApp]")).to_have_css("background-color", "rgb(10, 26, 47)")
    soon(page, lambda: pixels(page) != light[0])
    soon(page, lambda: gallery.first.locator("canvas").evaluate("canvas => canvas.toDataURL()") != light[1])


def test_a_config_is_designed_sampled_and_a_board_of_it_played(shared_app: App, page: Page) -> None:
    page.goto(f"{shared_app.url}/design")
    gallery = page.locator(".gallery button")
    expect(gallery).to_have_count(12)

    def drawn() -> list[str]:
        return gallery.locator("canvas").evaluate_all("all => all.map((canvas) => canvas.toDataURL())")

    first = drawn()
    holes = page.locator(".st-key-design-knobs").get_by_role("slider", name="Hole ratio of").first
    holes.focus()
    for _ in range(15):
        holes.press("ArrowRight")
    soon(page, lambda: drawn() != first)
    page.locator("h1").click()
    second = drawn()
    page.keyboard.press("n")
    soon(page, lambda: drawn() != second)
    gallery.nth(4).click()
    expect(gallery.nth(4)).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Play this board").click()
    page.wait_for_url("**/play?board=*")
    expect(page.locator(".player figcaption").first).to_contain_text("No plan is faster.")


def test_a_config_goes_from_design_to_train(shared_app: App, page: Page) -> None:
    page.goto(f"{shared_app.url}/design")
    expect(page.locator(".gallery button")).to_have_count(12)
    page.get_by_role("button", name="Train with this config").click()
    page.wait_for_url("**/train*")


@pytest.mark.slow
def test_twenty_quick_edits_are_undone_and_redone_none_lost(shared_app: App, page: Page) -> None:
    start = random_board(6, 2, 0.2, None, 3).board
    play(shared_app, page, start, mode="Draw")
    expect(page.locator(".grid")).to_be_visible()
    cells = page.locator('.cell:not([aria-label*="agent"])')
    place = page.locator(".grid").bounding_box()
    for n in range(20):
        cells.nth(n).click(no_wait_after=True)
    assert page.locator(".grid").bounding_box() == place, "the board stays where it is, also where it cannot be solved any more"
    holes = page.locator('.cell[aria-label$="hole"]')

    def changes() -> int:
        rows = board_of(page).rows
        return sum(a != b for old, new in zip(start.rows, rows, strict=True) for a, b in zip(old, new, strict=True))

    soon(page, lambda: changes() == 20)
    edited = holes.count()
    changed = board_of(page)
    for _ in range(20):
        page.keyboard.press("Control+z")
    expect_board(page, start)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    for _ in range(19):
        page.keyboard.press("Control+Shift+z")
    page.get_by_role("button", name="Redo").click()
    expect_board(page, changed)
    expect(holes).to_have_count(edited)


@pytest.mark.slow
def test_every_template_can_be_solved_and_is_shown(shared_app: App, page: Page) -> None:
    play(shared_app, page, mode="Draw")
    for name, board in TEMPLATES.items():
        assert solve(board).status == "solved"
        page.get_by_label("Begin with a template").select_option(name)
        expect_board(page, board)
        page.get_by_role("button", name="Undo").click()
        expect_board(page, CROSSING)


@pytest.mark.slow
def test_the_agent_under_the_pointer_is_shown_alone(shared_app: App, page: Page) -> None:
    play(shared_app, page).press("Home")
    page.mouse.move(5, 5)
    before = pixels(page)
    at = cells_on(page.locator(".player canvas").first)
    page.mouse.move(*at(0, 0))  # agent 0 on its start
    soon(page, lambda: pixels(page) != before)
    page.mouse.move(*at(0, 1))
    soon(page, lambda: pixels(page) == before)


def test_one_board_is_watched_planned_on_and_drawn_on(shared_app: App, page: Page) -> None:
    play(shared_app, page)

    def board_on_screen() -> dict[str, float]:
        box = page.locator(".plan canvas").bounding_box()
        assert box is not None
        return {side: round(length) for side, length in box.items()}

    watched = board_on_screen()
    watch = page.get_by_role("radio", name="Watch")
    watch.focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Plan", exact=True)).to_be_focused()
    expect(page.locator(".score")).to_contain_text("Press an agent")
    soon(page, lambda: board_on_screen() == watched)  # the board stays under the switch
    page.keyboard.press("ArrowRight")
    expect(page.locator(".say")).to_contain_text("Press cells to paint them.")
    page.get_by_role("gridcell", name="row 0, column 1: ice").click()
    soon(page, lambda: board_on_screen() == watched)
    page.get_by_role("gridcell", name="row 0, column 0: start of agent 0").drag_to(
        page.get_by_role("gridcell", name="row 1, column 1: ice")
    )
    expect_board(page, "F H F\nF S F\ns F g\nF F G")
    page.get_by_role("gridcell", name="row 1, column 1: start of agent 0").drag_to(
        page.get_by_role("gridcell", name="row 2, column 2: goal of agent 1")
    )
    expect(page.get_by_role("gridcell", name="row 2, column 2: start of agent 0, goal of agent 1")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    watch.click()
    expect(page.get_by_role("gridcell").first).to_be_hidden()
    expect(page.locator(".player figcaption")).to_contain_text("No plan is faster")


def crowded() -> Board:
    """A large board whose agents, each on its own shortest path, run into each other."""
    side = 24
    return Board(("F" * side,) * side, tuple(Agent((n, 0), (side - 1 - n, side - 1)) for n in range(side)))


@pytest.mark.slow
def test_a_large_board_is_zoomed_and_its_faults_are_a_heat_map(shared_app: App, page: Page) -> None:
    play(shared_app, page, crowded(), mode="Plan")
    expect(page.locator(".score")).to_contain_text("Press an agent")
    whole = pixels(page)
    page.get_by_role("button", name="Zoom in").click()
    expect(page.get_by_role("button", name="Zoom out")).to_be_enabled()
    soon(page, lambda: pixels(page) != whole)
    page.locator(".player").press("-")
    expect(page.get_by_role("button", name="Zoom out")).to_be_disabled()
    at = cells_on(page.locator(".plan canvas"), rows=24)
    for n in (0, 1, 2):  # all to the cell where the first agent stands
        page.get_by_role("button", name=f"Agent {n}", exact=True).click()
        page.mouse.click(*at(12, 12))
    heat = page.get_by_role("button", name="Faults")
    expect(heat).to_be_visible()
    cold = heat.get_attribute("aria-pressed")
    before = pixels(page)
    heat.click()
    expect(heat).not_to_have_attribute("aria-pressed", cold or "")
    soon(page, lambda: pixels(page) != before)
    page.get_by_role("button", name="Traffic").click()
    expect(heat).to_have_attribute("aria-pressed", "false")


@pytest.mark.slow
def test_the_wheel_zooms_with_ctrl_and_then_moves_what_is_seen(shared_app: App, page: Page) -> None:
    play(shared_app, page, crowded())
    page.locator(".plan canvas").first.hover()
    whole = pixels(page)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -80)
    page.keyboard.up("Control")
    expect(page.get_by_role("button", name="Zoom out")).to_be_enabled()
    soon(page, lambda: pixels(page) != whole)
    near = pixels(page)
    page.mouse.wheel(0, 60)
    soon(page, lambda: pixels(page) != near)
    moved = pixels(page)
    page.mouse.down()
    page.mouse.move(400, 300, steps=3)
    page.mouse.up()
    soon(page, lambda: pixels(page) != moved)


@pytest.mark.slow
def test_in_a_large_team_an_agent_is_picked_out_by_its_number(shared_app: App, page: Page) -> None:
    team = tuple(Agent((row, 0), (row, 59)) for row in range(0, 60, 2))
    player = play(shared_app, page, Board(("F" * 60,) * 60, team))
    expect(page.locator(".clock")).to_have_text("step 0 / 59")  # it is solved: before, there is nothing to play and nobody to pick out
    expect(page.locator(".arrived")).to_have_text("0 of 30 home")
    expect(page.get_by_role("button", name="In conflict")).to_be_hidden()
    before = pixels(page)
    player.press("a")
    page.keyboard.type("17")
    expect(page.locator(".player figcaption")).to_contain_text("Agent 17 arrives at step 59.")
    soon(page, lambda: pixels(page) != before)
    page.get_by_role("radio", name="Search").click()
    page.get_by_role("button", name="Let them search").click()
    captions = page.locator(".player figcaption")
    soon(page, lambda: captions.count() > 1 and all("Agent 17 arrives" in text for text in captions.all_text_contents()))
    page.get_by_label("Agent to show alone").press("Escape")
    soon(page, lambda: not any("Agent 17" in text for text in captions.all_text_contents()))
    player.press("End")
    expect(page.locator(".arrived")).to_have_text("30 of 30 home")


@pytest.mark.slow
def test_an_agent_is_picked_out_by_a_click_on_any_board(shared_app: App, page: Page) -> None:
    play(shared_app, page).press("Home")
    caption = page.locator(".player figcaption")
    start = cells_on(page.locator(".plan canvas"), rows=4)(0, 0)
    page.mouse.click(*start)
    expect(caption).to_contain_text("Agent 0 arrives at step")
    page.mouse.click(*start)
    expect(caption).not_to_contain_text("Agent 0 arrives")


@pytest.mark.slow
def test_delays_and_where_agents_come_are_said_and_drawn(shared_app: App, page: Page) -> None:
    play(shared_app, page, read_board("S F s\nH F H\ng F G")).press("End")
    before = pixels(page)
    page.get_by_role("button", name="Delays").click()
    expect(page.locator(".player figcaption")).to_contain_text("Delayed by the others: ")
    soon(page, lambda: pixels(page) != before)
    before = pixels(page)
    page.get_by_role("button", name="Traffic").click()
    expect(page.locator(".player figcaption")).to_contain_text("Up to 2 agents come to one cell.")
    soon(page, lambda: pixels(page) != before)


@pytest.mark.slow
def test_a_picture_and_a_film_of_the_board_are_saved(shared_app: App, page: Page) -> None:
    play(shared_app, page)
    page.get_by_label("Speed").select_option("4")
    open_save_menu(page)
    picture = Image.open(downloaded(page, page.get_by_role("button", name="PNG")).path())
    assert picture.format == "PNG" and picture.height > 1200, "sharp enough for a slide"
    foot = picture.convert("L").crop((0, picture.height - picture.width // 16, picture.width, picture.height))
    assert len(foot.getcolors()) > 1, "it says how the plan ends"
    film = downloaded(page, page.get_by_role("button", name="1080p")).path().read_bytes()
    assert b"ftyp" in film[:16] or film.startswith(b"\x1a\x45\xdf\xa3"), "MP4 or WebM"
    assert len(film) > 5000
    if b"ftyp" in film[:16]:
        at = film.index(b"avc1", film.index(b"stsd")) + 28  # the size of the pictures
        assert (int.from_bytes(film[at : at + 2]), int.from_bytes(film[at + 2 : at + 4])) == (1920, 1080)
