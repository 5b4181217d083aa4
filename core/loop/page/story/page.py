"""Story: what did the model change, and was it right?"""

from __future__ import annotations

import streamlit as st

from frozenlab.loop.page import evidence
from frozenlab.loop.page.ledger import LEDGER_ANCHOR, show_ledger
from frozenlab.loop.page.story.engineer import what_it_changed, what_it_said, what_it_saw
from frozenlab.loop.page.story.headline import headline, was_right
from frozenlab.loop.page.story.moment import Moment, moment_of
from frozenlab.loop.page.story.opening import first_judged
from frozenlab.loop.page.story.results import boards, results
from frozenlab.loop.page.story.what_if import what_if, your_turn
from frozenlab.loop.page.story.whole_session import show_branches, show_map, show_stages
from frozenlab.loop.session import Session
from frozenlab.loop.state import State
from frozenlab.loop.store import OFFERED
from frozenlab.ui import markup, nav, sessions, theme
from frozenlab.ui.components.contents import Contents
from frozenlab.ui.components.keys import shortcuts
from frozenlab.ui.components.timeline import Mark, marks, stage_name, timeline


def page() -> None:
    """A session, one of its stages, and everything about both."""
    head, picker = st.columns([2.4, 1], vertical_alignment="bottom")
    with head:
        theme.question("What did the model change, and was it right?")
    markup.styles()
    store = sessions.store()
    found = store.sessions(OFFERED)
    if not found:
        sessions.nothing_yet("No session has run yet.")
        return
    with picker:
        session = sessions.session_picker(found)
    show_session(session)
    sessions.unreadable(store)


def show_session(session: Session) -> None:
    state = session.state()
    if st.button("Present", key="story-present", icon=":material/play_circle:", help="This story, scene by scene. Key: P"):
        st.switch_page(nav.path("present"), query_params={"session": session.id, "play": "1"})
    shortcuts({"p": "story-present"}, key="story-keys")
    st.caption(f"{markup.plain(sessions.set_up(session.spec))} · seed {session.spec.seed} · results on {session.results_from}")
    opening = first_judged(session, state)
    thread = marks(session, state)
    chosen = timeline(thread, key="story-thread", default=None if opening is None else opening + 1)
    stage = chosen.id - 1 if chosen.id else None
    moment = moment_of(session, stage)
    if moment is None:
        sessions.problems(session)
        st.info(f"{stage_name(stage)} has no results yet.")
        st.page_link(nav.path("train"), label="Watch it train", query_params={"session": session.id})
        return
    headline(moment)
    contents = Contents("story-contents")
    show_moment(moment, state, contents)
    show_branches(session, contents)
    if show_ledger(session, sessions.store()):
        contents.add("Predictions", LEDGER_ANCHOR)
    show_map(moment, contents)
    show_stages(moment, contents)
    contents.show(chosen, *neighbours(thread, chosen))
    sessions.problems(session)


def show_moment(moment: Moment, state: State, contents: Contents) -> None:
    """What the stage did, and what the engineer saw, said and changed after it."""
    was_right(moment, contents)
    results(moment, contents)
    boards(moment, contents)
    stage, context, record = moment.stage, moment.context, moment.record
    if context is not None:
        what_it_saw(moment, context, contents)
        evidence.open_boards(moment.session, stage, context)
        if stage is not None and state.status == "waiting" and state.stage == stage:
            your_turn(moment, stage, context, contents)
    if record is not None:
        what_it_said(moment, record, contents)
        what_it_changed(moment, record, contents)
        if stage is not None and context is not None and not moment.is_last:
            what_if(moment, stage, context, record)


def neighbours(thread: list[Mark], chosen: Mark) -> tuple[Mark | None, Mark | None]:
    """The measured stages before and after the chosen one."""
    measured = [mark for mark in thread if mark.state == "done"]
    before = next((mark for mark in reversed(measured) if mark.id < chosen.id), None)
    return before, next((mark for mark in measured if mark.id > chosen.id), None)
