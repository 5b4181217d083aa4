"""The trash: what was deleted, a way back, and a way to be rid of it for good."""

from __future__ import annotations

import streamlit as st

from frozenlab.loop import shelf
from frozenlab.loop.session import Session
from frozenlab.loop.store import SessionStore
from frozenlab.ui import sessions


def trash(store: SessionStore) -> None:
    """A button with the number of deleted runs; nothing where there is none."""
    gone = {session.id: session for session in shelf.trashed(store)}
    if not gone:
        return
    with st.popover(f"Trash ({len(gone)})", icon=":material/delete:"):
        chosen = st.selectbox("Deleted run", list(gone), key="trashed", format_func=lambda name: sessions.describe(gone[name]))
        with st.container(horizontal=True):
            if st.button("Restore", key="restore", icon=":material/undo:"):
                shelf.restore(chosen, store)
                st.rerun()
            if st.button("Empty the trash", key="empty-trash", icon=":material/delete_forever:"):
                ask(list(gone.values()), store)


@st.dialog("Delete for good?")
def ask(gone: list[Session], store: SessionStore) -> None:
    st.write(f"{'The run' if len(gone) == 1 else f'All {len(gone)} runs'} in the trash will be gone, with checkpoints and tables.")
    with st.container(horizontal=True):
        if st.button("Delete for good", key="empty-now", type="primary"):
            shelf.empty_trash(store)
            st.rerun()
        if st.button("Keep", key="keep-trash"):
            st.rerun()
