"""Train: start a session and watch it."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.queue import LOOK, waiting_view
from frozenlab.app.session.origin import origin_details
from frozenlab.app.train.control import controls
from frozenlab.app.train.first_config import FROM_DESIGN
from frozenlab.app.train.form import new_session_form
from frozenlab.app.train.preview import NEW
from frozenlab.app.train.student import about_student
from frozenlab.app.train.watch import session_view
from frozenlab.app.ui import markup, sessions, theme
from frozenlab.app.views.views import view_of
from frozenlab.session.session import Session
from frozenlab.session.store import OFFERED

LEAD = "It practises in stages, and after each it is tested on tasks that it has never seen."
NEW_LEAD = "A small language model practises in stages. Choose what it practises first, and who decides what comes next."


def page() -> None:
    """The form of a new session, or a session that trains."""
    store = sessions.store()
    found = store.sessions(OFFERED)
    take_design()
    writing = st.session_state.get(NEW, False) or not found
    head, picker, action = st.columns([2.4, 1, 0.5], vertical_alignment="bottom")
    with head:
        theme.question("What should run?" if writing else "Is the model learning?")
    markup.styles()
    if writing:
        if found and action.button("Back", key="form_back", width="stretch"):
            st.session_state.pop(NEW, None)
            st.rerun()
        theme.under_question(NEW_LEAD)
        new_session_form(found)
    else:
        with picker:
            session = sessions.session_picker(found)
        if action.button("New session", type="primary", key="new", width="stretch"):
            st.session_state[NEW] = True
            st.rerun()
        theme.under_question(f"{view_of(session.spec.tasks).idea} {LEAD}")
        show_session(session)
    sessions.unreadable(store)


def take_design() -> None:
    """Opens the form with the config that the Design page has just handed over."""
    state = st.session_state
    if "design_config" in state and state["design_config"] != state.get("design_seen"):
        state["design_seen"] = state["design_config"]
        state[NEW] = True
        state["form_source"] = FROM_DESIGN


def show_session(session: Session) -> None:
    state = session.state()
    live = controls(session, state)
    about_student(session)
    if state.status == "queued":
        st.fragment(waiting_view, run_every=LOOK)(session, sessions.store())
        if not state.rates:  # nothing has been measured yet
            return
    st.fragment(session_view)(session.id, sessions.status_words(session, state), live)
    origin_details(session)
