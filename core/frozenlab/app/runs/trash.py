"""The trash: what was deleted, a way back, and a way to be rid of it for good."""

from __future__ import annotations

from contextlib import suppress

import streamlit as st

from frozenlab.app.ui import refusals, sessions
from frozenlab.experiments.shelf import shelf
from frozenlab.session.session import Session, SessionError
from frozenlab.session.store import OFFERED, SessionStore

ERROR = "trash_error"
"""Session-state entry: why something could not be restored."""


def trash(store: SessionStore) -> None:
    """A button with the number of deleted runs, replays, studies and so on; nothing where there is none."""
    found = shelf.in_trash(store)
    count = len(found)
    gone = {one.name: one for one in found[:OFFERED]}
    refusals.show_reason(ERROR)
    if not gone:
        return
    with st.popover(f"Trash ({count:,})", icon=":material/delete:"):
        last = f"Deleted, the last {OFFERED}" if count > OFFERED else "Deleted"
        chosen = gone[st.selectbox(last, list(gone), key="trashed", format_func=lambda name: label(gone[name]))]
        with st.container(horizontal=True):
            if st.button("Restore", key="restore", icon=":material/undo:", **refusals.changes()):
                with refusals.keeping_reason(ERROR, "Not restored"):
                    shelf.restore(chosen.id, store, chosen.kind)
                st.rerun()
            empties = refusals.changes()
            if st.button("Empty the trash", key="empty-trash", icon=":material/delete_forever:", **empties):
                ask(count, store)


def label(gone: shelf.Trashed) -> str:
    """A run by its title and figures, others by their kind and id."""
    if gone.kind == "session":
        with suppress(SessionError):
            return sessions.describe(Session(gone.folder))
    return f"{gone.kind} {gone.id}"


@st.dialog("Delete for good?")
def ask(count: int, store: SessionStore) -> None:
    st.write(f"{'What is' if count == 1 else f'All {count:,}'} in the trash will be gone, with checkpoints and tables.")
    with st.container(horizontal=True):
        if st.button("Delete for good", key="empty-now", type="primary"):
            shelf.empty_trash(store)
            st.rerun()
        if st.button("Keep", key="keep-trash"):
            st.rerun()
