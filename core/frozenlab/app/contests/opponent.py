"""Whom to play against: the ready-made students, the students of this machine, and the lab model as it ships."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.ui import markup, refusals, sessions
from frozenlab.app.ui.glossary import note
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import LAB_MODEL, ContestTask, opponents, task_against
from frozenlab.experiments.students.recipe import Recipe
from frozenlab.experiments.students.store import Student

ERROR, PICKED = "contest-error", "contest-opponent"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
COURSE = (
    "**1. Look.** You see how often it succeeds at each kind of task, and tasks that it failed. The engineer sees the same.",
    "**2. Choose.** You share out what it practises next, and the engineer does so too, without knowing your choice.",
    "**3. Compare.** Two copies train side by side for about a minute, and are scored on the same tasks, which neither has practised.",
)
"""What happens in a contest."""
SHOWN = 6
"""Contests to go back to."""


def choose_opponent() -> None:
    """The form of a new contest, and the newest contests."""
    refusals.show_reason(ERROR)
    known = recipes_by_id()
    ready = {student.id for student in Student.all(sessions.store()) if student.ready}
    titles = {name: title_of(number) for number, name in enumerate(known)}
    with st.container(border=True):
        chosen = st.radio(
            "Your opponent", [*known, LAB_MODEL], key=PICKED, horizontal=True,
            format_func=lambda name: titles.get(name, "The lab model as it ships"),
            help="Each student is a copy of the lab model with one weakness, which was made on purpose. Its name does not say which.",
        )  # fmt: skip
        if chosen == LAB_MODEL:
            note("It has no planted weakness, so there is no oracle, and what was possible is unknown.")
        elif chosen in ready:
            st.caption("It is ready. Measuring it takes half a minute.")
        else:
            st.caption("It is made first, in the background: one to three minutes on two cores, once.")
        st.button(
            "Meet it",
            type="primary",
            key="contest-begin",
            on_click=begin,
            args=(chosen, known, titles),
            **refusals.changes(),
        )
    for place, words in zip(st.columns(3, gap="large"), COURSE, strict=True):
        place.markdown(words)
    found = Contest.all(sessions.store())[:SHOWN]
    if found:
        st.subheader("Contests on this machine", anchor=False)
    for contest in found:
        people = sum(numbered.entry.kind == "person" for numbered in contest.entries)
        words = f"{contest.title} · {people} {'entry' if people == 1 else 'entries'} · {sessions.ago(contest.state().started or 0)}"
        st.button(markup.plain(words), key=f"contest-open-{contest.id}", on_click=go_to, args=(contest.id,), type="tertiary")


def recipes_by_id() -> dict[str, Recipe]:
    """The ready-made students, then those of this machine that are as planned and about the same tasks."""
    known = opponents()
    cells = {frozenset(recipe.config.cells) for recipe in known.values()}
    own = {student.id: student.recipe for student in Student.all(sessions.store()) if student.as_planned}
    return known | {name: recipe for name, recipe in own.items() if name not in known and frozenset(recipe.config.cells) in cells}


def title_of(number: int) -> str:
    """``Student A``; after Z, ``Student 27``."""
    return f"Student {LETTERS[number] if number < len(LETTERS) else number + 1}"


def begin(chosen: str, known: dict[str, Recipe], titles: dict[str, str]) -> None:
    with refusals.keeping_reason(ERROR, "Not begun"):
        task: ContestTask = task_against(known.get(chosen), chosen, titles.get(chosen, ""))
        go_to(Contest.start(task, sessions.store()).id)


def go_to(contest_id: str) -> None:
    st.query_params["contest"] = contest_id
