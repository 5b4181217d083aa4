"""Starting, watching and stopping a headroom measurement."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.ui import markup, refusals, sessions
from frozenlab.app.ui.components.live import keep_current
from frozenlab.experiments.headroom.spec import HeadroomSpec
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.jobs import launcher

ERROR = "headroom_error"
"""Session-state entry: why the last thing that was asked for could not be done."""


def start(spec: HeadroomSpec) -> None:
    """Starts a measurement and goes to it, or keeps the reason why not."""
    with refusals.keeping_reason(ERROR, "Not started"):
        st.query_params["headroom"] = Headroom.start(spec, sessions.store()).id


def resume(measurement: Headroom) -> None:
    with refusals.keeping_reason(ERROR, "Not started"):
        measurement.resume()


def halt(measurement: Headroom) -> None:
    with refusals.keeping_reason(ERROR, "Not stopped"):
        launcher.stop(measurement)


@st.fragment
def watch(measurement: Headroom) -> None:
    """The progress of a running measurement. Draws the page again when it ends."""
    keep_current(measurement)
    state = measurement.state()
    left = f" · about {sessions.duration(state.seconds_left)} left" if state.seconds_left is not None else ""
    done = round(state.progress * measurement.spec.units)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(key="headroom-progress"):
            text = f"**{done} of {measurement.spec.units} parts measured**{left}"
            st.progress(min(max(state.progress, 0.0), 1.0), text=text)
        st.button(
            "Stop", key="headroom-stop", icon=":material/stop:", on_click=halt, args=(measurement,),
            **refusals.for_operators("stops measurements", "What is measured is kept."),
        )  # fmt: skip
    if not state.live:
        st.rerun()


def go_on(measurement: Headroom) -> None:
    """What can be done with a measurement that ended before all was measured."""
    state = measurement.state()
    if state.status == "done":
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        why = f": {markup.plain(state.error)}" if state.error else "."
        st.markdown(f"This measurement {state.status if state.status != 'queued' else 'waits'}{why}")
        st.button(
            "Go on", key="headroom-go-on", icon=":material/play_arrow:", on_click=resume, args=(measurement,),
            **refusals.for_operators("resumes measurements"),
        )  # fmt: skip
