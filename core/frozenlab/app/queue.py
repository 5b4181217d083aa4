"""The queue on pages: what runs and what waits on this machine, and steering it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from frozenlab.app.ui import markup, nav, queue_words, refusals, sessions
from frozenlab.app.ui.components.notice import DoneJob, notice
from frozenlab.app.ui.once import once
from frozenlab.base.numbers import percent
from frozenlab.jobs import launcher
from frozenlab.jobs.needs import Level
from frozenlab.jobs.queue.book import Book
from frozenlab.jobs.queue.look import Look, Place, look
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
PAGES = {
    "session": ("train", "session"),
    "study": ("studies", "study"),
    "replay": ("replay", "replay"),
    "headroom": ("headroom", "measurement"),
    "contest": ("contest", "contest"),
}
"""Kind of a job -> its page, and the name of its id in the address."""


def queue_line(store: SessionStore) -> None:
    """One line about the queue, if there is more than one job, and the way to it."""
    found = look(store.root)
    if len(found.places) < FEWEST and not found.waiting and not found.paused:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="queue-line"):
        st.markdown(f"The queue of this machine: **{queue_words.summary(found) or 'paused'}**")
        st.page_link(nav.path("runs"), label="See the queue", query_params={"queue": "1"})


def queue_section(store: SessionStore) -> None:
    """The queue as a list, with what can be done to each job."""
    found = look(store.root)
    if found.places or found.paused:
        hint = "Jobs begin in this order, as many at a time as the machine has room for."
        st.subheader("The queue of this machine", anchor=False, help=hint)
        st.fragment(rows, run_every=LOOK)(store, tuple(place.entry.folder for place in found.places))
    if found.unfinished:
        unfinished(found, store)


def unfinished(found: Look, store: SessionStore) -> None:
    """The jobs that ended without a result, why, and a button that tries each again."""
    failed = sum(one.job.status != "stopped" for one in found.unfinished)
    told = f"{failed} failed in the last week" if failed else f"{len(found.unfinished)} stopped in the last week"
    with st.expander(f"Ended without a result: {told}", expanded=bool(failed), icon=":material/error:" if failed else None):
        refusals.show_reason(ERROR)
        for one in found.unfinished:
            job = one.job
            words, buttons = st.columns([3, 1.4], vertical_alignment="center")
            with words.container(gap=None):
                st.markdown(f"**{markup.plain(job.title)}**")
                st.caption(markup.plain(" · ".join(filter(None, (job.kind, f"{job.status} {sessions.ago(job.ended)}", one.why)))))
            with buttons.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
                open_link(job.kind, one.path.name)
                hint = "Put it in the queue again; it goes on where it stood"
                again = partial(launcher.retry, folder=one.path, kind=job.kind)
                button("Retry", f"retry-{abs(hash(job.folder))}", ":material/refresh:", again, store, hint)


def open_link(kind: str, job_id: str) -> None:
    """The way to a job's page, if its kind has one."""
    if page := PAGES.get(kind):
        st.page_link(nav.path(page[0]), label="Open", query_params={page[1]: job_id})


def rows(store: SessionStore, drawn: tuple[str, ...]) -> None:
    found = look(store.root)
    refusals.show_reason(ERROR)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{queue_words.summary(found) or 'Nothing runs or waits'}** on {found.machine.cores} cores")
        if found.paused:
            button("Let it go on", "queue-go", ":material/play_arrow:", launcher.let_queue_go_on, store)
        elif found.waiting:
            button("Pause", "queue-pause", ":material/pause:", launcher.pause_queue, store, "Nothing new begins but what is urgent.")
        notice(done_since(store), key="queue-notice")
    every = st.session_state.get("queue_all", False)
    for place in found.places if every else found.places[:LISTED]:
        row(place, found, store)
    if len(found.places) > LISTED and not every and st.button(f"Show all {len(found.places)}", key="queue-all"):
        st.session_state["queue_all"] = True
        st.rerun(scope="fragment")
    if {place.entry.folder for place in found.places} != set(drawn):
        st.rerun()  # the lists around it change too


def row(place: Place, found: Look, store: SessionStore) -> None:
    entry, number = place.entry, abs(hash(place.entry.folder))
    with st.container(border=True, key=f"queue-{number}"):
        words, buttons = st.columns([3, 1.4], vertical_alignment="center")
        with words.container(gap=None):
            st.markdown(f"**{markup.plain(entry.title)}**{'' if place.level == Level.NORMAL else f' · {place.level.word}'}")
            st.caption(markup.plain(about(place, found)))
            sessions.alarm_badges(place.alarms)
        with buttons.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
            if not entry.parent:
                open_link(entry.kind, entry.id)
            for action in actions(place):
                button("", f"{action.name}-{number}", action.icon, action.act, store, action.hint)


def about(place: Place, found: Look) -> str:
    """``session · runs, 40 % · done in about 3 min, at 14:05``."""
    entry = place.entry
    parts = [entry.kind + (f" of {entry.path.parents[1].name}" if entry.parent else "")]
    parts.append(f"{place.standing}, {percent(place.progress)}" if entry.running or place.progress else place.standing)
    if not entry.running and place.standing != "paused":
        parts.append(queue_words.begins(place.expected, found.now))
    parts += [words] if (words := queue_words.ends(place.expected, found.now)) else []
    parts += [f"made room for {entry.moved_by}"] if entry.moved_by and not entry.running else []
    parts += [f"{entry.tries} workers died"] if entry.tries else []
    parts += ["in a terminal"] if entry.in_terminal else []
    return " · ".join(parts)


class Action(NamedTuple):
    """What can be done to a job."""

    name: str
    icon: str
    act: Callable[[Path], None]
    """Gets the sessions folder."""
    hint: str


def actions(place: Place) -> list[Action]:
    folder = place.entry.folder
    cancel = Action("cancel", ":material/close:", lambda root: launcher.cancel(root, folder), "Take it out of the queue")
    if place.entry.running:
        hint = "Stop it at its next step; it can go on later"
        stop = Action("stop", ":material/stop:", lambda root: launcher.cancel(root, folder), hint)
        return [] if place.standing == "stops" or place.entry.in_terminal else [stop]
    if place.standing == "paused":
        return [Action("go", ":material/play_arrow:", lambda root: launcher.go_on(root, folder), "Let it take its turn again"), cancel]
    at_once = "Begin at once: what runs makes room, and goes on afterwards"
    return [
        Action("now", ":material/bolt:", lambda root: launcher.set_level(root, folder, Level.URGENT), at_once),
        Action("first", ":material/vertical_align_top:", lambda root: launcher.move_first(root, folder), "Begin before the others"),
        Action("pause", ":material/pause:", lambda root: launcher.pause(root, folder), "Keep it waiting"),
        cancel,
    ]


def button(label: str, key: str, icon: str, act: Callable[[Path], None], store: SessionStore, hint: str | None = None) -> None:
    def go() -> None:
        with refusals.keeping_reason(ERROR):
            act(store.root)

    st.button(label, key=f"q-{key}", icon=icon, on_click=go, **refusals.for_operators("steers the queue", hint))


def done_since(store: SessionStore) -> list[DoneJob]:
    """The jobs that a person asked for and that ended since this page was opened."""
    book = Book(store.root)
    ended = once(lambda: book.ended(20), "queue-ended", store.root, book.revision())
    since = st.session_state.setdefault("queue_since", max((job.ended for job in ended), default=0.0))
    return [
        {"id": f"{job.folder}@{job.ended}", "title": job.title, "status": job.status}
        for job in ended
        if job.ended > since and not job.parent
    ]


def begin_at_once(session: Session, root: Path) -> None:
    launcher.set_level(root, str(session.dir), Level.URGENT)


def waiting_view(session: Session, store: SessionStore) -> None:
    """When a session that is queued will begin, and the button that lets it begin at once. Draws the page again when its turn has come."""
    if session.state().status != "queued":
        st.rerun()
    found = look(store.root)
    place = found.place_of(session.dir)
    if place is None or place.entry.running:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        ahead = found.waiting.index(place)
        before = f", {ahead} before it" if ahead else ""
        moved = f" It made room for {markup.plain(place.entry.moved_by)}." if place.entry.moved_by else ""
        st.markdown(f"**Queued**{before}: {queue_words.begins(place.expected, found.now)}.{moved}")
        if place.standing == "paused":
            button("Go", f"turn-go-{session.id}", ":material/play_arrow:", lambda root: launcher.go_on(root, str(session.dir)), store)
        else:
            hint = "What runs makes room, and goes on afterwards."
            button("Begin at once", f"turn-now-{session.id}", ":material/bolt:", partial(begin_at_once, session), store, hint)
        st.page_link(nav.path("runs"), label="See the queue", query_params={"queue": "1"})
    refusals.show_reason(ERROR)
