"""Joins a page to the feed of a job (:mod:`frozenlab.app.ui.live`): the fragment that it stands in runs again when the job has changed."""

from __future__ import annotations

from typing import Any

import streamlit as st

from frozenlab.app.ui.components import text_of
from frozenlab.app.ui.live import address, revision
from frozenlab.jobs.job import Job

JS = text_of(__file__, "live.js")

_current = st.components.v2.component("frozenlab_current", html="<span></span>", js=JS)
_beat = st.components.v2.component(
    "frozenlab_beat",
    html='<div class="beat"><div class="bar" role="progressbar" aria-valuemin="0" aria-valuemax="100"><i></i></div>'
    '<p class="words"></p><p class="note"></p></div>',
    css=text_of(__file__, "live.css"),
    js=JS,
)


def keep_current(job: Job, *, every: float | None = None) -> None:
    """Keep the fragment that calls this up to date while the job runs. Called before the fragment reads the job's files.

    Args:
        every: run again after this many seconds without a change, too.
    """
    with st.container(key=f"live-feed-{job.kind}-{job.id}"):
        data = {"feed": address(job), "revision": revision(job), "beat": None, "every": every}
        _current(key=f"live-{job.kind}-{job.id}", data=data, on_changed_change=_nothing)


def live_beat(job: Job, drawn: str, beat: dict[str, Any], *, live: bool, every: float | None = None) -> None:
    """The bar and the words of a session that runs (:func:`frozenlab.app.ui.live.beat`), changed by its feed: no page runs.

    Args:
        drawn: the revision of the session from before the fragment read its files.
        live: join the feed; otherwise all stands still.
        every: as for :func:`keep_current`.
    """
    data = {"feed": address(job) if live else None, "revision": drawn, "beat": beat, "every": every}
    _beat(key=f"beat-{job.id}", data=data, on_changed_change=_nothing, height="content")


def _nothing() -> None:
    """Streamlit asks for a function; the run of the fragment is all that is wanted."""
