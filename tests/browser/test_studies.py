"""A study in the browser: a link shows another person the same view, and every figure can be downloaded as PNG and SVG; what is entered
into the form of a new one is kept."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs.state import WorkerState, own_process
from frozenlab.session.store import SessionStore
from tests.browser.conftest import AT_REST, App, downloaded
from tests.browser.test_story import change_everything, held


def saved(page: Page, key: str, folder: Path, kind: str = "SVG") -> Path:
    """What a button of a figure saves, once that is drawn: the camera, or the one beside it."""
    figure = page.locator(f".st-key-{key}")
    expect(figure.locator(".main-svg").first).to_be_visible()
    button = figure.locator(".modebar-btn").first if kind == "SVG" else figure.get_by_role("button", name=kind)
    download = downloaded(page, button)
    path = folder / download.suggested_filename
    download.save_as(path)
    return path


@pytest.mark.slow
def test_a_view_is_taken_along_as_a_picture_and_as_a_link(shared_app: App, page: Page, visit: Callable[..., Page], tmp_path: Path) -> None:
    page.goto(f"{shared_app.url}/studies?study=recorded-engineers")
    expect(page.get_by_text("None of 4 comparisons is clear of chance (n = 5 seeds)")).to_be_visible()
    page.get_by_role("radio", name="By cell").click()
    expect(page).to_have_url(re.compile("view=sizes"))
    picture = saved(page, "study-sizes", tmp_path, "PNG")
    assert picture.name == "frozenlab-study-sizes.png" and picture.read_bytes().startswith(b"\x89PNG")

    picture = saved(page, "study-sizes", tmp_path)
    assert picture.name == "frozenlab-study-sizes.svg"
    numbers = [element.text for element in ElementTree.parse(picture).iter() if element.tag.endswith("text")]
    assert {"equal shares, 30 % holes", "3×3", "−3.0"} <= set(numbers)

    other = visit()
    other.goto(page.url)
    expect(other.get_by_text("These are 24 comparisons")).to_be_visible()
    other.close()

    page.get_by_role("radio", name="Learning").click()
    for key in ("study-curves", "study-arms"):
        ElementTree.parse(saved(page, key, tmp_path))
    report = downloaded(page, page.get_by_role("button", name="HTML report"))
    page.set_content(report.path().read_text())
    expect(page.get_by_role("heading", name="Who is a good engineer?")).to_be_visible()
    expect(page.locator("svg")).to_have_count(6)


@pytest.mark.slow
def test_the_form_of_a_study_is_kept_when_a_job_ends_and_when_other_parts_are_looked_at(app: App, page: Page) -> None:
    running = Study.create(engineers_study(2), SessionStore(app.sessions), "mine")
    state = WorkerState(status="running", progress=0.3, heartbeat=time.time(), **own_process())
    (running.dir / "state.json").write_text(state.model_dump_json())
    page.goto(f"{app.url}/studies?study=mine")
    new, form = page.get_by_role("button", name="New study"), page.get_by_role("dialog")
    new.click()
    expect(form.get_by_role("textbox", name="What do you expect?")).to_be_visible()
    begun, entered = held(form), change_everything(page, form)
    assert not [now for before, now in zip(begun, entered, strict=True) if now == before], f"{begun} was changed to {entered}"

    (running.dir / "state.json").write_text(state.model_copy(update={"status": "stopped"}).model_dump_json())
    page.wait_for_timeout(4000)  # the page hears of it
    assert held(form) == entered, "the dialog is open as it was"
    page.keyboard.press("Escape")
    expect(page.get_by_text("This study stopped")).to_be_visible()

    for view in page.get_by_role("radio").all():
        view.click()
        page.locator(AT_REST).wait_for()
    page.get_by_role("link", name="Runs").click()
    expect(page.get_by_role("heading", name="Which runs are there")).to_be_visible()
    page.get_by_role("link", name="Studies").click()
    new.click()
    expect(form.get_by_role("textbox", name="What do you expect?")).to_be_visible()
    assert held(form) == entered
