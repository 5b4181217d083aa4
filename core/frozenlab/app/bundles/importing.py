"""A dialog that looks into a file of another person and imports what is sound."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import streamlit as st

from frozenlab.app.ui import markup, nav, refusals
from frozenlab.base.errors import LabError
from frozenlab.experiments.bundles.archive import shown
from frozenlab.experiments.bundles.found import Found
from frozenlab.experiments.bundles.importing import take_in
from frozenlab.experiments.bundles.reading import opened
from frozenlab.experiments.bundles.report import Bundle, in_words
from frozenlab.session.store import SessionStore

LARGEST = 32
"""Megabytes of a file that a page takes; ``server.maxUploadSize`` says the same."""
MOST_REFUSALS = 12
SEEN, TAKEN = "import-seen", "import-taken"
"""Session-state entries: what was found in which upload, and what the last import brought."""


def import_button(store: SessionStore) -> None:
    may = refusals.changes("A file that Export made, here or elsewhere.")
    if st.button("Import", key="import", icon=":material/unarchive:", **may):
        ask(store)


@nav.dialog("Import a file", width="large")
def ask(store: SessionStore) -> None:
    choose(store)


def choose(store: SessionStore) -> None:
    """Take a file, show what is in it, and import it when asked to."""
    st.caption("A file that *Export* made here or elsewhere. First you see what is in it; nothing is imported before you say so.")
    upload = st.file_uploader("Exported file", type=["zip"], key="import-file", max_upload_size=LARGEST)
    if upload is None:
        st.caption("For a larger file: `frozenlab jobs import FILE` in a terminal.")
    else:
        look(upload, store)


def look(upload: Any, store: SessionStore) -> None:
    """The report of an upload, and the button that imports what is sound."""
    known, found = st.session_state.get(SEEN, (None, None))
    if known != upload.file_id:
        with st.spinner("Looking into it"):
            found = seen(upload, store)
        st.session_state[SEEN] = upload.file_id, found
    if isinstance(found, str):
        st.error(f"Nothing can be imported: {markup.plain(found)}.")
        return
    report(found)
    if found.sound and st.button(
        f"Import {len(found.sound)} of {len(found.jobs)}" if len(found.jobs) > 1 else "Import", key="import-now", type="primary"
    ):
        try:
            with on_disk(upload) as path, opened(path, store, upload.name) as bundle:
                st.session_state[TAKEN] = take_in(bundle, store)
        except LabError as error:
            st.error(f"Not imported: {markup.plain(str(error))}.")
        else:
            st.session_state.pop(SEEN, None)
            st.rerun()


def seen(upload: Any, store: SessionStore) -> Bundle | str:
    """What is in an upload, or why it is nothing to import."""
    try:
        with on_disk(upload) as path, opened(path, store, upload.name) as bundle:
            return bundle
    except LabError as error:
        return str(error)


@contextmanager
def on_disk(upload: Any) -> Iterator[Path]:
    """The upload as a file."""
    with tempfile.NamedTemporaryFile(prefix="frozenlab-import-", suffix=".zip") as file:
        file.write(upload.getbuffer())
        file.flush()
        yield Path(file.name)


def report(bundle: Bundle) -> None:
    """What is in a bundle, job by job, and what is refused."""
    st.caption(markup.plain(f"{in_words(bundle.size)}, made by FrozenLab {shown(bundle.frozenlab)}"))
    for job in bundle.jobs:
        mark = ":material/check_circle:" if job.sound else ":material/info:" if job.here else ":material/block:"
        st.markdown(f"{mark} **{markup.plain(shown(job.title))}**  \n{markup.plain(f'{job.name}: {job.facts}')}")
        if job.needs:
            st.caption("  \n".join(markup.plain(f"names the {need.kind} {shown(need.name)}: {where}") for need, where in job.needs))
    if bundle.refusals:
        refusals = [markup.plain(str(refusal)) for refusal in bundle.refusals[:MOST_REFUSALS]]
        more = len(bundle.refusals) - MOST_REFUSALS
        st.warning("Refused:  \n" + "  \n".join([*refusals, *([f"and {more} more"] if more > 0 else [])]))


def what_came() -> None:
    """The last import in words, once, with the ways to what it brought."""
    taken: Sequence[Found] = st.session_state.pop(TAKEN, ())
    if not taken:
        return
    what = f"{len(taken)} jobs are" if len(taken) > 1 else f"The {taken[0].kind} {taken[0].id} is"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.success(markup.plain(f"{what} imported, and read-only until you make it yours."), icon=":material/check:")
        for job in taken[:6]:
            if page := nav.OF_JOBS.get(job.kind):
                label, address = f"Open {markup.plain(job.id)}", {job.kind: job.id}
                st.page_link(nav.path(page), label=label, icon=":material/arrow_forward:", query_params=address)
