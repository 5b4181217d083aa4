"""Where an imported job comes from, and making it one's own."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from frozenlab.app.ui import markup, refusals
from frozenlab.experiments.bundles.archive import shown
from frozenlab.experiments.bundles.found import Found, needs
from frozenlab.jobs.imported import imported, make_own


def imported_note(kind: str, folder: Path) -> None:
    """A line about an imported job, with the button that makes it one's own; nothing about a job that was made here."""
    mark = imported(folder)
    if mark is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        words = markup.plain(f"{mark.words[0].upper()}{mark.words[1:]}")
        st.caption(f"{words}, and made yours." if mark.own else f"{words}. It is read-only: nothing runs in it until you make it yours.")
        may = refusals.changes()
        if not mark.own and st.button("Make it mine", key=f"own-{kind}", icon=":material/lock_open:", **may):
            ask(Found(kind, folder))


@st.dialog("Make it yours?")
def ask(job: Found) -> None:
    st.write("It comes from another lab. As yours it can be resumed, forked and changed, and then it computes on this machine.")
    if named := needs(job):
        st.caption("  \n".join(markup.plain(f"It would use the {need.kind} {shown(need.name)}.") for need in named))
    with st.container(horizontal=True):
        if st.button("Make it mine", key="own-now", type="primary"):
            make_own(job.folder)
            st.rerun()
        if st.button("Leave it", key="own-not"):
            st.rerun()
