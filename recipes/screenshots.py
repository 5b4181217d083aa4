"""Takes the pictures of README: six views of the app in Chromium, made small.

python -m recipes.screenshots
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Literal, NamedTuple

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from frozenlab.base.places import ROOT
from frozenlab.lake.kernels import warm_up
from tests.browser.conftest import AT_REST
from tests.serving import App

FOLDER = ROOT / "assets" / "screens"
WIDTH, COLORS = 1200, 128


class View(NamedTuple):
    """One picture: an address, a theme, and what is done before it is taken."""

    name: str
    address: str
    theme: Literal["light", "dark"]
    act: Callable[[Page], object] = lambda page: None


def search(page: Page) -> None:
    following = page.locator(".search").last.get_by_role("button", name="Next")
    for _ in range(9):
        following.click()
        page.wait_for_timeout(200)
    page.locator(".search").last.evaluate("search => search.scrollIntoView()")
    page.locator("[data-testid=stMain]").evaluate("main => main.scrollBy({top: -75})")


def every_stage(page: Page) -> None:
    page.get_by_role("radio", name="Every stage").click()
    page.get_by_role("button", name="Let them plan").click()
    expect(page.locator(".player .badge:visible")).to_have_count(4, timeout=120_000)  # all have planned
    page.mouse.move(5, 5)
    page.wait_for_timeout(2600)


def many_models(page: Page) -> None:
    page.locator(".deck h1").wait_for()
    for key in ("9", "ArrowRight", "ArrowRight"):  # its last part
        page.keyboard.press(key)
    page.wait_for_timeout(6_000)


def with_its_chart(page: Page) -> None:
    page.locator(".js-plotly-plot").first.wait_for()
    page.wait_for_timeout(1500)


VIEWS = (
    View("home", "", "light"),
    View("learn", "learn?chapter=search&done=search", "light", search),
    View("play", "play?board=ASEAQ73JEEgVAsAAWBc", "dark", every_stage),
    View("story", "story?session=example-quick&part=read", "light"),
    View("present", "present?session=example-quick&play=1", "dark", many_models),
    View("studies", "diagnosis", "light", with_its_chart),
)


def main() -> None:
    warm_up.warm_up()
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        sessions = Path(folder) / "sessions"
        sessions.mkdir()
        app = App(sessions, Path(folder) / "server.log")
        app.start()
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"])
        try:
            for view in VIEWS:
                page = chromium.new_page(viewport={"width": 1440, "height": 900}, color_scheme=view.theme)
                page.set_default_timeout(120_000)
                page.goto(f"{app.url}/{view.address}")
                page.get_by_role("heading", level=1).first.wait_for()
                page.locator(AT_REST).wait_for()
                page.wait_for_timeout(3000)
                view.act(page)
                picture = Image.open(BytesIO(page.screenshot()))
                page.close()
                small = picture.convert("RGB").resize((WIDTH, WIDTH * picture.height // picture.width), Image.Resampling.LANCZOS)
                few = small.quantize(COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
                few.save(FOLDER / f"{view.name}.png", optimize=True)
        finally:
            chromium.close()
            app.stop()


if __name__ == "__main__":
    main()
