"""A talk in a real browser: from the file without a network, and in the app with the speaker's window."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from frozenlab.app.present.deck import html_file, talk
from frozenlab.app.present.scenes import PARTS, Preparation, prepare, prepared, scenes_of
from frozenlab.base import places
from frozenlab.session.store import SessionStore
from tests.browser.axe import check_axe
from tests.browser.conftest import AT_REST, App, Watch, press_until_seen, soon

NAME = "example-quick"
SAYS = "Monday (failed) has no story yet: this is the recorded session example-quick."
ROW = 35
"""Height of a row of a table in pixels."""


SMALLEST = """() => {
  const hasText = ({ childNodes }) => [...childNodes].some((child) => child.nodeType === 3 && child.data.trim());
  const seen = (element) => element.checkVisibility() && element.getClientRects().length && !element.closest('.zoom');
  const telling = [...document.querySelectorAll('.scene *, .says')].filter((element) => seen(element) && hasText(element));
  return Math.min(...telling.map((element) => parseFloat(getComputedStyle(element).fontSize)));
}"""
"""Of the letters of a scene, in pixels."""


@pytest.mark.parametrize(
    ("screen", "theme"),
    [((1920, 1080), "light"), ((1920, 1080), "dark"), ((1280, 720), "light"), ((390, 844), "light"), ((390, 844), "dark")],
)
def test_the_file_plays_every_scene_with_networking_off(
    visit: Callable[..., Page], watch: Watch, tmp_path: Path, screen: tuple[int, int], theme: str
) -> None:
    session = SessionStore().open(NAME)
    scenes = scenes_of(session)
    file = tmp_path / "talk.html"
    file.write_text(html_file(session.spec.tasks, talk(session, scenes, {}, says=SAYS)), encoding="utf-8")
    size = {"width": screen[0], "height": screen[1]}
    page, asked = visit(viewport=size, color_scheme=theme, reduced_motion="reduce", offline=True), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    for number, scene in enumerate(scenes, start=1):
        expect(page.get_by_role("heading", level=1)).to_have_text(scene["heading"])
        expect(page.locator(".count")).to_have_text(f"{number} / {len(scenes)}")
        assert page.locator(".scene canvas").count() == sum(len(board["tracks"]) for board in scene.get("boards", []))
        assert page.evaluate("document.querySelector('.scene').scrollWidth <= innerWidth")
        expect(page.get_by_text(SAYS)).to_be_visible()
        if screen[0] > 1000:
            assert page.evaluate(SMALLEST) >= 28
            high, seen = page.evaluate("[document.querySelector('.scene').scrollHeight, document.querySelector('.scene').clientHeight]")
            assert high <= seen, f"{scene['heading']} is {high} of {seen} px high"
            if page.locator(".alone").count():
                assert page.locator(".alone canvas").bounding_box()["height"] > 0.8 * screen[1]
        check_axe(page, scene["heading"])
        page.keyboard.press("ArrowRight" if number % 2 else "Space")
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
    scenes = scenes_of(session)
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


@pytest.fixture
def mine(new_app: Callable[[], App]) -> App:
    """A server with a session that can be prepared for a talk."""
    app = new_app()
    shutil.copytree(places.ROOT / "sessions" / NAME, app.sessions / "mine")
    return app


@pytest.mark.slow
def test_a_talk_is_prepared(mine: App, page: Page) -> None:
    store = SessionStore(mine.sessions)
    page.goto(f"{mine.url}/present?session=mine")
    table = page.locator('[data-testid="stDataFrame"] .dvn-scroller')
    expect(table).to_be_visible()

    def press(x: float, row: int, times: int) -> None:
        table.click(position={"x": x, "y": ROW * (row + 1) + ROW // 2}, click_count=times)

    def expect_kept(scenes: list[str], notes: dict[str, str]) -> None:
        wanted = Preparation(scenes=tuple(scenes), notes=notes)
        soon(page, lambda: prepared(store.open("mine"), store) == wanted, f"keeping {wanted}")

    box = table.bounding_box()
    assert box is not None
    names = [part.name for part in PARTS]

    def write(row: int, note: str) -> None:
        press(0.8 * box["width"], row, 2)
        writing = page.locator("textarea.gdg-input")
        expect(writing).to_be_focused()
        writing.fill(note)
        writing.press("Enter")

    write(0, "Wait for silence.")
    expect_kept(names, {"opening": "Wait for silence."})
    for row in (4, 1):
        press(0.342 * box["width"], row, 1)
        names.remove(PARTS[row].name)
        expect_kept(names, {"opening": "Wait for silence."})
    page.get_by_role("button", name="Present", exact=True).click()
    expect(page.locator(".count")).to_have_text(f"1 / {len(names)}")
    page.keyboard.press("Escape")
    expect(table).to_be_visible()
    write(6, "The end.")  # what is not shown stands last now
    expect_kept(names, {"opening": "Wait for silence.", "came": "The end."})


@pytest.mark.slow
def test_a_story_is_presented_by_keyboard_with_the_speakers_window(mine: App, page: Page) -> None:
    store = SessionStore(mine.sessions)
    prepare(store.open("mine"), store, Preparation(notes={"failure": "Ask the room first."}))
    page.goto(f"{mine.url}/story?session=mine")
    expect(page.get_by_role("button", name="Present", exact=True)).to_be_visible()
    page.locator(AT_REST).wait_for()
    press_until_seen(page, "p", page.locator(".deck h1"))
    sheet = page.get_by_role("dialog", name="Keys in a talk")
    page.keyboard.press("?")
    expect(sheet).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_have_count(0)
    expect(page.locator(".deck h1")).to_have_text("Can a model design what it learns from?")
    page.keyboard.press("ArrowRight")
    notes = notes_of(page)
    expect(notes.locator(".spoken")).to_have_text("Ask the room first.")
    expect(notes.locator(".next")).to_have_text("Next: It trains on boards like these")
    expect(page.locator(".deck h1")).to_have_text("It fails here")
    page.bring_to_front()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".deck h1")).to_have_text("It trains on boards like these")
    expect(notes.locator(".now")).to_have_text("It trains on boards like these")
    check_axe(notes, "the speaker's window")
    notes.keyboard.press("End")
    expect(page.locator(".deck h1")).to_have_text("Was it right?")
    notes.close()
    page.keyboard.press("Escape")
    expect(page.locator(".deck")).to_be_hidden()
    expect(page.get_by_role("heading", name="How do I show this in a talk?")).to_be_visible()
