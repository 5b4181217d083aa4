"""Runs: all experiments in one table, and up to twelve of them side by side."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.queue import queue_section
from frozenlab.app.runs.side_by_side import side_by_side
from frozenlab.app.runs.table import FEWEST, MOST, all_runs
from frozenlab.app.ui import markup, sessions, theme
from frozenlab.session.session import Session, SessionError
from frozenlab.session.store import SessionStore

LEAD = (
    "A run is one experiment: a small language model practises guiding a team of robots across a frozen lake, and is tested on boards that "
    "it has never seen. All runs on this machine are here; tick two or more to see which did better."
)


def page() -> None:
    """The table, or the runs that the address names side by side."""
    asked = list(dict.fromkeys(name for name in st.query_params.get("compare", "").split(",") if name))
    if not asked:
        theme.question("Which runs are there, and which did better?", LEAD)
        queue_section(sessions.store())
        all_runs(sessions.store())
        return
    head, back = st.columns([3.4, 0.9], vertical_alignment="bottom")
    with head:
        theme.question("Which run did better, and what was different?", LEAD)
    if back.button("All runs", key="all-runs", icon=":material/arrow_back:", width="stretch"):
        for name in ("compare", "board"):
            st.query_params.pop(name, None)
        st.rerun()
    found = opened(asked, sessions.store())
    if len(found) < FEWEST:
        st.info(f"A comparison takes {FEWEST} to {MOST} runs. Choose them among all runs.")
        return
    side_by_side(found)


def opened(asked: list[str], store: SessionStore) -> list[Session]:
    """The sessions of these ids, as many as can stand side by side; a warning names the others."""
    found = []
    for session_id in asked[:MOST]:
        try:
            found.append(store.open(session_id))
        except SessionError as error:
            st.warning(f"{markup.plain(str(error))}.")
    if len(asked) > MOST:
        st.warning(f"The first {MOST} of {len(asked)} runs are shown.")
    return found
