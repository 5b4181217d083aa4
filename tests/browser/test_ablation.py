"""The way of a researcher: from Home to an ablation, to what its engineers wrote, and to a session that is run again with changes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from frozenlab.session.presets import preset_spec
from frozenlab.session.store import SessionStore
from tests.browser.conftest import AT_REST, App
from tests.builders import build_session, short_spec
from tests.running import wait_for


@pytest.fixture
def app(new_app: Callable[[], App]) -> App:
    """Its studies can run what a small session ran."""
    app = new_app()
    build_session(app.sessions, short_spec("policy", stages=1, steps=1, title="A small session"), "small")
    return app


def enter(page: Page, field: Locator, value: str) -> None:
    field.fill(value)
    field.press("Enter")
    page.locator(AT_REST).wait_for()


@pytest.mark.slow
def test_an_ablation_is_found_run_read_and_a_session_of_it_run_again_with_three_seeds(app: App, page: Page) -> None:
    page.goto(app.url)
    page.get_by_role("button", name="Start an ablation").click()
    form = page.get_by_role("dialog")
    form.get_by_role("combobox", name="What each session runs").click()
    page.get_by_role("option", name=re.compile("A small session")).click()
    sections = form.get_by_role("combobox", name="Sections that are on or off")
    for _ in range(2):  # of three sections the first is left, so that there are two arms
        sections.press("Backspace")
        page.locator(AT_REST).wait_for()
    enter(page, form.get_by_role("spinbutton", name="Seeds"), "1")
    expect(form.get_by_text("2 sessions", exact=True)).to_be_visible()
    form.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("sessions done").or_(page.get_by_text("waits"))).to_be_visible()
    expect(page.get_by_text("2 of 2 sessions,")).to_be_visible()

    page.get_by_role("link", name="What they wrote").click()
    expect(page.get_by_role("heading", name="What did the engineers write?")).to_be_visible()
    expect(page.get_by_role("heading", name="After stage 1")).to_be_visible()
    page.locator("summary", has_text=re.compile("^none")).first.click()
    page.get_by_role("link", name=re.compile("none.*in full")).first.click()
    expect(page.get_by_role("heading", name="What did the model change, and was it right?")).to_be_visible()
    parts = page.get_by_role("navigation", name="Contents of this page")
    expect(parts.get_by_role("link", name="What it wrote")).to_have_attribute("aria-current", "page")
    parts.get_by_role("link", name="The whole session").click()
    page.get_by_role("button", name="Run again with changes").click()

    expect(page.get_by_role("heading", name="What should run?")).to_be_visible()
    page.get_by_text("Stages, steps and seed").click()
    enter(page, page.get_by_role("spinbutton", name="Learning rate"), "0.0002")
    enter(page, page.get_by_role("spinbutton", name="Sessions"), "3")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", name="Is the model learning?")).to_be_visible()

    def done() -> list[str]:
        own = (session for session in SessionStore(app.sessions).sessions() if not session.read_only and session.id != "small")
        return [session.id for session in own if session.state().status == "done"]

    wait_for(lambda: len(done()) == 3, "three sessions")
    page.goto(f"{app.url}/runs?compare={','.join(done())}")
    page.get_by_text("Mean over seeds").click()
    expect(page.locator(".fl-legend").get_by_text("3 seeds").first).to_be_visible()


@pytest.mark.long
def test_two_training_settings_are_swept_and_a_spec_file_begins_a_session(app: App, page: Page) -> None:
    page.goto(f"{app.url}/studies")
    page.get_by_role("button", name="New study").click()
    form = page.get_by_role("dialog")
    for box, option in (("What is compared", "^sweep"), ("What each session runs", "A small session"), ("Training settings", "^steps$")):
        form.get_by_role("combobox", name=box).click()
        page.get_by_role("option", name=re.compile(option)).click()
        page.locator(AT_REST).wait_for()
    page.keyboard.press("Escape")  # the list of settings stays open for more
    enter(page, form.get_by_role("textbox", name="Values of steps"), "1, 2")
    enter(page, form.get_by_role("spinbutton", name="Seeds"), "1")
    expect(form.get_by_text("4 sessions", exact=True)).to_be_visible()
    form.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_text("4 of 4 sessions,")).to_be_visible()

    page.goto(f"{app.url}/train")
    page.get_by_role("button", name="New session").click()
    page.get_by_role("button", name="Open a file").click()
    spec = preset_spec("quick").changed(title="From a file", seed=77)
    file = FilePayload(name="spec.json", mimeType="application/json", buffer=spec.model_dump_json().encode())
    page.locator('[data-testid="stFileUploaderDropzoneInput"]').set_input_files([file])
    expect(page.get_by_role("textbox", name="Title")).to_have_value("From a file")
