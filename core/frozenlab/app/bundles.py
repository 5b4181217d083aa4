"""Jobs as one file, to be given away and taken in by a dialog that shows what is sound, and the note about an imported job."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from frozenlab.app.ui import markup, nav, refusals
from frozenlab.base.errors import LabError
from frozenlab.experiments.bundles.archive import shown
from frozenlab.experiments.bundles.found import Found, needs
from frozenlab.experiments.bundles.importing import take_in
from frozenlab.experiments.bundles.limits import MB
from frozenlab.experiments.bundles.reading import opened
from frozenlab.experiments.bundles.report import Bundle, in_words
from frozenlab.experiments.bundles.writing import export, size_of
from frozenlab.jobs.imported import imported, make_own
from frozenlab.jobs.state import read_state
from frozenlab.session.store import SessionStore

LARGEST_EXPORT = 64 * MB
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
        elif size > LARGEST_EXPORT:
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
            ask_to_own(Found(kind, folder))


@nav.dialog("Make it yours?")
def ask_to_own(job: Found) -> None:
    st.write("It comes from another lab. As yours it can be resumed, forked and changed, and then it computes on this machine.")
    if named := needs(job):
        st.caption("  \n".join(markup.plain(f"It would use the {need.kind} {shown(need.name)}.") for need in named))
    with st.container(horizontal=True):
        if st.button("Make it mine", key="own-now", type="primary"):
            make_own(job.folder)
            st.rerun()
        if st.button("Leave it", key="own-not"):
            st.rerun()


LARGEST_UPLOAD = 32
"""Megabytes of a file that a page takes; ``server.maxUploadSize`` says the same."""
MOST_REFUSALS = 12
SEEN, TAKEN = "import-seen", "import-taken"
"""Session-state entries: what was found in which upload, and what the last import brought."""


def import_button(store: SessionStore) -> None:
    may = refusals.changes("A file that Export made, here or elsewhere.")
    if st.button("Import", key="import", icon=":material/unarchive:", **may):
        ask_for_file(store)


@nav.dialog("Import a file", width="large")
def ask_for_file(store: SessionStore) -> None:
    choose(store)


def choose(store: SessionStore) -> None:
    """Take a file, show what is in it, and import it when asked to."""
    st.caption("A file that *Export* made here or elsewhere. First you see what is in it; nothing is imported before you say so.")
    upload = st.file_uploader("Exported file", type=["zip"], key="import-file", max_upload_size=LARGEST_UPLOAD)
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
