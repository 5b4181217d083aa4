"""The trash: what was deleted, a way back, and a way to be rid of it for good."""

from __future__ import annotations

import streamlit as st

from frozenlab.loop import shelf
from frozenlab.loop.store import OFFERED, SessionStore
from frozenlab.ui import refusals, sessions


def trash(store: SessionStore) -> None:
    """A button with the number of deleted runs; nothing where there is none."""
    count = len(shelf.trash_ids(store))
    gone = {session.id: session for session in shelf.trashed(store, OFFERED)}
    if not gone:
        return
    with st.popover(f"Trash ({count:,})", icon=":material/delete:"):
        last = f"Deleted run, the last {OFFERED}" if count > OFFERED else "Deleted run"
        chosen = st.selectbox(last, list(gone), key="trashed", format_func=lambda name: sessions.describe(gone[name]))
        with st.container(horizontal=True):
            if st.button("Restore", key="restore", icon=":material/undo:", **refusals.for_operators("restores runs")):
                shelf.restore(chosen, store)
                st.rerun()
            empties = refusals.for_operators("empties the trash")
            if st.button("Empty the trash", key="empty-trash", icon=":material/delete_forever:", **empties):
                ask(count, store)


@st.dialog("Delete for good?")
def ask(count: int, store: SessionStore) -> None:
    st.write(f"{'The run' if count == 1 else f'All {count:,} runs'} in the trash will be gone, with checkpoints and tables.")
    with st.container(horizontal=True):
        if st.button("Delete for good", key="empty-now", type="primary"):
            shelf.empty_trash(store)
            st.rerun()
        if st.button("Keep", key="keep-trash"):
            st.rerun()
