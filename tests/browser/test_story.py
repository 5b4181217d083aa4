"""A claim's evidence leads to the failing boards, by click, by keyboard and by link, and back; a person answers a session that waits."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from frozenlab.session.session import Session
from tests.browser.conftest import AT_REST, App, press_until_seen, soon
from tests.builders import build_session, small_spec


@pytest.fixture(scope="module")
def built(app: App) -> Session:
    return build_session(app.sessions, session_id="told")


def test_a_claims_evidence_opens_its_boards_and_closes_again(app: App, built: Session, page: Page) -> None:
    proposal = built.proposal(0)
    assert proposal is not None and proposal.proposal is not None
    name = next(name for claim in proposal.proposal.claims for name in claim.evidence if name.startswith("F"))
    page.goto(f"{app.url}/story?session=told&stage=1&part=wrote")
    chip = page.get_by_role("table", name="Claims of the engineer").get_by_role("button", name=f"Open the boards behind {name}").first
    chip.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text(f"The boards behind {name}")).to_be_visible()
    expect(dialog.locator(".player canvas")).to_have_count(2)  # the failing plan and the optimal one
    expect(page).to_have_url(re.compile(f"evidence={name}"))
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(page).not_to_have_url(re.compile("evidence="))
    chip.focus()
    chip.press("Enter")
    expect(dialog.get_by_text(f"The boards behind {name}")).to_be_visible()
    page.reload()
    expect(page.get_by_role("dialog").get_by_text(f"The boards behind {name}")).to_be_visible()


@pytest.mark.slow
def test_a_point_of_the_map_opens_the_boards_drawn_there(app: App, built: Session, page: Page) -> None:
    page.goto(f"{app.url}/story?session=told&stage=1&part=session")
    point = page.locator(".st-key-config-map .scatterlayer .point").first
    point.scroll_into_view_if_needed()
    point.click(force=True)
    expect(page.get_by_role("dialog").get_by_text(re.compile("The boards behind S"))).to_be_visible()
    expect(page).to_have_url(re.compile("evidence=S"))


@pytest.mark.slow
def test_the_contents_stay_in_reach_and_lead_to_parts_and_stages(app: App, built: Session, page: Page) -> None:
    page.goto(f"{app.url}/story?session=told&stage=1")
    contents = page.get_by_role("navigation", name="Contents of this page")
    expect(contents.get_by_role("link", name="What happened")).to_have_attribute("aria-current", "page")
    contents.get_by_role("link", name="What it wrote").click()
    heading = page.get_by_role("heading", name="What it wrote")
    expect(heading).to_be_visible()
    expect(page).to_have_url(re.compile("part=wrote"))
    page.locator("[data-testid=stMain]").evaluate("main => main.scrollTo({top: main.scrollHeight})")
    expect(contents).to_be_in_viewport()
    contents.get_by_role("link", name="Was it right?").press("Enter")
    expect(page.get_by_role("heading", name="Was it right?", exact=True)).to_be_in_viewport()
    contents.get_by_role("button", name="Next stage: Stage 2").click()
    expect(page).to_have_url(re.compile("stage=2"))
    expect(contents.get_by_role("button", name="Stage before: Stage 1")).to_be_visible()
    expect(contents.get_by_role("link", name="Was it right?")).to_have_attribute("aria-current", "page")
    contents.get_by_role("link", name="What happened").click()
    expect(page.get_by_text("Stage 2 took valid plans")).to_be_visible()


@pytest.mark.slow
def test_on_a_phone_a_claim_is_a_card_and_a_changed_value_is_on_the_screen(app: App, built: Session, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{app.url}/story?session=told&stage=1&part=wrote")
    claim = page.locator(".fl-said", has_text=re.compile("^Size 3: ")).last
    expect(claim).to_be_visible()
    box = claim.bounding_box()
    assert box is not None and box["width"] > 250, "a claim has the width of the screen, not of a word"
    for value in page.locator(".fl-config .fl-knob b").all():
        box = value.bounding_box()
        assert box is not None and box["x"] + box["width"] <= 390, "the new value is not cut off"
    page.get_by_role("link", name="The whole session").click()
    panels = page.locator(".st-key-config-map .stPlotlyChart").bounding_box()
    assert panels is not None and panels["width"] > 700, "small multiples keep their size"
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") == 390, "the figure is pushed, not the page"


def held(form: Locator) -> list[str]:
    """What the entries of a form hold: numbers, texts and single choices, then what is chosen of several."""
    single = form.locator("input:is([type=number], [type=text]):not([aria-label=Session], [data-testid=stMultiSelect] *)").all()
    return [field.input_value() for field in single] + form.get_by_test_id("stMultiSelect").all_inner_texts()


def change_everything(page: Page, form: Locator) -> list[str]:
    """Writes into each number and text and chooses otherwise in each list; returns what the form holds then."""
    for choice in form.locator("input[role=combobox]:not([aria-label=Session])").all():
        page.locator(AT_REST).wait_for()
        choice.focus()
        press_until_seen(page, "ArrowDown", page.get_by_role("option").first)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_timeout(500)
        page.keyboard.press("Tab")
    for place, field in enumerate(form.locator("input:is([type=number], [type=text]):not([role=combobox])").all()):
        page.locator(AT_REST).wait_for()
        field.fill(str(31 + place) if field.get_attribute("type") == "number" else f"mine {place}")
        field.press("Enter")
    page.locator(AT_REST).wait_for()
    return held(form)


@pytest.mark.parametrize("decides", ["turn", pytest.param("fork", marks=pytest.mark.slow)])
def test_a_decision_is_kept_while_the_evidence_is_read_and_after_a_reload(app: App, page: Page, decides: str) -> None:
    spec = small_spec(stages=2, sizes=(3, 4), boards_per_size=4, engineer="human" if decides == "turn" else "policy")
    session = build_session(app.sessions, spec, f"draft-{decides}", finished_stages=1 if decides == "turn" else None)
    if decides == "turn":
        (session.stage_dir(0) / "proposal.json").unlink()
        state = json.loads((session.dir / "state.json").read_text()) | {"status": "waiting", "stage": 0, "phase": "proposing"}
        (session.dir / "state.json").write_text(json.dumps(state))
    page.goto(f"{app.url}/story?session={session.id}&stage=1&part=wrote")
    form = page.get_by_test_id("stMain")
    if decides == "fork":
        page.get_by_text("What if? Decide otherwise").click()
        form = page.get_by_test_id("stExpander").filter(has_text="What if?")
    expect(form.get_by_role("textbox", name="Why")).to_be_visible()
    begun = held(form)
    entered = change_everything(page, form)
    assert not [now for before, now in zip(begun, entered, strict=True) if now == before], f"{begun} was changed to {entered}"
    contents = page.get_by_role("navigation", name="Contents of this page")
    for part in [*contents.get_by_role("link").all_inner_texts(), "Your decision" if decides == "turn" else "What it wrote"]:
        contents.get_by_role("link", name=part).click()
        expect(contents.get_by_role("link", name=part)).to_have_attribute("aria-current", "page")
        page.locator(AT_REST).wait_for()
    soon(page, lambda: held(form) == entered, f"{entered} again")
    page.reload()
    if decides == "fork":
        page.get_by_text("What if? Decide otherwise").click()
    soon(page, lambda: held(form) == entered, f"{entered} after a reload")
