"""Where a session's numbers come from, in words."""

from __future__ import annotations

import time

import streamlit as st

from frozenlab.app.ui import markup
from frozenlab.session.session import Session


def origin_details(session: Session) -> None:
    """The same, folded away."""
    with st.expander("Where its numbers come from: commit, machine, versions"):
        origin_lines(session)


def origin_lines(session: Session) -> None:
    """The commit, the machine and the versions behind the run's numbers."""
    origin = session.origin
    if origin is None:
        st.caption("Its commit and machine were not recorded: a version of FrozenLab before this record began it.")
        return
    versions = ", ".join(f"{name} {number}" for name, number in origin.versions.items())
    began = time.strftime("%Y-%m-%d %H:%M", time.localtime(origin.time))
    lines = [f"Began {began} from {origin.code}", f"on {origin.machine}", f"Python {origin.python}, {versions}"]
    st.caption("  \n".join(map(markup.plain, lines)))
