"""Beat the engineer: choose a student, read what it fails at, write a config, watch both train, see the score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Any

import pandas as pd
import streamlit as st

from frozenlab.app import experiment
from frozenlab.app.contests.form import ENTRY, RACE, VIEW, guess_of, own_entries, write_config
from frozenlab.app.contests.kinds import guess_cards, student_cards, task_name, weakness
from frozenlab.app.contests.race import class_race, queue, race
from frozenlab.app.session import evidence
from frozenlab.app.ui import markup, nav, refusals, sessions, theme
from frozenlab.app.ui.figures import Series, overall_by_cell, rates_by_cell
from frozenlab.app.ui.live import keep_current
from frozenlab.app.ui.markup import cited
from frozenlab.app.views.view import Shown
from frozenlab.app.views.views import view_of
from frozenlab.base.cells import in_order
from frozenlab.base.errors import LabError
from frozenlab.base.numbers import duration
from frozenlab.engineer.schema import Context
from frozenlab.experiments.contests.store import TRAINED_AT_ONCE, Contest
from frozenlab.experiments.contests.task import ContestError, can_gain, task_against, teachable
from frozenlab.experiments.students.recipe import Recipe
from frozenlab.experiments.students.store import Student
from frozenlab.experiments.studies.ladder import won_by_grpo
from frozenlab.experiments.studies.pictures import PHONE, rows_picture
from frozenlab.models.folders import STUDENT
from frozenlab.session.session import Session

ERROR = experiment.error_of("contest")
PICKED = "contest-student"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
OF_STUDENT = "It is a small language model that was taught wrong answers to one kind of task."
LEAD = (
    "A small language model was taught wrong answers to one kind of task. Find out which, choose what it practises next, and see whether "
    "it learns more from your choice than from that of the engineer, the model that usually decides."
)
COURSE = (
    "**1. Guess.** You see a task of each kind that it failed. Which kind was it taught wrong? Then you see how often it fails at each.",
    "**2. Choose.** You lay ten tokens on what it practises next. The engineer decides too, from the same evidence, and without knowing "
    "your choice.",
    "**3. Compare.** Two copies train side by side, and are scored on the same tasks, which neither has practised.",
    "**With a class.** Everybody who reaches this server can enter the same contest, and a projector shows the race.",
)
"""What happens in a contest."""
RIVALS = {"oracle": "the oracle", "taught": "the engineer", "lowest": "the lowest rate"}
"""Arms of the study that ships, and what a reader of this page calls them."""
SHOWN = 6
"""Contests to go back to."""
LOOK = 5.0
"""Seconds between looks at what a contest waits for outside its own folder: its student, and a free queue."""
AGAIN = "Try another config"
"""The view of a contest that one has entered, beside the race."""
ASKED, WATCH = "contest", "watch"
"""Parts of the address: the contest, and whether this screen only watches (a projector)."""


def page() -> None:
    """A contest, or the choice of a student for a new one."""
    asked = st.query_params.get(ASKED)
    try:
        contest = Contest.open(asked, sessions.store()) if asked is not None else None
    except ContestError:
        contest = None
    lead = LEAD if contest is None else f"Your student: {contest.title}. {OF_STUDENT if contest.spec.weak else ''}"
    (action,) = theme.head("Beat the engineer", lead, 3, 1)
    if contest is not None:
        action.button("Another student", key="contest-other", width="stretch", on_click=leave)
    refusals.show_reason(ERROR)
    experiment.undo_line("contest", ERROR, partial(nav.put, ASKED))
    if contest is None and asked is not None:
        st.warning("There is no such contest on this machine. Begin one here.")
    if contest is None:
        choose_student()
    else:
        show_contest(contest)


def choose_student() -> None:
    """The form of a new contest, and the newest contests."""
    known = recipes_by_id()
    made = [student for student in Student.all(sessions.store()) if student.ready]
    ready = {student.id for student in made}
    titles = {name: title_of(number) for number, name in enumerate(known)}
    notes = {name: "ready" if name in ready else "not made yet" for name in known}
    found = Contest.all(sessions.store())[:SHOWN]
    chosen = student_cards(titles, notes, weaknesses(found), PICKED)
    st.caption(
        "A picture shows a plan of the lab model, of which every student is a copy, and where it fails. It does not tell what the student "
        "was taught wrong; once you have your score, it does."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        asked, allowed = (chosen, known, titles), refusals.changes()
        st.button(f"Meet {titles[chosen]}", type="primary", key="contest-begin", on_click=begin, args=asked, **allowed)
        if chosen in ready:
            st.caption("It is ready, and is measured first.")
        else:
            st.caption(
                "First the lab teaches it the wrong answers, in the background."
                + (lasts(made, "Making a student took") or " That takes about two minutes on two cores.")
            )
    course, rivals = st.columns([1, 1.15], gap="large")
    with course:
        st.header("How it goes", anchor=False)
        for words in COURSE:
            st.markdown(words)
    with rivals:
        to_beat()
    if found:
        st.header("Contests on this machine", anchor=False)
    places = st.container(gap=None)
    for contest in found:
        people = sum(entry.kind == "person" for entry in contest.entries)
        words = f"{contest.title} · {people} {'entry' if people == 1 else 'entries'} · {sessions.ago(contest.state().started or 0)}"
        places.button(markup.plain(words), key=f"contest-open-{contest.id}", on_click=nav.put, args=(ASKED, contest.id), type="tertiary")


def weaknesses(contests: Sequence[Contest]) -> dict[str, dict[str, Any]]:
    """Student -> picture of what it was taught wrong, of contests in which this reader has a score."""
    over = [one for one in contests if one.spec.weak and any(one.standing(number) == "done" for number in own_entries(one))]
    return {contest.spec.session.policy.removeprefix(STUDENT): weakness(contest) for contest in over}


def to_beat() -> None:
    """What was won by choices like these, in the study that ships."""
    won = won_by_grpo()
    st.header("What there is to beat", anchor=False)
    rows = {words: [won[arm]] for arm, words in RIVALS.items()}
    markup.picture(rows_picture([""], rows, width=PHONE, unit="points of valid plans over equal shares"), "contest-to-beat", wide=False)
    st.caption(
        f"Recorded, on {won['taught'].n} students that were taught two kinds wrong: small dots are students, large ones means with 95 % "
        "intervals. The oracle knows what was taught wrong; the last puts all practice on the kind with the lowest rate."
    )


def recipes_by_id() -> dict[str, Recipe]:
    """The ready-made students, then those of this machine that are as planned, about the same tasks, and can gain from a choice."""
    known = teachable()
    cells = {frozenset(recipe.config.cells) for recipe in known.values()}
    own = {student.id: student.recipe for student in Student.all(sessions.store()) if student.as_planned and can_gain(student.recipe)}
    return known | {name: recipe for name, recipe in own.items() if name not in known and frozenset(recipe.config.cells) in cells}


def title_of(number: int) -> str:
    """``Student A``; after Z, ``Student 27``."""
    return f"Student {LETTERS[number] if number < len(LETTERS) else number + 1}"


def begin(chosen: str, known: dict[str, Recipe], titles: dict[str, str]) -> None:
    with refusals.keeping_reason(ERROR, "Not begun"):
        task = task_against(known[chosen], chosen, titles[chosen])
        nav.put(ASKED, Contest.start(task, sessions.store()).id)


def show_contest(contest: Contest) -> None:
    if not contest.is_open:
        st.fragment(preparing)(contest.id)
        may_delete(contest)
        return
    watching = WATCH in st.query_params
    own = own_entries(contest)
    if watching:
        left, right = st.columns([3.4, 1], gap="large")
        with left:
            st.fragment(follow)(contest.id, (), contest.finished, live=True)
        with right:
            nav.show_address(nav.address(**{ASKED: contest.id}))
            st.button("Take part on this screen", key="contest-play", on_click=nav.put, args=(WATCH, None), type="tertiary")
        return
    if own:
        st.session_state.setdefault(VIEW, RACE)
        shown = st.segmented_control("View", (RACE, AGAIN), key=VIEW, required=True, label_visibility="collapsed")
        if shown == RACE:
            st.fragment(follow)(contest.id, tuple(own), contest.finished, live=contest.state().live or bool(contest.waiting()))
        else:
            choose(contest, again=True)
    else:
        choose(contest)
        if any(entry.kind == "person" for entry in contest.entries):
            st.fragment(others)(contest.id)
    for_a_class(contest)
    may_delete(contest)


def may_delete(contest: Contest) -> None:
    if not contest.state().live:
        experiment.delete_button(contest, "contest-delete", ERROR, leave)


def follow(contest_id: str, own: tuple[int, ...], drawn: int, live: bool) -> None:
    """The live part: the race and the scoreboard. Draws the page again when another entry has its score."""
    contest = Contest.open(contest_id, sessions.store())
    if live:
        keep_current(contest, every=LOOK)
    keep_going(contest)
    if own:
        race(contest, own)
    else:
        class_race(contest)
    if contest.finished != drawn:
        nav.draw_anew()


def others(contest_id: str) -> None:
    """Who trains and waits, for a reader who has entered nothing yet and so sees no scores and no configs."""
    contest = Contest.open(contest_id, sessions.store())
    if contest.state().live or contest.waiting():
        keep_current(contest, every=LOOK)
    keep_going(contest)
    queue(contest, contest.begins(contest.rounds))


def preparing(contest_id: str) -> None:
    """The student is made or measured. Draws the page again when the contest is open."""
    contest = Contest.open(contest_id, sessions.store())
    keep_current(contest, every=LOOK)
    if contest.is_open:
        nav.draw_anew()
    state, student = contest.state(), contest.student
    making = contest.spec.recipe is not None and (student is None or not student.ready)
    if state.status in ("failed", "stopped", "crashed"):
        st.error(markup.plain(f"The contest could not be prepared: {state.error or state.status}."))
        if st.button("Try again", key="contest-again", **refusals.changes()):
            keep_going(contest)
        return
    if making:
        done = student.state().progress if student is not None else 0.0
        text = "Making the student, once: a copy of the lab model practises, some of it wrongly."
        st.progress(done, text=text + lasts([one for one in Student.all(contest.store) if one.ready], "Another took"))
    else:
        done = contest.base.state().phase_done if contest.base is not None else 0.0
        st.progress(min(max(done, 0.0), 1.0), text="Measuring the student on tasks outside its training.")


def keep_going(contest: Contest) -> None:
    """Wake the worker of a contest that has none; while another job runs, say what it waits for."""
    try:
        contest.wake()
    except LabError as error:
        st.info(f"The queue waits: {markup.plain(str(error))}.", icon=":material/hourglass_empty:")


def lasts(made: Sequence[Student], words: str) -> str:
    """How long students took that were made on this machine; empty without any."""
    took = [took for student in made if (took := student.state().took) is not None]
    return f" {words} about {duration(median(took))} on this machine." if took else ""


def leave() -> None:
    for part in (ASKED, WATCH, ENTRY):
        st.query_params.pop(part, None)


def choose(contest: Contest, again: bool = False) -> None:
    """First a guess, from tasks that the student failed; then the rates, the tokens, and the evidence for those who want more."""
    base = contest.base
    table = None if base is None else base.validation(None)
    context = None if base is None else base.context(None)
    if base is None or table is None or context is None:
        return
    if contest.spec.weak and not again and guess_of(contest) is None:
        st.header("Which kind of task was it taught wrong?", anchor=False)
        guess_cards(contest, table)
        st.caption(
            "Every card shows a task that it failed. On a board, each agent goes from its disc to the square of its colour, past holes; "
            "no two may meet, and the ring marks where the plan fails. In Countdown a target is to be reached from the numbers before it. "
            "Choose a card, then you see how often it fails at each kind."
        )
        return
    write_config(contest, table, again)
    with st.expander("The evidence, as the engineer reads it", icon=":material/menu_book:"):
        read_evidence(contest, base, table, context)
    evidence.open_boards(base, None, context)


def read_evidence(contest: Contest, base: Session, table: pd.DataFrame, context: Context) -> None:
    rates = overall_by_cell(table)
    left, right = st.columns([1.2, 1], gap="large")
    failed = table[~table["valid"]]
    with left:
        if len(failed):
            worst = min(rates, key=lambda cell: rates[cell].value)
            names = [cell for cell in in_order(rates) if (failed["config_cell"] == cell).any()]
            of = st.segmented_control(
                "A task it failed, of", names, key=f"contest-failed-{contest.id}", default=worst if worst in names else names[0],
                required=True, format_func=task_name,
            )  # fmt: skip
            row = failed[failed["config_cell"] == of].iloc[0]
            view_of(base.spec.tasks).show(Shown(row, "before training"), None, key="contest-failed-board", height=300)
    with right:
        st.markdown(
            "Each line begins with its name: F for failures, S for tasks so far, B for tries in training, then the kind of task, such as "
            "2@doors6 for 2 agents on 6×6 doors. Click a name to see the tasks behind the line."
        )
        lines = markup.evidence_sections(context, ())
        with st.container(height=360, border=False):
            cited("".join(lines.values()), key="contest-evidence", on_pick=evidence.follow)
    theme.chart(rates_by_cell(None, Series("before training", table)), "contest-base-rates")


def for_a_class(contest: Contest) -> None:
    with st.expander("Play with a class", icon=":material/groups:"):
        st.markdown(
            f"Everybody who reaches this server can enter by this address. Entries queue, {TRAINED_AT_ONCE} train at a time, and there is "
            "one scoreboard."
        )
        nav.show_address(nav.address(**{ASKED: contest.id}))
        st.button(
            "Only watch on this screen", key="contest-watch", icon=":material/tv:", on_click=nav.put, args=(WATCH, "1"),
            help="For a projector: the class as a race of bars. What the engineer gained is hidden until all others have their scores.",
        )  # fmt: skip
