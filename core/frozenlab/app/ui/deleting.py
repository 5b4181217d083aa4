"""Deleting a job on its page, and the line that says so with a way back."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from frozenlab.app.ui import markup, refusals, sessions
from frozenlab.experiments.shelf import shelf
from frozenlab.jobs.job import Job

DELETED = "deleted-"
"""Session-state entry of a kind: the id and the title of the job of this kind that was deleted last in this browser tab."""


def delete_button(job: Job, key: str, error: str, then: Callable[[], None] = lambda: None) -> None:
    """A button that moves a job into the trash.

    Args:
        error: the session-state entry for the reason if it has to stay.
        then: called when it is gone, to take it out of the address.
    """
    st.button(
        "Delete", key=key, icon=":material/delete:", on_click=delete, args=(job, error, then),
        **refusals.changes("Moves it to the trash; Undo brings it back."),
    )  # fmt: skip


def delete(job: Job, error: str, then: Callable[[], None]) -> None:
    with refusals.keeping_reason(error, "Not deleted"):
        title = job.title
        shelf.delete(job, sessions.store())
        st.session_state[DELETED + job.kind] = job.id, title
        then()


def undo_line(kind: str, error: str, then: Callable[[str], None] = lambda job_id: None) -> None:
    """What was deleted last, with a way back; nothing where nothing was.

    Args:
        error: the session-state entry for the reason if it cannot come back.
        then: called with its id when it is back, to show it again.
    """
    if DELETED + kind not in st.session_state:
        return
    job_id, title = st.session_state[DELETED + kind]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.success(f"{markup.plain(title)} is in the trash.", icon=":material/check:")
        st.button("Undo", key=f"undo-{kind}", icon=":material/undo:", on_click=undo, args=(kind, job_id, error, then))


def undo(kind: str, job_id: str, error: str, then: Callable[[str], None]) -> None:
    del st.session_state[DELETED + kind]
    with refusals.keeping_reason(error, "Not restored"):
        shelf.restore(job_id, sessions.store(), kind)
        then(job_id)
