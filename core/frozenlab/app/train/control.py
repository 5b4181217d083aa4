"""Stopping and resuming a session."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.bundles.imported import imported_note
from frozenlab.app.ui import api_form, markup, nav, refusals, sessions
from frozenlab.app.ui.components.keys import shortcuts
from frozenlab.jobs import launcher
from frozenlab.session import launch
from frozenlab.session.session import Session
from frozenlab.session.state import State


def controls(session: Session, state: State) -> bool:
    """Status, Live, stop or resume, and the way to the Story. Returns whether to look again by itself."""
    ended = state.status in ("stopped", "failed", "crashed") and not session.read_only
    may = api_form.may_ask([session.spec.engineer.server] if ended else [], "resume")
    with st.container(horizontal=True, vertical_alignment="center"):
        sessions.status_badge(session, state)
        began = "" if state.live else f" · began {sessions.ago(session.created)}"
        st.caption(f"{markup.plain(sessions.set_up(session.spec))} · seed {session.spec.seed}{began}")
        live = st.toggle("Live", True, key="live", help="Off: the charts stand still, so that zoom stays.") if state.live else False
        stops, may_stop = refusals.changes(), state.live and not session.read_only and not session.stop_asked
        if may_stop and st.button("Stop", key="stop", icon=":material/stop:", **stops):
            confirm_stop(session)
        if ended:
            allowed = refusals.changes(disabled=not may)
            st.button("Resume", key="resume", icon=":material/play_arrow:", on_click=try_resume, args=(session,), **allowed)
        st.page_link(nav.path("story"), label="Read its story", query_params={"session": session.id})
        if st.button("Present", key="train-present", icon=":material/play_circle:", help="Its story, scene by scene. Key: P"):
            st.switch_page(nav.path("present"), query_params={"session": session.id, "play": "1"})
    shortcuts({"p": "train-present"}, key="train-keys")
    refusals.show_reason("train_error")
    imported_note("session", session.dir)
    return live


@st.dialog("Stop this session?")
def confirm_stop(session: Session) -> None:
    st.write("It stops after the step it is in and keeps everything it has. You can resume it later.")
    yes, no = st.columns(2)
    if yes.button("Stop it", type="primary", key="stop-yes", width="stretch", on_click=try_stop, args=(session,)):
        st.rerun()
    if no.button("Let it run", key="stop-no", width="stretch"):
        st.rerun()


def try_stop(session: Session) -> None:
    with refusals.keeping_reason("train_error"):
        launcher.stop(session)


def try_resume(session: Session) -> None:
    with refusals.keeping_reason("train_error"):
        launch.resume(session, sessions.store())
