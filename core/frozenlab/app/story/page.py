"""Story: what did the model change, and was it right?"""

from __future__ import annotations

import streamlit as st

from frozenlab.app.bundles import export_button, imported_note
from frozenlab.app.present.scenes import SHOWN
from frozenlab.app.session import evidence
from frozenlab.app.session.ledger import own_predictions, show_ledger
from frozenlab.app.story.decide import what_if, your_turn
from frozenlab.app.story.moment import Moment, first_judged, moment_of
from frozenlab.app.story.parts import boards, headline, results, was_right, what_it_changed, what_it_said, what_it_saw
from frozenlab.app.story.whole_session import show_branches, show_map, show_stages
from frozenlab.app.ui import markup, nav, sessions, theme
from frozenlab.app.ui.components.frame import shortcuts
from frozenlab.app.ui.components.timeline import Mark, chosen_mark, contents, marks, stage_name, timeline
from frozenlab.app.ui.sessions import origin_details
from frozenlab.app.views.views import view_of
from frozenlab.engineer.engineers import who_is
from frozenlab.experiments.bundles.found import Found
from frozenlab.session.session import Session
from frozenlab.session.store import OFFERED


def page() -> None:
    """A session, one of its stages, and everything about both."""
    picker, action = theme.head("What did the model change, and was it right?", "", 2.1, 1.15, 0.38)
    store = sessions.store()
    found = store.sessions(OFFERED)
    if not found:
        sessions.nothing_yet("No session has run yet.")
        return
    with picker:
        session = sessions.session_picker(found, label_visibility="collapsed")
    if action.button(
        "Present", key="story-present", icon=":material/play_circle:", width="stretch", help="This story, scene by scene. Key: P"
    ):
        st.switch_page(nav.path("present"), query_params={"session": session.address, "play": SHOWN})
    shortcuts({"p": "story-present"}, key="story-keys")
    show_session(session)
    sessions.unreadable(store)


def show_session(session: Session) -> None:
    state = session.state()
    imported_note("session", session.dir)
    opening = first_judged(session, state)
    thread = marks(session, state)
    default = None if opening is None else opening + 1
    chosen = chosen_mark(thread, default=default)
    stage = chosen.id - 1 if chosen.id else None
    moment = moment_of(session, stage)
    what_it_is(session)
    if moment is None:
        how_it_works(session)
        timeline(thread, key="story-thread", default=default)
        sessions.problems(session)
        st.info(f"{stage_name(stage)} has no results yet.")
        st.page_link(nav.path("train"), label="Watch it train", query_params={"session": session.address})
        return
    waits = stage is not None and state.status == "waiting" and state.stage == stage
    before, after = neighbours(thread, chosen)
    part = contents(parts_of(moment, waits), before, chosen, after, key="story-contents", default="wrote" if waits else "happened")
    if part == "happened":
        how_it_works(session)
        timeline(thread, key="story-thread", default=default)
        headline(moment)
    show_part(part, moment, waits)
    if moment.context is not None:
        evidence.open_boards(session, stage, moment.context)
    sessions.problems(session)


def what_it_is(session: Session) -> None:
    """The lead: what the session is about."""
    who = who_is(session.spec.engineer.kind)
    theme.under_question(f"{view_of(session.spec.tasks).idea} After each stage of practice, {who} chose what comes next.")


def how_it_works(session: Session) -> None:
    """How it was trained, and what its results are measured on."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{markup.plain(sessions.set_up(session.spec))} · seed {session.spec.seed} · results on {session.results_from}")
        sessions.answers_badge(session)


def parts_of(moment: Moment, waits: bool) -> dict[str, str]:
    """The questions that the records of the moment answer; ``waits``: for a person who decides what to train on next."""
    answered = {
        "happened": "What happened",
        "failed": "What failed",
        "read": "What it read" if moment.context is not None else "",
        "wrote": "Your decision" if waits else "What it wrote" if moment.record is not None else "",
        "right": "Was it right?" if moment.outcomes or not own_predictions(moment.session).empty else "",
        "session": "The whole session",
    }
    return {part: title for part, title in answered.items() if title}


def show_part(part: str, moment: Moment, waits: bool) -> None:
    """The answer to one question about a stage and what the engineer did after it."""
    session, stage, context, record = moment.session, moment.stage, moment.context, moment.record
    if part == "happened":
        results(moment)
    elif part == "failed":
        boards(moment)
    elif part == "read" and context is not None:
        what_it_saw(moment, context)
    elif part == "wrote":
        if waits and stage is not None and context is not None:
            your_turn(moment, stage, context)
        if record is not None:
            what_it_said(moment, record)
            what_it_changed(moment, record)
            if stage is not None and context is not None and not moment.is_last:
                what_if(moment, stage, context, record)
    elif part == "right":
        was_right(moment)
        show_ledger(session, sessions.store())
    elif part == "session":
        show_stages(moment)
        show_map(moment)
        show_branches(session)
        sessions.again_button(session)
        origin_details(session)
        export_button([Found("session", session.dir)], key="story-export")


def neighbours(thread: list[Mark], chosen: Mark) -> tuple[Mark | None, Mark | None]:
    """The measured stages before and after the chosen one."""
    measured = [mark for mark in thread if mark.state == "done"]
    before = next((mark for mark in reversed(measured) if mark.id < chosen.id), None)
    return before, next((mark for mark in measured if mark.id > chosen.id), None)
