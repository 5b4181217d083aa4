"""The Help page explains every fault and every word of the lab."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from frozenlab.app.learn.chapters import CHAPTERS
from frozenlab.app.learn.page import with_emphasis
from frozenlab.app.ui import nav
from frozenlab.app.ui.glossary import GLOSSARY, explained
from frozenlab.lake.rules import FAULTS
from frozenlab.tasks.lake.words import OUTCOMES
from tests.pages.apptest import components, open_page, words


def test_every_fault_and_every_word_is_explained(sessions_folder: Path) -> None:
    app = open_page("help")
    shown = words(app)
    assert [fault for fault in FAULTS if OUTCOMES[fault].label not in shown] == []
    assert [word for group in GLOSSARY.values() for word in group if word not in shown] == []


def test_the_loop_is_drawn_with_the_figures_of_a_session_and_without_one_in_words(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [loop] = components(open_page("help"), "cards")
    assert [card["figure"]["kind"] for card in loop["cards"]] == ["bars", "line", "bars", "stack", "quote"]
    monkeypatch.setattr("frozenlab.base.places.SESSIONS", folder / "recorded")
    [words_only] = components(open_page("help"), "cards")
    assert [card | {"figure": None} for card in loop["cards"]] == words_only["cards"]
    assert {card["page"]["address"] for card in loop["cards"]} < nav.PAGES.keys()


def test_the_two_plans_on_its_board_are_a_collision_and_the_optimum(sessions_folder: Path) -> None:
    [player] = components(open_page("help"), "tracks")
    assert [track["badge"] for track in player["tracks"]] == [OUTCOMES["vertex_conflict"].label, "optimal makespan"]


def test_a_term_tells_its_meaning_where_it_comes_up_first() -> None:
    html = explained("GRPO and a config <b>; two configs, Grpo.")
    assert html.count("<dfn") == 2 and "&lt;b&gt;" in html
    assert f'data-meaning="{GLOSSARY["Training"]["GRPO"]}">GRPO</dfn>' in html and ">config</dfn> &lt;" in html
    assert explained("A board is a board.") == "A board is a board.", "what everybody knows is not explained"


def test_every_term_that_the_course_stresses_tells_its_meaning() -> None:
    stressed = {term.lower() for chapter in CHAPTERS for term in re.findall(r"\*(.+?)\*", chapter.idea)}
    assert stressed and stressed - {word.lower() for group in GLOSSARY.values() for word in group} == set()
    html = with_emphasis(explained("A *vertex conflict* is a conflict; a *conflict* is none of the *two*."))
    assert html.count("<dfn") == 2 and html.count("<em>") == 3 and "*" not in html
