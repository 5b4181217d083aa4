"""Beat the engineer: choose an opponent, read what it fails at, write a config, watch both train, see the score."""

from __future__ import annotations

from functools import partial

import streamlit as st

from frozenlab.app.contests.evidence import what_it_does
from frozenlab.app.contests.form import ENTRY, RACE, VIEW, mine, write_config
from frozenlab.app.contests.opponent import choose_opponent
from frozenlab.app.contests.race import race
from frozenlab.app.ui import markup, nav, refusals, sessions, theme
from frozenlab.app.ui.deleting import delete_button, undo_line
from frozenlab.app.ui.live import keep_current
from frozenlab.base.errors import LabError
from frozenlab.experiments.contests.store import Contest
from frozenlab.experiments.contests.task import ContestError
from frozenlab.experiments.contests.worker import TRAINED_AT_ONCE

ERROR = "contest_error"
"""Session-state entry: why the contest could not be deleted or restored."""
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
        "A small language model was taught something wrong. Look at what it fails at, choose what it practises for the next minute, and "
        "see whether it learns more from your choice than from the choice of the model that usually decides this, the engineer.",
    )
    refusals.show_reason(ERROR)
    undo_line("contest", ERROR, partial(nav.put, ASKED))
    asked = st.query_params.get(ASKED)
    if asked is None:
        choose_opponent()
        return
    try:
        contest = Contest.open(asked, sessions.store())
    except ContestError:
        st.warning("There is no such contest on this machine. Begin one here.")
        choose_opponent()
        return
    show_contest(contest)


def show_contest(contest: Contest) -> None:
    head, action = st.columns([3, 1], vertical_alignment="bottom")
    head.subheader(f"Your opponent: {markup.plain(contest.title)}", anchor=False)
    action.button("Another opponent", key="contest-other", width="stretch", on_click=leave)
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
        st.fragment(follow)(contest.id, tuple(own_entries(contest)), finished(contest), live or watching)
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
    if finished(contest) != drawn:
        st.rerun()


def preparing(contest_id: str) -> None:
    """The student is made or measured. Draws the page again when the contest is open."""
    contest = Contest.open(contest_id, sessions.store())
    keep_current(contest, every=LOOK)
    if contest.is_open:
        st.rerun()
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
    """Wakes the worker of a contest whose queue stands still; while another job runs, says what it waits for."""
    try:
        contest.wake()
    except LabError as error:
        st.info(f"The queue waits: {markup.plain(str(error))}.", icon=":material/hourglass_empty:")


def finished(contest: Contest) -> int:
    return sum(contest.standing(numbered.number) in ("done", "failed") for numbered in contest.entries)


def own_entries(contest: Contest) -> list[int]:
    """The entries that were made in this browser tab, and the one that the address names."""
    named = st.query_params.get(ENTRY, "")
    known = {numbered.number for numbered in contest.entries if numbered.entry.kind == "person"}
    own: list[int] = st.session_state.get(mine(contest), [])
    return sorted({*own, *([int(named)] if named.isdecimal() else [])} & known)


def leave() -> None:
    for part in (ASKED, WATCH, ENTRY):
        st.query_params.pop(part, None)


def for_a_class(contest: Contest, watching: bool, committed: bool) -> None:
    with st.expander("Play with a class", icon=":material/groups:"):
        st.markdown(
            f"Everybody who reaches this server can enter by this address. Entries queue, {TRAINED_AT_ONCE} train at a time, and there is "
            "one scoreboard."
        )
        nav.show_address(nav.address(**{ASKED: contest.id}))
        if watching:
            st.button("Take part on this screen", key="contest-play", on_click=take_part)
        elif not committed:
            st.button(
                "Only watch on this screen", key="contest-watch", icon=":material/tv:", on_click=only_watch,
                help="For a projector: it shows the training and the scoreboard, and no form. It shows what the engineer wrote.",
            )  # fmt: skip


def take_part() -> None:
    st.query_params.pop(WATCH, None)


def only_watch() -> None:
    st.query_params[WATCH] = "1"
