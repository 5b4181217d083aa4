from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from frozenlab.app.ui.glossary import GLOSSARY
from frozenlab.app.ui.nav import LEADS_TO, MENU, PAGES
from frozenlab.session.presets import preset_spec
from frozenlab.session.spec import SessionSpec
from tests.builders import build_session, small_spec
from tests.pages.apptest import open_page, source, words

pytestmark = pytest.mark.usefixtures("sessions_folder")


def test_an_empty_lab_offers_the_quick_session(launched: list[SessionSpec]) -> None:
    app = open_page("home")
    assert "No session has run here yet" in words(app)
    app.button(key="start-quick").click().run()
    assert app.title[0].value == "Is the model learning?"
    assert app.query_params["session"] == "started-1"
    open_page("home").button(key="start-quick").click().run()
    quick = preset_spec("quick")
    assert launched == [quick.changed(seed=seed, title=f"{quick.title}, seed {seed}") for seed in (0, 1)], "none repeats another"
    app = open_page("train")
    assert [option.split(" · ")[0] for option in app.selectbox(key="session_picker").options] == [
        "Quick session, seed 1",
        "Quick session, seed 0",
    ]
    app.button(key="new").click().run()
    app.number_input(key="form_seed").set_value(1).run()
    assert any("This repeats Quick session, seed 1 (started-2) to the last bit." in info.value for info in app.info)


def test_a_finished_session_is_shown_with_interval_and_n(sessions_folder: Path) -> None:
    session = build_session(sessions_folder)
    app = open_page("home")
    before, after = (100 * session.validation(stage)["valid"].mean() for stage in (None, 2))
    said = re.sub(r"<[^>]+>", "", words(app))  # terms are marked
    assert f"{before:.0f} %" in said
    assert f"{after:.0f} %" in said
    assert "n = 48 validation boards, which the engineer saw too" in said
    keys = [element.proto.id for element in app.get("bidi_component")]
    assert any("home-board" in key for key in keys)
    assert any(key.endswith("loop") for key in keys)
    assert 'alt="Valid plans: before training' in source(app) and "stage 3" in source(app), "the line of the card in words"


def test_the_finished_session_is_shown_even_if_a_newer_one_is_half_way_and_titles_are_text(sessions_folder: Path) -> None:
    title = "![x](http://example.com/x)"
    build_session(sessions_folder, small_spec(title=title), "finished")
    build_session(sessions_folder, small_spec(title=f"Half {title}"), "half", status="stopped", finished_stages=1)
    app = open_page("home")
    said = words(app)
    assert "before and after 3 stages" in said
    assert f"**Half {title}**" in said and "![x](" not in source(app)
    assert "Session finished" in {link.proto.help for link in app.get("page_link")}


def test_how_a_session_was_trained_stands_beside_its_figures(sessions_folder: Path) -> None:
    spec = small_spec()
    by_imitation = spec.training.model_copy(update={"method": "imitation"})
    build_session(sessions_folder, spec.model_copy(update={"training": by_imitation}))
    said = words(open_page("home"))
    assert "imitation · engineer: the model itself · 3 stages" in said
    assert "by imitating an exact solver" in said
    assert "by reinforcement learning" not in said


def test_the_words_of_the_lab_are_explained() -> None:
    app = open_page("home")
    assert any(part.label == "What the words mean" for part in app.expander)
    said = unescape(words(app))
    assert all(word in said and meaning in said for group in GLOSSARY.values() for word, meaning in group.items())


@pytest.mark.parametrize(
    ("button", "question"),
    [
        ("door-story", "How do I show this in a talk?"),
        ("door-learn", "1. One agent :small[:gray[3 minutes]]"),
        ("door-play", "How does the model plan on this board?"),
        ("door-train", "What should run?"),
        ("door-studies", "What makes a good engineer?"),
    ],
)
def test_a_door_opens_its_page(sessions_folder: Path, button: str, question: str) -> None:
    build_session(sessions_folder)
    app = open_page("home").button(key=button).click().run()
    assert app.title[0].value == question


def test_the_menu_has_eight_pages_which_lead_to_all_others() -> None:
    led_to = [name for names in LEADS_TO.values() for name in names]
    assert len(MENU) == 8 and sorted([*MENU, *led_to]) == sorted(PAGES)
    assert "What is compared" in [box.label for box in open_page("home").button(key="door-ablation").click().run().selectbox]


def test_without_a_recording_there_is_no_story_to_watch() -> None:
    assert open_page("home").button(key="door-story").disabled
