"""Train: start a session, watch, stop and resume it."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.bundles import imported_note
from frozenlab.app.present.scenes import LIVE, SHOWN
from frozenlab.app.queue import LOOK, waiting_view
from frozenlab.app.train.form import begin_like, new_session_form
from frozenlab.app.train.model import FROM_DESIGN, about_student
from frozenlab.app.train.preview import NEW
from frozenlab.app.train.watch import STOPPING, session_view
from frozenlab.app.ui import api_form, markup, nav, refusals, sessions, theme
from frozenlab.app.ui.components.frame import shortcuts
from frozenlab.app.ui.sessions import origin_details
from frozenlab.jobs import launcher
from frozenlab.session import launch
from frozenlab.session.session import Session
from frozenlab.session.state import State
from frozenlab.session.store import OFFERED

LEAD = "It practises in stages. After each it is tested on tasks that it has never seen, and its next practice is chosen."
NEW_LEAD = "A small language model practises in stages. Choose what it practises first, and who decides what comes next."


def page() -> None:
    """The form of a new session, or a session that trains."""
    store = sessions.store()
    found = store.sessions(OFFERED)
    take_design()
    if nav.taken("new"):
        st.session_state[NEW] = True
    begin_again()
    writing = st.session_state.get(NEW, False) or not found
    question, lead = ("What should run?", NEW_LEAD) if writing else ("Is the model learning?", LEAD)
    picker, action = theme.head(question, lead, 2.2, 1, 0.65)
    if writing:
        if found and action.button("Back", key="form_back", width="stretch"):
            st.session_state.pop(NEW, None)
            st.rerun()
        new_session_form(found)
    else:
        with picker:
            session = sessions.session_picker(found, label_visibility="collapsed")
        if action.button("New session", type="primary", key="new", width="stretch"):
            st.session_state[NEW] = True
            st.rerun()
        show_session(session)
    sessions.unreadable(store)


def begin_again() -> None:
    """Opens the form with the spec of the session that the address asks for."""
    like = nav.taken("like")
    if like is not None and (session := sessions.readable(like, sessions.store())) is not None:
        begin_like(session.spec)
        st.session_state[NEW] = True


def take_design() -> None:
    """Opens the form with the config that the Design page has just handed over."""
    state = st.session_state
    if "design_config" in state and state["design_config"] != state.get("design_seen"):
        state["design_seen"] = state["design_config"]
        state[NEW] = True
        state["form_source"] = FROM_DESIGN


AS_IT_TRAINS = "Show it live", LIVE, "Its newest board and its curve on the whole screen."
AT_THE_END = "Present", SHOWN, "Its story, scene by scene."
"""The button that shows a session, how the page Present is asked, and what it shows."""


def show_session(session: Session) -> None:
    state = session.state()
    live = controls(session, state)
    about_student(session)
    if state.status == "queued":
        st.fragment(waiting_view, run_every=LOOK)(session, sessions.store())
        if not state.rates:  # nothing has been measured yet
            return
    st.fragment(session_view)(session.address, sessions.status_words(session, state), live)
    origin_details(session)


def controls(session: Session, state: State) -> bool:
    """Status, Live, stop or resume, and the way to the Story. Returns whether to look again by itself."""
    ended = state.status in ("stopped", "failed", "crashed") and not session.read_only
    may = api_form.may_ask([session.spec.engineer.server] if ended else [], "resume")
    with st.container(horizontal=True, vertical_alignment="center", key="train-controls"):
        sessions.status_badge(session, state)
        sessions.answers_badge(session)
        began = "" if state.live else f" · began {sessions.ago(session.created)}"
        st.caption(f"{markup.plain(sessions.set_up(session.spec))} · seed {session.spec.seed}{began}")
        live = st.toggle("Live", True, key="live", help="Off: charts stop updating, so your zoom is kept.") if state.live else False
        stops, may_stop = refusals.changes(), state.live and not session.read_only and not session.stop_asked
        if may_stop:
            st.button("Stop", key="stop", icon=":material/stop:", on_click=ask_to_stop, args=(session,), **stops)
            if st.session_state.get(STOPPING) == session.address:
                confirm_stop(session)
        else:
            forget_question()
        if ended:
            allowed = refusals.changes(disabled=not may)
            st.button("Resume", key="resume", icon=":material/play_arrow:", on_click=try_resume, args=(session,), **allowed)
        sessions.again_button(session)
        st.page_link(nav.path("story"), label="Read its story", query_params={"session": session.address})
        label, how, words = AS_IT_TRAINS if state.live else AT_THE_END
        if st.button(label, key="train-present", icon=":material/play_circle:", help=f"{words} Key: P"):
            st.switch_page(nav.path("present"), query_params={"session": session.address, "play": how})
    shortcuts({"p": "train-present"}, key="train-keys")
    refusals.show_reason("train_error")
    imported_note("session", session.dir)
    return live


def ask_to_stop(session: Session) -> None:
    st.session_state[STOPPING] = session.address


def forget_question() -> None:
    st.session_state.pop(STOPPING, None)


@nav.dialog("Stop this session?", on_dismiss=forget_question)
def confirm_stop(session: Session) -> None:
    st.write("It stops after the step it is in and keeps everything it has. You can resume it later.")
    yes, no = st.columns(2)
    if yes.button("Stop it", type="primary", key="stop-yes", width="stretch", on_click=try_stop, args=(session,)):
        st.rerun()
    if no.button("Let it run", key="stop-no", width="stretch", on_click=forget_question):
        st.rerun()


def try_stop(session: Session) -> None:
    forget_question()
    with refusals.keeping_reason("train_error"):
        launcher.stop(session)


def try_resume(session: Session) -> None:
    with refusals.keeping_reason("train_error"):
        launch.resume(session, sessions.store())
