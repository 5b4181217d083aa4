"""Help: how does the lab work?"""

from __future__ import annotations

from html import escape

import streamlit as st

from frozenlab.lake.board import read_board
from frozenlab.lake.rules import judge, walk
from frozenlab.loop.page.loop_picture import complete_stage, loop_picture
from frozenlab.tasks.lake.view.player import board_player
from frozenlab.tasks.lake.view.tracks import Track
from frozenlab.tasks.lake.words import OUTCOMES
from frozenlab.ui import glossary, markup, nav, sessions, theme

LOOP = (
    ("Draw", "Boards are drawn at random from an environment config, which sets how large, how full and how crowded they are.", "design"),
    ("Train", "The model plans them. Each plan is judged by the rules below, and training makes the better plans likelier.", "train"),
    ("Validate", "The model plans boards that it never trained on. The valid and optimal rates on them are the results.", "benchmark"),
    ("Gather evidence", "The lab counts what went wrong, on which map sizes, and writes it down in lines, each with an id.", "story"),
    ("Decide", "The engineer reads these lines and proposes the next config. The guard checks it, and the next stage begins.", "story"),
)
"""A step of the loop: its name, what happens, and the page that shows it."""
LESSON = (
    ("play", "Draw a board on which two agents must cross, and plan it yourself. Where do they meet?"),
    ("play", "Switch on *How a solver finds it*, and follow the tree of Conflict-Based Search to the optimal plan."),
    ("play", "Let the model plan the same board. Choose *Sampled*: how many of its answers are valid?"),
    ("design", "Raise the wait ratio of one map size. What changes in the boards that are drawn?"),
    ("story", "Before you read what the engineer proposed, decide for yourself under *What if?*. Whose config was better?"),
)
CROSSING = read_board("F s F\nS F G\nF g F")
BEST = 3
"""Steps of the optimal plan on CROSSING."""


def page() -> None:
    theme.question("How does the lab work?", "One loop, one kind of board, and a few words. Nothing here needs to be known beforehand.")
    markup.styles()
    the_loop()
    the_rules()
    the_words()
    a_lesson()


def the_loop() -> None:
    st.subheader("The loop", anchor="loop")
    for column, (place, (name, what, target)) in zip(st.columns(len(LOOP)), enumerate(LOOP, start=1), strict=True):
        column.markdown(f"**{place}. {name}**  \n{what}")
        column.page_link(nav.path(target), label=nav.PAGES[target][0])
    known = (session for session in sessions.store().sessions() if complete_stage(session) is not None)
    example = next(known, None)
    if example is not None:
        st.caption(f"One turn of it, with the numbers of the session {markup.plain(example.title)}:")
        loop_picture(example, key="help-loop")


def the_rules() -> None:
    st.subheader("The rules of a board", anchor="rules")
    words, boards = st.columns([1, 1.3], gap="large", vertical_alignment="center")
    words.markdown(
        "- Each agent (a disc) has a goal: the square with its number.\n"
        "- All agents move at the same time. In one step each goes to a neighbouring cell, or waits.\n"
        "- An agent on its goal stays there, and still blocks the cell.\n"
        "- A plan is **valid** if every agent ends on its goal and nothing below goes wrong. It is **optimal** if no valid plan has fewer "
        "steps; the exact solver proves that.\n\n"
        "On this board both agents want the cell in the middle. At the left they collide; at the right one of them waits for a step."
    )
    plans = (("both go at once", ("RR", "DD")), ("agent 1 waits", ("RR", "WDD")))
    tracks = [Track(label, walk(CROSSING, plan), judge(CROSSING, plan, BEST)) for label, plan in plans]
    with boards:
        board_player(CROSSING, tracks, key="help-board", height=260, autoplay=True)
    st.markdown(
        "**What can go wrong.** Only the first fault counts: the one at the earliest step. Every chart uses these words and colours."
    )
    head = [("fault", ""), ("the rule that it breaks", "")]
    rows = [
        f'<tr><th scope="row">{swatch(fault)}</th><td>{escape(rule)}</td></tr>'
        for fault, outcome in OUTCOMES.items()
        if (rule := outcome.rule)
    ]
    st.html(markup.table("Faults and the rules that they break", head, rows))


def swatch(outcome: str) -> str:
    """An outcome in its colour and its words."""
    square = f'<span style="color:{OUTCOMES[outcome].color}" aria-hidden="true">■</span>'
    return f"{square} {escape(OUTCOMES[outcome].label)}"


def the_words() -> None:
    st.subheader("The words", anchor="words")
    st.html(f'<div class="fl-words">{"".join(glossary.group(name, words) for name, words in glossary.GLOSSARY.items())}</div>')


def a_lesson() -> None:
    st.subheader("A first hour", anchor="lesson", help="For a class, or on your own. Nothing is downloaded, and no GPU is needed.")
    for place, (target, task) in enumerate(LESSON, start=1):
        link, words = st.columns([0.6, 5], vertical_alignment="center")
        link.page_link(nav.path(target), label=f"{place}. {nav.PAGES[target][0]}")
        words.markdown(task)


nav.ensure_nav()
page()
