"""Beat the engineer: choose a student, read what it fails at, write a config, watch both train, see the score."""

from __future__ import annotations

from functools import partial

import streamlit as st

from frozenlab.app import experiment
from frozenlab.app.contests.form import ENTRY, RACE, VIEW, mine, task_name, write_config
from frozenlab.app.contests.race import queue, race
from frozenlab.app.session import evidence
from frozenlab.app.ui import markup, nav, refusals, sessions, theme
from frozenlab.app.ui.deleting import delete_button, undo_line
from frozenlab.app.ui.figures import Series, overall_by_cell, rates_by_cell
from frozenlab.app.ui.live import keep_current
from frozenlab.app.ui.markup import cited
from frozenlab.app.views.view import Shown
from frozenlab.app.views.views import view_of
from frozenlab.base.cells import in_order
from frozenlab.base.errors import LabError
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import ContestError, can_gain, opponents, task_against
from frozenlab.experiments.contests.worker import TRAINED_AT_ONCE
from frozenlab.experiments.students.recipe import Recipe
from frozenlab.experiments.students.store import Student

ERROR = experiment.error_of("contest")
PICKED = "contest-opponent"
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
COURSE = (
    "**1. Look.** You see how often it succeeds at each kind of task, and tasks that it failed. The engineer sees the same.",
    "**2. Choose.** You share out what it practises next, and the engineer does so too, without knowing your choice.",
    "**3. Compare.** Two copies train side by side, and are scored on the same tasks, which neither has practised.",
)
"""What happens in a contest."""
SHOWN = 6
"""Contests to go back to."""
LOOK = 5.0
"""Seconds between looks at what a contest waits for outside its own folder: its student, and a free queue."""
AGAIN, BEFORE = "Try another config", "Before training"
"""Views of a contest that one has entered, beside the race."""
ASKED, WATCH = "contest", "watch"
"""Parts of the address: the contest, and whether this screen only watches (a projector)."""


def page() -> None:
    """A contest, or the choice of an opponent for a new one."""
    markup.styles()
    theme.question(
        "Beat the engineer",
        "A student is a small language model. Look at what it fails at, choose what it practises next, and see whether it learns more from "
        "your choice than from the choice of the model that usually decides this, the engineer.",
    )
    refusals.show_reason(ERROR)
    undo_line("contest", ERROR, partial(nav.put, ASKED))
    asked = st.query_params.get(ASKED)
    try:
        contest = Contest.open(asked, sessions.store()) if asked is not None else None
    except ContestError:
        st.warning("There is no such contest on this machine. Begin one here.")
        contest = None
    if contest is None:
        choose_opponent()
    else:
        show_contest(contest)


def choose_opponent() -> None:
    """The form of a new contest, and the newest contests."""
    known = recipes_by_id()
    ready = {student.id for student in Student.all(sessions.store()) if student.ready}
    titles = {name: title_of(number) for number, name in enumerate(known)}
    with st.container(border=True):
        chosen = st.radio(
            "Your student", list(known), key=PICKED, horizontal=True, format_func=titles.__getitem__,
            help="Each student is a copy of the lab model that was taught wrong answers to one kind of task. Its name does not say which.",
        )  # fmt: skip
        if chosen in ready:
            st.caption("It is ready. Measuring it takes half a minute.")
        else:
            st.caption("It is made first, in the background: one to three minutes on two cores, once.")
        st.button("Meet it", type="primary", key="contest-begin", on_click=begin, args=(chosen, known, titles), **refusals.changes())
    for place, words in zip(st.columns(3, gap="large"), COURSE, strict=True):
        place.markdown(words)
    found = Contest.all(sessions.store())[:SHOWN]
    if found:
        st.subheader("Contests on this machine", anchor=False)
    for contest in found:
        people = sum(entry.kind == "person" for entry in contest.entries)
        words = f"{contest.title} · {people} {'entry' if people == 1 else 'entries'} · {sessions.ago(contest.state().started or 0)}"
        st.button(markup.plain(words), key=f"contest-open-{contest.id}", on_click=nav.put, args=(ASKED, contest.id), type="tertiary")


def recipes_by_id() -> dict[str, Recipe]:
    """The ready-made students, then those of this machine that are as planned, about the same tasks, and can gain from a choice."""
    known = opponents()
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
    head, action = st.columns([3, 1], vertical_alignment="bottom")
    head.subheader(f"Your student: {markup.plain(contest.title)}", anchor=False)
    action.button("Another student", key="contest-other", width="stretch", on_click=leave)
    if not contest.is_open:
        st.fragment(preparing)(contest.id)
        may_delete(contest)
        return
    watching = WATCH in st.query_params
    committed = watching or bool(own_entries(contest))
    views = (RACE,) if watching else (RACE, AGAIN, BEFORE)
    shown = None
    if committed:
        st.session_state.setdefault(VIEW, RACE)
        shown = st.segmented_control("View", views, key=VIEW, required=True, label_visibility="collapsed")
    if shown == RACE:
        live = contest.state().live or bool(contest.waiting())
        st.fragment(follow)(contest.id, tuple(own_entries(contest)), contest.finished, live or watching)
    elif not committed and any(entry.kind == "person" for entry in contest.entries):
        st.fragment(others)(contest.id)
    if shown in (None, BEFORE):
        what_it_does(contest)
    if shown in (None, AGAIN):
        write_config(contest, again=committed)
    for_a_class(contest, watching, committed)
    if not watching:
        may_delete(contest)


def may_delete(contest: Contest) -> None:
    if not contest.state().live:
        delete_button(contest, "contest-delete", ERROR, leave)


def follow(contest_id: str, own: tuple[int, ...], drawn: int, live: bool) -> None:
    """The live part: the race and the scoreboard. Draws the page again when another entry has its score."""
    contest = Contest.open(contest_id, sessions.store())
    if live:
        keep_current(contest, every=LOOK)
    keep_going(contest)
    race(contest, own)
    if contest.finished != drawn:
        nav.draw_anew()


def others(contest_id: str) -> None:
    """Who trains and waits, for a reader who has entered nothing yet and so sees no scores and no configs."""
    contest = Contest.open(contest_id, sessions.store())
    if contest.state().live or contest.waiting():
        keep_current(contest, every=LOOK)
    keep_going(contest)
    queue(contest)


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
        st.progress(done, text="Making the student: a copy of the lab model practises, some of it wrongly. One to three minutes, once.")
    else:
        done = contest.base.state().phase_done if contest.base is not None else 0.0
        st.progress(min(max(done, 0.0), 1.0), text="Measuring the student on held-out boards. Half a minute.")


def keep_going(contest: Contest) -> None:
    """Wake the worker of a contest that has none; while another job runs, say what it waits for."""
    try:
        contest.wake()
    except LabError as error:
        st.info(f"The queue waits: {markup.plain(str(error))}.", icon=":material/hourglass_empty:")


def own_entries(contest: Contest) -> list[int]:
    """The entries that were made in this browser tab, and the one that the address names."""
    named = st.query_params.get(ENTRY, "")
    known = {entry.number for entry in contest.entries if entry.kind == "person"}
    own: list[int] = st.session_state.get(mine(contest), [])
    return sorted({*own, *(number for number in known if str(number) == named)} & known)


def leave() -> None:
    for part in (ASKED, WATCH, ENTRY):
        st.query_params.pop(part, None)


def what_it_does(contest: Contest) -> None:
    """The evidence of the student before training, on its validation boards."""
    base = contest.base
    table = None if base is None else base.validation(None)
    context = None if base is None else base.context(None)
    if base is None or table is None or context is None:
        return
    rates = overall_by_cell(table)
    theme.facts(
        [(rates[cell].percent, task_name(cell), f"95 % interval {rates[cell].percents}, n = {rates[cell].n}") for cell in in_order(rates)]
    )
    st.caption(
        "How many of its answers are right before training, by kind of task: 2 agents on 9×9 are boards of 9×9 cells on which it plans for "
        "two agents at once. In Countdown it has to reach a number by calculating with those it is given. "
        f"{len(table)} tasks outside the training."
    )
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
            "**The evidence**, the same that the engineer reads. Each line begins with its name: F for failures, S for tasks so far, B "
            "for tries in training, then the kind of task, such as 2@doors6 for 2 agents on 6×6 doors. Click a name to see the tasks "
            "behind the line."
        )
        lines = markup.evidence_sections(context, ())
        with st.container(height=360, border=False):
            cited("".join(lines.values()), key="contest-evidence", on_pick=evidence.follow)
    with st.expander("The rates with their intervals"):
        theme.chart(rates_by_cell(None, Series("before training", table)), "contest-base-rates")
    evidence.open_boards(base, None, context)


def for_a_class(contest: Contest, watching: bool, committed: bool) -> None:
    with st.expander("Play with a class", icon=":material/groups:"):
        st.markdown(
            f"Everybody who reaches this server can enter by this address. Entries queue, {TRAINED_AT_ONCE} train at a time, and there is "
            "one scoreboard."
        )
        nav.show_address(nav.address(**{ASKED: contest.id}))
        if watching:
            st.button("Take part on this screen", key="contest-play", on_click=nav.put, args=(WATCH, None))
        elif not committed:
            st.button(
                "Only watch on this screen", key="contest-watch", icon=":material/tv:", on_click=nav.put, args=(WATCH, "1"),
                help="For a projector: it shows the training and the scoreboard, and no form. It shows what the engineer wrote.",
            )  # fmt: skip
