"""One run of the table: its name, tags and notes to change, where it comes from, and the ways to its pages."""

from __future__ import annotations

import streamlit as st
from pydantic import ValidationError

from frozenlab.app.bundles.imported import imported_note
from frozenlab.app.session.origin import origin_lines
from frozenlab.app.ui import markup, nav, refusals, sessions
from frozenlab.base.errors import LabError, one_line
from frozenlab.experiments.shelf import shelf
from frozenlab.session.labels import Labels
from frozenlab.session.session import Session


def one_run(session: Session) -> None:
    about, form = st.columns([1, 1.4], gap="large")
    with about:
        st.markdown(f"**{markup.plain(session.title)}**")
        st.caption(f"{markup.plain(sessions.set_up(session.spec))} · seed {session.spec.seed} · `{session.id}`")
        with st.container(horizontal=True):
            st.page_link(nav.path("train"), label="Curves", query_params={"session": session.id})
            st.page_link(nav.path("story"), label="Story", query_params={"session": session.id})
        imported_note("session", session.dir)
        origin_lines(session)
    with form:
        if session.why_read_only:
            st.caption(f"It {session.why_read_only}: it keeps its name, and has no tags or notes.")
        else:
            labels_form(session)


def labels_form(session: Session) -> None:
    labels, allowed = session.labels, refusals.changes()
    fixed = allowed["disabled"]
    with st.form(f"labels-{session.id}", border=False):
        left, right = st.columns(2)
        title = left.text_input("Name", labels.title, max_chars=120, placeholder=session.spec.title or session.id, disabled=fixed)
        tags = right.multiselect(
            "Tags", list(labels.tags), list(labels.tags), accept_new_options=True, placeholder="type a tag, Enter", disabled=fixed
        )
        notes = st.text_area("Notes", labels.notes, max_chars=4000, height=90, disabled=fixed)
        if not st.form_submit_button("Save", key="save-labels", **allowed):
            return
    try:
        shelf.label(session, Labels(title=title, tags=tuple(tags), notes=notes, archived=labels.archived))
    except ValidationError as error:
        st.error(f"Not saved: {markup.plain(one_line(error))}.")
    except LabError as error:
        st.error(f"Not saved: {markup.plain(str(error))}.")
    else:
        st.rerun()
