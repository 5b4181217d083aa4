"""The queue on pages: what runs and what waits on this machine, and steering it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from frozenlab.app.ui import markup, nav, refusals, sessions
from frozenlab.app.ui.components.frame import DoneJob, notice
from frozenlab.app.ui.once import once
from frozenlab.base.numbers import percent
from frozenlab.jobs import launcher
from frozenlab.jobs.queue.db import QueueDB, QueuedJob
from frozenlab.jobs.queue.look import Look, look
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore

LOOK = 4.0
"""Seconds between looks at a queue that is not empty."""
FEWEST = 2
"""Jobs from which a line about the queue says more than one about the session that runs."""
LISTED = 12
"""Jobs shown before the reader asks for all."""
ERROR = "queue_error"
"""Session-state entry: why the last thing that was asked for could not be done."""


def queue_line(store: SessionStore) -> None:
    """One line about the queue, if there is more than one job, and the way to it."""
    found = look(store.root)
    if len(found.jobs) < FEWEST and not found.waiting and not found.paused:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="queue-line"):
        st.markdown(f"The queue of this machine: **{found.summary}**")
        st.page_link(nav.path("runs"), label="See the queue", query_params={"queue": "1"})


def queue_section(store: SessionStore) -> None:
    """The queue as a list, with what can be done to each job."""
    found = look(store.root)
    if found.jobs or found.paused:
        hint = "Jobs begin in this order, as many at a time as the machine has room for."
        st.header("The queue of this machine", anchor=False, help=hint)
        st.fragment(rows, run_every=LOOK)(store, tuple(job.folder for job in found.jobs))
    if found.unfinished:
        unfinished(found, store)


def unfinished(found: Look, store: SessionStore) -> None:
    """The jobs that ended without a result, why, and a button that tries each again."""
    failed = sum(one.job.status != "stopped" for one in found.unfinished)
    count = f"{failed} failed" if failed else f"{len(found.unfinished)} stopped"
    with st.expander(
        f"Ended without a result: {count} in the last week", expanded=bool(failed), icon=":material/error:" if failed else None
    ):
        refusals.show_reason(ERROR)
        for one in found.unfinished:
            job = one.job
            words, buttons = st.columns([3, 1.4], vertical_alignment="center")
            with words.container(gap=None):
                st.markdown(f"**{markup.plain(job.title)}**")
                st.caption(markup.plain(" · ".join(filter(None, (job.kind, f"{job.status} {sessions.ago(job.ended)}", one.why)))))
            with buttons.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
                open_link(job.kind, job.path.name)
                hint = "Queue it again; it resumes where it stopped"
                again = partial(launcher.retry, folder=job.path, kind=job.kind)
                button("Retry", f"retry-{abs(hash(job.folder))}", ":material/refresh:", again, store, hint)


def open_link(kind: str, job_id: str) -> None:
    """The way to a job's page, if its kind has one."""
    if page := nav.OF_JOBS.get(kind):
        st.page_link(nav.path("train" if kind == "session" else page), label="Open", query_params={kind: job_id})


def rows(store: SessionStore, drawn: tuple[str, ...]) -> None:
    found = look(store.root)
    refusals.show_reason(ERROR)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{found.summary or 'Nothing runs or waits'}** on {found.machine.cores} cores")
        if found.paused:
            button("Let it go on", "queue-go", ":material/play_arrow:", partial(launcher.pause_queue, paused=False), store)
        elif found.waiting:
            button("Pause", "queue-pause", ":material/pause:", launcher.pause_queue, store, "Nothing new begins but what is urgent.")
        notice(done_since(store), key="queue-notice")
    every = st.session_state.get("queue_all", False)
    first = found.jobs if every else [job for job in found.jobs if not job.parent][:LISTED]  # a study stands for its sessions
    for job in first:
        row(job, found, store)
    if len(found.jobs) > len(first) and st.button(f"Show all {len(found.jobs)}", key="queue-all"):
        st.session_state["queue_all"] = True
        st.rerun(scope="fragment")
    if {job.folder for job in found.jobs} != set(drawn):
        nav.draw_anew()  # the lists around it change too


def row(job: QueuedJob, found: Look, store: SessionStore) -> None:
    number = abs(hash(job.folder))
    with st.container(border=True, key=f"queue-{number}"):
        words, buttons = st.columns([3, 1.4], vertical_alignment="center")
        with words.container(gap=None):
            st.markdown(f"**{markup.plain(job.title)}**{' · urgent' if job.urgent else ''}")
            st.caption(markup.plain(about(job, found)))
            sessions.alarm_badges(job.alarms)
        with buttons.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
            open_link(job.kind, job.name)
            for name, icon, act, hint in actions(job):
                button("", f"{name}-{number}", icon, partial(act, folder=job.path), store, hint)


def about(job: QueuedJob, found: Look) -> str:
    """``session · running, 40 % · done in about 3 min, at 14:05``, or ``session · waits · third in line``."""
    parts = [job.kind + (f" of {Path(job.parent).name}" if job.parent else "")]
    standing = "running" if job.standing == "runs" else job.standing
    parts.append(f"{standing}, {percent(job.progress)}" if job.running or job.progress else standing)
    if job.standing == "waits":
        parts.append(found.in_line(job))
    if (ends := job.ends(found.now)) is not None:
        clock = time.strftime("%H:%M", time.localtime(ends))
        parts.append(f"done in about {sessions.duration(max(0.0, ends - found.now))}, at {clock}")
    parts += [f"made room for {job.moved_by}"] if job.moved_by and not job.running else []
    parts += [f"{job.tries} workers died"] if job.tries else []
    parts += ["in a terminal"] if job.in_terminal else []
    return " · ".join(parts)


Action = tuple[str, str, Callable[..., None], str]
"""What can be done to a job: name, icon, function of the sessions folder and the job's folder, hint."""
CANCEL: Action = ("cancel", ":material/close:", launcher.cancel, "Take it out of the queue")
STOP: Action = ("stop", ":material/stop:", launcher.cancel, "Stop it at its next step; it can be resumed later")
GO: Action = ("go", ":material/play_arrow:", partial(launcher.change, paused=False), "Let it take its turn again")
NOW: Action = (
    "now",
    ":material/bolt:",
    partial(launcher.change, urgent=True),
    "Begin at once: running jobs make room and resume afterwards",
)
PAUSE: Action = ("pause", ":material/pause:", partial(launcher.change, paused=True), "Keep it waiting")


def actions(job: QueuedJob) -> tuple[Action, ...]:
    if job.running:
        return () if job.standing == "stops" or job.in_terminal else (STOP,)
    return (GO, CANCEL) if job.paused else (NOW, PAUSE, CANCEL)


def button(label: str, key: str, icon: str, act: Callable[[Path], None], store: SessionStore, hint: str | None = None) -> None:
    def go() -> None:
        with refusals.keeping_reason(ERROR):
            act(store.root)

    st.button(label, key=f"q-{key}", icon=icon, on_click=go, **refusals.changes(hint))


def done_since(store: SessionStore) -> list[DoneJob]:
    """The jobs that a person asked for and that ended since this page was opened."""
    db = QueueDB(store.root)
    ended = once(lambda: db.ended(20), "queue-ended", store.root, db.revision())
    since = st.session_state.setdefault("queue_since", max((job.ended for job in ended), default=0.0))
    return [
        {"id": f"{job.folder}@{job.ended}", "title": job.title, "status": job.status}
        for job in ended
        if job.ended > since and not job.parent
    ]


def waiting_view(session: Session, store: SessionStore) -> None:
    """The place in line of a session that is queued, and the button that lets it begin at once. Draws the page again when it begins."""
    if session.state().status != "queued":
        nav.draw_anew()
    found = look(store.root)
    job = next((job for job in found.waiting if job.path == session.dir), None)
    if job is None:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        moved = f" It made room for {markup.plain(job.moved_by)}." if job.moved_by else ""
        st.markdown(f"**Queued**, {'paused' if job.paused else found.in_line(job)}.{moved}")
        label, (name, icon, act, hint) = ("Go", GO) if job.paused else ("Begin at once", NOW)
        button(label, f"turn-{name}-{session.id}", icon, partial(act, folder=session.dir), store, hint)
        st.page_link(nav.path("runs"), label="See the queue", query_params={"queue": "1"})
    refusals.show_reason(ERROR)
