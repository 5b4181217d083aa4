"""The frame around every page: the menu on a phone, presenter mode, and messages while the server works or is gone."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from frozenlab.app.ui.components import newest_last
from frozenlab.app.ui.components.frame import UNREACHABLE
from frozenlab.app.ui.nav import MENU, PAGES
from tests.browser.conftest import AT_REST, PHONE, App, Watch, press_until_seen, soon

ANDROID = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"
"""By its name Streamlit knows a phone, and folds the menu after a tap on a page."""
STATUS = '[data-testid="stStatusWidget"]'


@pytest.mark.slow
def test_a_phone_goes_to_every_page_by_its_menu(shared_app: App, visit: Callable[..., Page]) -> None:
    phone = visit(viewport=PHONE, has_touch=True, is_mobile=True, user_agent=ANDROID)
    phone.goto(shared_app.url)
    expect(phone.get_by_role("heading", level=1)).to_be_in_viewport()  # the first run of a page folds the menu
    for name in [*MENU[1:], "home"]:
        phone.get_by_role("button", name="Expand sidebar").tap()
        phone.locator('[data-testid="stSidebarNav"]').get_by_role("link", name=PAGES[name][0], exact=True).tap()
        expect(phone).to_have_url(re.compile(rf"{shared_app.url}/" + ("" if name == "home" else name) + r"(\?|$)"))
        expect(phone.get_by_role("heading", level=1)).to_be_in_viewport()
        expect(phone.get_by_role("button", name="Expand sidebar")).to_be_in_viewport()
    phone.get_by_role("button", name="Main menu").tap()
    expect(phone.get_by_role("menuitemradio", name="Dark")).to_be_in_viewport()
    expect(phone.get_by_text("Presenter")).to_be_hidden()


@pytest.mark.slow
def test_a_presenter_has_a_bigger_board_and_leaves_no_trace(shared_app: App, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{shared_app.url}/play")
    stage, icon = page.locator(".player .stage").first, page.locator('[data-testid="stTooltipIcon"] svg').first
    expect(stage).to_be_visible()
    plain, sign = stage.bounding_box(), icon.bounding_box()
    assert plain and sign
    page.get_by_text("Presenter", exact=True).click()
    expect(page).to_have_url(re.compile("presenter=true"))
    expect(icon).to_be_hidden()
    soon(page, lambda: (box := stage.bounding_box()) and box["height"] > max(460, plain["height"]), "a bigger board")
    expect(page.locator(".player .bar")).to_be_in_viewport(ratio=1)
    assert page.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0
    page.mouse.move(640, 500)
    expect(page.locator(".stAppHeader")).to_have_css("opacity", "0")
    page.mouse.move(400, 5)
    expect(page.locator(".stAppHeader")).to_have_css("opacity", "1")
    line = [
        page.get_by_role("link", name="Learn", exact=True),
        page.get_by_text("Presenter", exact=True),
        page.get_by_role("button", name="Main menu"),
    ]
    middles = [box["y"] + box["height"] / 2 for one in line if (box := one.bounding_box())]
    assert max(middles) - min(middles) < 2, "what stands in the header stands in one line"
    page.get_by_text("Presenter", exact=True).click()
    expect(page).not_to_have_url(re.compile("presenter=true"))
    expect(page.locator("html")).to_have_css("font-size", "16px")
    after = icon.bounding_box()
    assert after and (after["width"], after["height"]) == (sign["width"], sign["height"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "whole"),
    [
        ("", [".player .bar", "button:has-text('Read its story')"]),
        ("learn?chapter=one", [".player .bar", ".st-key-learn-onwards"]),
        ("train?session=example-quick", [".st-key-curves .js-plotly-plot", ".player .bar"]),
        ("train?session=example-quick&presenter=true", [".player .stage"]),
    ],
)
def test_a_small_laptop_shows_what_a_page_is_about_above_the_fold(shared_app: App, page: Page, address: str, whole: list[str]) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{shared_app.url}/{address}")
    for part in whole:
        expect(page.locator(part)).to_be_in_viewport(ratio=1)


class Gate:
    """Between browser and server: holds back what the server sends once ``left`` messages have passed."""

    def __init__(self) -> None:
        self.left, self.held = math.inf, list[tuple[WebSocketRoute, str | bytes]]()

    def __call__(self, browser: WebSocketRoute) -> None:
        browser.connect_to_server().on_message(lambda message: self.pass_on(browser, message))

    def pass_on(self, browser: WebSocketRoute, message: str | bytes) -> None:
        if self.left > 0:
            self.left -= 1
            browser.send(message)
        else:
            self.held.append((browser, message))

    def open(self) -> None:
        self.left = math.inf
        for browser, message in self.held:
            browser.send(message)


@pytest.mark.slow
def test_a_run_shows_no_second_stop_and_greys_nothing_out(shared_app: App, page: Page) -> None:
    gate = Gate()
    page.route_web_socket(re.compile("_stcore/stream"), gate)
    page.goto(f"{shared_app.url}/design")
    expect(page.locator(".player canvas")).to_be_visible()
    page.locator(AT_REST).wait_for()
    gate.left = 3  # a run has begun, and the rest of it takes as long as the test looks
    page.get_by_role("button", name="Draw others").click()
    page.locator(STATUS).wait_for(state="attached")
    expect(page.locator(STATUS)).to_be_hidden()
    stale = page.locator('[data-stale="true"]')
    expect(stale.first).to_be_attached()
    assert set(stale.evaluate_all("all => all.map((one) => getComputedStyle(one).opacity)")) == {"1"}
    gate.open()
    expect(stale).to_have_count(0)


def test_a_page_without_its_server_says_that_training_goes_on(new_app: Callable[[], App], page: Page, watch: Watch) -> None:
    app = new_app()
    page.goto(app.url)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    app.stop(signal.SIGKILL)
    dialog = page.get_by_role("dialog", name=UNREACHABLE["title"])
    expect(dialog).to_be_visible()
    expect(dialog).to_contain_text(UNREACHABLE["text"])
    expect(page.get_by_text("internet")).to_have_count(0)
    app.start()
    expect(dialog).to_have_count(0)
    expect(page.locator('[data-testid="stApp"]')).to_have_attribute("data-test-connection-state", "CONNECTED")
    watch.errors.clear()  # the failed attempts to connect


@pytest.mark.slow
def test_a_question_mark_shows_every_shortcut_whatever_has_the_focus_but_text(shared_app: App, page: Page) -> None:
    page.goto(f"{shared_app.url}/play")
    page.get_by_role("radio", name="Plan", exact=True).click()
    expect(page.locator(".steer")).to_be_visible()
    expect(page).to_have_url(re.compile("mode=plan"))  # the address follows the picture
    page.locator(AT_REST).wait_for()
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    press_until_seen(page, "?", sheet)
    expect(sheet.get_by_text("Let the model plan")).to_be_visible()
    expect(sheet.get_by_role("heading", name="Keyboard shortcuts")).to_be_in_viewport(ratio=1)
    begun, clock = page.url, page.locator(".clock").first.text_content()
    for key in ("n", "ArrowRight", "ArrowDown"):  # mean nothing behind it
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert (page.url, page.locator(".clock").first.text_content()) == (begun, clock)
    page.keyboard.press("?")
    expect(sheet).to_be_hidden()
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("spinbutton", name="Seed").focus()
    page.keyboard.press("?")
    expect(sheet).to_be_hidden()


LAST_OF_UPDATES = """async ([module, updates]) => {
  const { default: show } = await import(URL.createObjectURL(new Blob([module], { type: "text/javascript" })));
  const root = document.querySelector("p");
  const open = new Set();
  const cleanups = {};
  for (const update of updates) {
    if (update.startsWith("-")) cleanups[update.slice(1)]();
    else cleanups[update] = show({ parentElement: root, data: { says: update, open } });
  }
  const shown = [root.textContent, root.isOpen];
  root.remove();
  cleanups.new();
  return [...shown, root.isOpen, open.size];
}"""
SAYS = """export default function ({ parentElement, data }) {
  const listener = {};
  data.open.add(listener);
  parentElement.isOpen = true;
  parentElement.textContent = data.says;
  return () => {
    parentElement.isOpen = false;
    data.open.delete(listener);
  };
}"""
CLEANED_UP = ["old new -old", "new old -old", "new old older -old -older", "new old -old older -older"]


@pytest.mark.parametrize("updates", ["new", *CLEANED_UP])
def test_an_outdated_update_of_a_component_is_not_shown_last_and_leaves_nothing_open(page: Page, updates: str) -> None:
    page.set_content("<p></p>")
    assert page.evaluate(LAST_OF_UPDATES, [newest_last(SAYS), updates.split()]) == ["new", True, False, 0]


def test_an_update_after_another_is_shown_and_closed_with_its_component(page: Page) -> None:
    page.set_content("<p></p>")
    assert page.evaluate(LAST_OF_UPDATES, [newest_last(SAYS), ["old", "new"]])[:3] == ["new", True, False]
