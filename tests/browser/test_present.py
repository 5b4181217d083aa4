"""A talk in a real browser: from the file without a network, and in the app with the speaker's window."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from frozenlab.app.present.deck import html_file, talk
from frozenlab.app.present.scenes import NAMES, USUAL, Preparation, Scene, kept_scenes, live_scene, prepare, prepared
from frozenlab.base import places
from frozenlab.session.store import SessionStore
from tests.browser.axe import check_axe
from tests.browser.conftest import AT_REST, App, Watch, press_until_seen, soon

NAME = "example-quick"
SAYS = "Monday (failed) has no story yet: this is Quick session, which is recorded."
SMALLEST = """() => {
  const hasText = ({ childNodes }) => [...childNodes].some((child) => child.nodeType === 3 && child.data.trim());
  const seen = (element) => element.checkVisibility() && element.getClientRects().length && !element.closest('.zoom');
  const telling = [...document.querySelectorAll('.scene *, .says')].filter((element) => seen(element) && hasText(element));
  return Math.min(...telling.map((element) => parseFloat(getComputedStyle(element).fontSize)));
}"""
"""Of the letters of a scene, in pixels."""


CROSSED = """() => [...document.querySelectorAll('.own text')].filter((text) => {
  const { x, y, width, height } = text.getBBox();
  const lies = (point) => point.x > x && point.x < x + width && point.y > y + height / 5 && point.y < y + 0.8 * height;
  const along = (line) => [...Array(200).keys()].map((at) => line.getPointAtLength((at * line.getTotalLength()) / 199));
  return [...document.querySelectorAll('.steps')].some((line) => along(line).some(lies));
}).map((text) => text.textContent)"""
"""Figures of a curve through which its line goes."""


def screens_of(scenes: list[Scene]) -> list[Scene]:
    """What each press leads to: a scene or a part of one, with the boards and the count of it."""
    found = []
    for number, scene in enumerate(scenes, start=1):
        parts = scene.get("parts", [{}])
        for part, about in enumerate(parts, start=1):
            count = f"{number} / {len(scenes)}" + (f" ({part} of {len(parts)})" if len(parts) > 1 else "")
            other = {"heading": scene["question"]} if part < len(parts) else {}
            if about.get("shows") == "lesson":
                other["boards"] = [kind["board"] for kind in scene["lesson"]["kinds"]]
            elif about.get("shows") == "models":
                other["boards"] = []
            found.append(scene | about | {"count": count} | other)
    return found


@pytest.mark.parametrize(
    ("screen", "theme"),
    [
        ((1280, 720), "light"),
        ((390, 844), "dark"),
        *(pytest.param(*at, marks=pytest.mark.slow) for at in (((1920, 1080), "light"), ((1920, 1080), "dark"), ((390, 844), "light"))),
    ],
)
def test_the_file_plays_every_scene_with_networking_off(
    visit: Callable[..., Page], watch: Watch, tmp_path: Path, screen: tuple[int, int], theme: str
) -> None:
    session = SessionStore().open(NAME)
    scenes = kept_scenes(session)
    file = tmp_path / "talk.html"
    file.write_text(html_file(session.spec.tasks, talk(session, scenes, {}, says=SAYS, play="http://lab.example/play")), encoding="utf-8")
    size = {"width": screen[0], "height": screen[1]}
    page, asked = visit(viewport=size, color_scheme=theme, reduced_motion="reduce", offline=True), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    for number, scene in enumerate(screens_of(scenes)):
        expect(page.get_by_role("heading", level=1)).to_have_text(scene["heading"])
        expect(page.locator(".count")).to_have_text(scene["count"])
        assert page.locator(".scene canvas").count() == sum(len(board["tracks"]) for board in scene.get("boards", []))
        assert page.evaluate("document.querySelector('.scene').scrollWidth <= innerWidth")
        expect(page.get_by_text(SAYS)).to_be_visible()
        expect(page.locator(".interval")).to_have_count(len(scene.get("figures", [])))
        if scene["kind"] == "twins":
            for name in scene["names"]:
                expect(page.locator(".twins").get_by_text(name)).to_be_visible()
        if screen[0] > 1000:
            assert page.evaluate(SMALLEST) >= 28
            high, seen = page.evaluate("[document.querySelector('.scene').scrollHeight, document.querySelector('.scene').clientHeight]")
            assert high <= seen, f"{scene['heading']} is {high} of {seen} px high"
            if page.locator(".alone").count():
                assert page.locator(".alone canvas").bounding_box()["height"] > 0.8 * screen[1]
        assert page.evaluate(CROSSED) == [], "a figure is clear of the line"
        check_axe(page, scene["heading"])
        page.keyboard.press("Space" if number % 2 else "ArrowRight")
    page.keyboard.press("Home")
    expect(page.locator(".count")).to_have_text(f"1 / {len(scenes)}")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys in a talk")).to_be_visible()
    assert page.evaluate("document.querySelector('.keys').scrollWidth <= innerWidth")
    check_axe(page, "the sheet of keys")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys in a talk")).to_be_hidden()
    assert asked == [file.as_uri()]
    watch.left.clear()


def notes_of(page: Page) -> Page:
    """The speaker's window, once its clock runs."""
    with page.expect_popup() as opened:
        page.keyboard.press("n")
    expect(opened.value.locator(".elapsed")).to_contain_text(":")
    return opened.value


def test_the_notes_of_the_file_open_at_the_scene_that_is_shown(page: Page, watch: Watch, tmp_path: Path) -> None:
    session = SessionStore().open(NAME)
    scenes = kept_scenes(session)
    file = tmp_path / "talk.html"
    file.write_text(html_file(session.spec.tasks, talk(session, scenes, {})), encoding="utf-8")
    page.goto(file.as_uri())
    watch.left.clear()
    page.keyboard.press("End")
    notes = notes_of(page)
    last = f"{len(scenes)} / {len(scenes)}"
    for _ in range(2):
        expect(notes.locator(".count")).to_have_text(last)
        expect(page.locator(".count")).to_have_text(last)
        notes.reload()
    expect(notes.locator(".count")).to_have_text(last)
    notes.keyboard.press("2")
    expect(page.locator(".count")).to_have_text(f"2 / {len(scenes)}")
    for hidden in (True, False):
        notes.keyboard.press("b")
        expect(page.locator(".deck h1")).to_be_visible(visible=not hidden)
        expect(notes.get_by_text("The room is black.")).to_be_visible(visible=hidden)
    expect(notes.locator(".here")).to_have_text(re.compile(r"\d of \d+ s$"))
    expect(notes.locator(".elapsed")).to_have_text(re.compile(r"^\d:\d\d of 5:00$"))
    notes.close()
    page.wait_for_timeout(3000)  # a window that still closes would take the address of the next one
    notes = notes_of(page)
    expect(notes.locator(".here")).to_have_text(re.compile(r"^([3-9]|\d\d) of \d+ s$"), timeout=1500)  # it goes on
    notes.keyboard.press("8")
    expect(notes.locator(".preview figure")).to_have_count(2)
    high, seen = notes.evaluate("(({ scrollHeight, clientHeight }) => [scrollHeight, clientHeight])(document.querySelector('.preview'))")
    assert high <= seen and notes.locator(".frame").bounding_box()["height"] > 250
    lesson, duo, models = (f"11 / {len(scenes)} ({part} of 3)" for part in (1, 2, 3))
    presses = {
        "0": f"10 / {len(scenes)}",
        "PageDown": lesson,
        "Space": duo,
        "click": models,
        "ArrowRight": last,
        "PageUp": models,
        "ArrowLeft": duo,
    }
    said, reached = scenes[10]["say"].split("\n"), []
    for key, count in presses.items():
        page.locator(".scene").click() if key == "click" else page.keyboard.press(key)
        for window in (page, notes):
            expect(window.locator(".count")).to_have_text(count)
        if count in (lesson, duo, models):  # what is said of the other parts is muted
            expect(notes.locator(".spoken span")).to_have_count(3)
            expect(notes.locator(".spoken span:not(.other)")).to_contain_text(said[(lesson, duo, models).index(count)])
        reached.append(float(page.locator(".line i").evaluate("line => line.style.width").rstrip("%")))
        if count == lesson:
            expect(notes.locator(".next")).to_have_text("Next: And with many models? (2 of 3)")
            expect(notes.locator(".preview figure")).to_have_count(2)
        if count == duo:
            apart = []
            for size in ({"width": 1100, "height": 700}, {"width": 1440, "height": 900}):
                notes.set_viewport_size(size)
                mean, bounds = (notes.locator(".preview .mean").get_by_text(text).bounding_box() for text in ("mean", "(+1.5 to +5.3)"))
                apart.append((bounds["y"] - mean["y"]) / bounds["height"])
            assert apart[0] == pytest.approx(apart[1], rel=0.1), "letters scale with their picture when the window does"
    assert reached[:5] == sorted(set(reached[:5])) and reached[3] == pytest.approx(100 * 11 / len(scenes)), "the line grows with each part"


def test_what_trained_live_has_a_line_for_each_mix_and_no_time_of_its_scene(page: Page, watch: Watch, tmp_path: Path) -> None:
    session = SessionStore().open(NAME)
    scene, file = live_scene(session), tmp_path / "live.html"
    file.write_text(html_file(session.spec.tasks, talk(session, [scene], {})), encoding="utf-8")
    page.goto(file.as_uri())
    watch.left.clear()
    expect(page.locator(".steps")).to_have_count(len(scene["marks"]) + 1)
    expect(page.locator(".curve").get_by_text("new mix")).to_have_count(len(scene["marks"]))
    expect(page.locator(".between")).to_have_text(session.title)
    notes = notes_of(page)
    expect(notes.locator(".elapsed")).to_have_text(re.compile(r"^\d:\d\d$"))
    expect(notes.locator(".here")).to_have_text("")
    expect(notes.locator(".spoken")).to_have_text(scene["say"])


@pytest.fixture
def mine(new_app: Callable[[], App]) -> App:
    """A server with a session that can be prepared for a talk."""
    app = new_app()
    shutil.copytree(places.ROOT / "sessions" / NAME, app.sessions / "mine")
    return app


@pytest.mark.slow
def test_a_talk_is_prepared_on_a_film_strip(mine: App, page: Page) -> None:
    store = SessionStore(mine.sessions)
    page.goto(f"{mine.url}/present?session=mine")
    strip = page.get_by_role("region", name="Scenes of the talk")
    cards = strip.get_by_role("listitem")
    expect(cards.first).to_contain_text("The question")

    def expect_kept(scenes: list[str], **others: Any) -> None:
        def kept() -> bool:
            found = prepared(store.open("mine"), store)
            return found.scenes == tuple(scenes) and all(getattr(found, name) == value for name, value in others.items())

        soon(page, kept, f"keeping {scenes} and {others}")

    assert cards.first.bounding_box()["y"] <= 330
    check_axe(page, "the film strip")
    heights, usual = "all => all.map(({ offsetHeight }) => offsetHeight)", page.viewport_size
    on_a_screen = strip.locator(".preview .stage").evaluate_all(heights)
    page.set_viewport_size({"width": 390, "height": 844})
    assert len({*cards.evaluate_all(heights)}) == 1
    assert all(cards.locator(".title").evaluate_all("all => all.map((title) => title.scrollWidth <= title.clientWidth)")), "one whole line"
    on_a_phone = strip.locator(".preview .stage").evaluate_all(heights)
    assert on_a_phone == pytest.approx(on_a_screen, abs=3), "a thumbnail is the scene of a screen, scaled"  # letters scale to whole pixels
    page.set_viewport_size(usual)
    expect(strip.get_by_role("button", name="minutes", pressed=True)).to_have_text(["5 minutes"])
    names = list(USUAL)
    strip.get_by_label("What to say: The question, and a failed board").fill("Wait for silence.")
    expect_kept(names, notes={"opening": "Wait for silence."})
    cards.nth(2).get_by_role("checkbox").uncheck()
    names.remove("curve")
    expect_kept(names, notes={"opening": "Wait for silence."})
    expect(strip.get_by_role("button", name="minutes", pressed=True)).to_have_count(0)
    cards.nth(1).get_by_title("Earlier").click()
    names[:2] = names[1::-1]
    expect_kept(names)
    cards.nth(0).locator(".frame").drag_to(cards.nth(1).locator(".frame"))
    names[:2] = names[1::-1]
    expect_kept(names)
    strip.get_by_role("button", name="Add words of your own").click()
    expect(strip.get_by_label("Heading of your scene")).to_be_focused()
    expect(strip.get_by_label("Heading of your scene")).to_be_in_viewport()
    expect(cards.filter(has=page.get_by_label("Heading of your scene")).locator(".time")).to_have_text("empty: not shown")
    strip.get_by_label("Heading of your scene").fill("Questions?")
    expect(strip.get_by_role("checkbox", name="Your own scene")).to_be_checked()
    assert len({*cards.evaluate_all(heights)}) == 1, "where one's own words are written, as everywhere"
    strip.get_by_label("Text of your scene").fill("Ask:\n- us\n- the model")
    expect_kept([*names[:-1], "own-1", "closing"])
    soon(page, lambda: prepared(store.open("mine"), store).own["own-1"].text.endswith("model"))
    page.get_by_role("button", name="Present", exact=True).click()
    expect(page.locator(".count")).to_have_text(f"1 / {len(names) + 1}")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".deck h1").first).to_have_text("Questions?")
    expect(page.locator(".scene li")).to_have_text(["us", "the model"])
    page.keyboard.press("Escape")
    expect(cards.first).to_contain_text("The question")
    failed, spoken = strip.get_by_label("What to say: What still fails"), []
    for minutes in (10, 2):
        strip.get_by_role("button", name=f"{minutes} minutes").click()
        soon(page, lambda minutes=minutes: prepared(store.open("mine"), store).minutes == minutes)
        expect(strip.get_by_role("button", name="minutes", pressed=True)).to_have_text([f"{minutes} minutes"])
        spoken.append(failed.input_value())
    assert spoken[0].startswith(spoken[1]) and "Ask: would you?" in spoken[0], "a longer talk has a longer draft"
    assert set(prepared(store.open("mine"), store).notes) == {"opening"}, "a draft is no note of the speaker's"
    page.get_by_role("button", name="Back to the standard talk").click()
    expect(cards).to_have_count(len(NAMES))
    expect(cards.nth(2).get_by_role("checkbox")).to_be_checked()
    assert prepared(store.open("mine"), store) == Preparation()


@pytest.mark.slow
def test_a_talk_plays_by_itself_until_a_key_takes_over(shared_app: App, page: Page) -> None:
    page.clock.install()
    page.goto(f"{shared_app.url}/present?session={NAME}&play=film")
    count = page.locator(".count")
    expect(count).to_have_text("1 / 10")
    page.clock.run_for(20_000)
    expect(count).to_have_text("2 / 10")
    page.keyboard.press("ArrowRight")
    expect(count).to_have_text("3 / 10")
    page.clock.run_for(60_000)
    expect(count).to_have_text("3 / 10")
    end = page.locator(".ways > *, footer .leave").filter(has_not_text="Leave")
    offered = ["Play this board", "Begin the course", "Again", "Prepare a talk"]
    page.keyboard.press("End")
    page.clock.run_for(60_000)
    expect(end).to_have_count(0)  # by hand there is no end
    page.keyboard.press("9")
    page.clock.run_for(60_000)
    expect(count).to_have_text("9 / 10 (1 of 3)")  # by hand each part waits for a press
    page.keyboard.press("p")
    page.clock.run_for(5_000)
    expect(page.locator(".deck h1")).to_have_text("And with many models?")
    expect(page.locator(".lesson .fallen")).to_contain_text("share of boards 13\u00a0% → 47\u00a0%")
    page.clock.run_for(4_000)
    expect(count).to_have_text("9 / 10 (2 of 3)")
    expect(page.locator(".duo figure")).to_have_count(2)
    page.clock.run_for(5_000)
    expect(count).to_have_text("9 / 10 (3 of 3)")
    each = r"([+−]\d+\.\d|0)"
    expect(page.locator(".models svg")).to_have_attribute("aria-label", re.compile(rf": {each}(, {each}){{14}}; mean \+3\.4 "))
    page.clock.run_for(11_000)
    expect(count).to_have_text("10 / 10")
    expect(end).to_have_count(0)
    title = page.locator(".deck h1").bounding_box()
    page.clock.run_for(13_000)
    expect(end).to_have_text(offered)
    page.keyboard.press("ArrowRight")
    expect(end).to_have_text(offered)
    assert page.locator(".deck h1").bounding_box() == title, "nothing moves"
    expect(end.first).to_have_attribute("href", re.compile(r"^play\?board="))
    end.nth(2).click()
    expect(count).to_have_text("1 / 10")
    expect(end).to_have_count(0)


@pytest.mark.slow
def test_a_story_is_presented_by_keyboard_with_the_speakers_window(mine: App, page: Page) -> None:
    store = SessionStore(mine.sessions)
    prepare(store.open("mine"), store, Preparation(notes={"tries": "Ask the room first."}))
    page.goto(f"{mine.url}/story?session=mine")
    expect(page.get_by_role("button", name="Present", exact=True)).to_be_visible()
    page.locator(AT_REST).wait_for()
    press_until_seen(page, "p", page.locator(".scene h1"))
    sheet = page.get_by_role("dialog", name="Keys in a talk")
    page.keyboard.press("?")
    expect(sheet).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_have_count(0)
    title = page.locator(".scene h1")
    expect(title).to_have_text("Can a model design what it learns from?")
    page.keyboard.press("ArrowRight")
    notes = notes_of(page)
    expect(notes.locator(".spoken")).to_have_text("Ask the room first.")
    expect(notes.locator(".next")).to_have_text("Next: It learns on equal shares of every kind")
    expect(notes.locator(".preview .heading")).to_have_text("It learns on equal shares of every kind")
    expect(title).to_have_text("It tries, and what works becomes likelier")
    page.bring_to_front()
    page.keyboard.press("ArrowRight")
    expect(title).to_have_text("It learns on equal shares of every kind")
    expect(notes.locator(".now")).to_have_text("It learns on equal shares of every kind")
    check_axe(notes, "the speaker's window")
    notes.keyboard.press("End")
    expect(page.locator(".count")).to_have_text("10 / 10")
    notes.close()
    page.keyboard.press("Escape")
    expect(page.locator(".count")).to_have_count(0)
    expect(page.get_by_role("heading", name="How do I show this in a talk?")).to_be_visible()
