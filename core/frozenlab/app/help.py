"""Help: how does the lab work?"""

from __future__ import annotations

import streamlit as st

from frozenlab.app.loop_picture import loop_explained, with_a_turn
from frozenlab.app.ui import glossary, nav, sessions, theme
from frozenlab.app.views.views import view_of
from frozenlab.session.store import OFFERED
from frozenlab.tasks import families
from frozenlab.tasks.mixed.family import MIXED

LOOP = (
    ("Draw", "Boards are drawn at random from an environment config, which sets how large, how full and how crowded they are.", "design"),
    ("Train", "The model plans them. Each plan is judged by the rules below, and training makes the better plans likelier.", "train"),
    ("Validate", "The model plans boards that it never trained on. The valid and optimal rates on them are the results.", "benchmark"),
    ("Gather evidence", "The lab counts what went wrong, on which map sizes, and writes it down in lines, each with an id.", "story"),
    ("Decide", "The engineer reads these lines and proposes the next config, which the guard checks.", "story"),
)
"""A step of the loop: its name, what happens, and the page that shows it."""
LESSON = (
    ("learn", "Take the course: seventeen chapters on live boards, from one agent to the planners of the field and the model."),
    ("play", "Draw a board on which two agents must cross, and plan it yourself. Where do they meet?"),
    ("play", "Let the model plan the same board. Choose *Sampled*: how many of its answers are valid?"),
    ("design", "Raise the wait ratio of one map size. What changes in the boards that are drawn?"),
    ("story", "Before you read what the engineer proposed, decide for yourself under *What if?*. Whose config was better?"),
)


def page() -> None:
    theme.question("How does the lab work?", "One loop, one kind of board, and a few words. Nothing here needs to be known beforehand.")
    the_loop()
    with_rules = [family for family in families.FAMILIES if family is not MIXED]  # the families that it mixes have theirs
    for tab, family in zip(st.tabs([family.name.capitalize() for family in with_rules]), with_rules, strict=True):
        with tab:
            view_of(family).rules()
    st.header("The words", anchor="words")
    glossary.every_word()
    a_lesson()


def the_loop() -> None:
    hero = with_a_turn(sessions.store().sessions(OFFERED))
    st.header("The loop", anchor="loop", help=f"Its figures are one turn of the session {hero.id}." if hero else None)
    steps = [(name, what, target, nav.PAGES[target][0]) for name, what, target in LOOP]
    loop_explained(hero, steps, "The next stage draws from the new config.", key="help-loop")


def a_lesson() -> None:
    st.header(
        "A first hour",
        anchor="lesson",
        help="For a class (Learn, at its foot, has a page for teachers), or on your own. Nothing is downloaded, and no GPU is needed.",
    )
    hour = st.container(key="help-hour")
    for place, (target, task) in enumerate(LESSON, start=1):
        link, words = hour.columns([0.6, 5], vertical_alignment="center")
        link.page_link(nav.path(target), label=f"{place}. {nav.PAGES[target][0]}")
        words.markdown(task)
