"""Jobs that are given away as one file, and the note about those that came from others."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from frozenlab.app.ui import markup, nav, refusals
from frozenlab.experiments.bundles.archive import shown
from frozenlab.experiments.bundles.found import Found, needs
from frozenlab.experiments.bundles.limits import MB
from frozenlab.experiments.bundles.report import in_words
from frozenlab.experiments.bundles.writing import export, size_of
from frozenlab.jobs.imported import imported, make_own
from frozenlab.jobs.state import read_state

LARGEST = 64 * MB
"""Bytes of jobs, before they are packed, that the server makes a file of; for more there is the command line."""


def export_button(jobs: Sequence[Found], key: str) -> None:
    """A popover with the choice of weights and the download; for large jobs with the command that does the same."""
    with st.popover("Export", icon=":material/archive:", **refusals.changes()):
        st.caption(
            "One file with everything on the pages, for *Import* on another Runs page. Your titles, tags and notes go along; "
            "logs, keys and paths of this machine do not."
        )
        weights = st.toggle(
            "With weights", key=f"{key}-weights", help="Checkpoints, which take most of the space. Without them plans cannot be made."
        )
        size = size_of(jobs, weights)
        if any(read_state(job.folder).live for job in jobs):
            st.info("It is running. Export it when it is done, or stop it.")
        elif size > LARGEST:
            names = " ".join(f"{job.kind}:{job.id}" for job in jobs)
            st.caption(f"{in_words(size)} are more than a page makes a file of. In a terminal:")
            st.code(f"frozenlab jobs export {names} --out bundle.zip{' --weights' if weights else ''}", language=None, wrap_lines=True)
        else:
            name = f"{jobs[0].id}.zip" if len(jobs) == 1 else f"{len(jobs)}-jobs.zip"
            st.download_button(
                f"Download, up to {in_words(size)}", partial(packed, tuple(jobs), weights), name, "application/zip",
                on_click="ignore", key=f"{key}-download", icon=":material/download:",
            )  # fmt: skip


def packed(jobs: Sequence[Found], weights: bool) -> bytes:
    """The bytes of the file."""
    with tempfile.TemporaryDirectory(prefix="frozenlab-export-") as scratch:
        path = Path(scratch) / "bundle.zip"
        export(jobs, path, weights)
        return path.read_bytes()


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


@nav.dialog("Make it yours?")
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
