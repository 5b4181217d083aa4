"""Starting, watching and stopping a replay."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.replays.known import go_to
from frozenlab.app.ui import api_form, markup, refusals, sessions
from frozenlab.app.ui.components.live import keep_current
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import ReplayError, ReplayTask, servers
from frozenlab.jobs import launcher
from frozenlab.session.session import SessionError

ERROR = "replay_error"
"""Session-state entry: why the last thing that was asked for could not be done."""


def start(task: ReplayTask) -> None:
    """Starts a replay and goes to it, or keeps the reason why not."""
    with refusals.keeping_reason(ERROR, "Not started"):
        go_to(Replay.start(task, sessions.store()).id)


def resume(replay: Replay) -> None:
    with refusals.keeping_reason(ERROR, "Not started"):
        replay.resume()


def halt(replay: Replay) -> None:
    with refusals.keeping_reason(ERROR, "Not stopped"):
        launcher.stop(replay)


@st.fragment
def watch(replay: Replay, drawn: int) -> None:
    """The progress of a running replay. Draws the page again when every arm has answered, and whenever the answers have doubled."""
    keep_current(replay)
    state, task = replay.state(), replay.spec
    done = round(state.progress * task.total)
    left = f" · about {sessions.duration(state.seconds_left)} left" if state.seconds_left is not None else ""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(key="replay-progress"):
            what = "loading the model" if state.status == "queued" or not done else f"{done} of {task.total} answers"
            st.progress(min(max(state.progress, 0.0), 1.0), text=f"**{what[0].upper()}{what[1:]}**{left}")
        st.button(
            "Stop", key="replay-stop", icon=":material/stop:", on_click=halt, args=(replay,),
            **refusals.for_operators("stops replays", "What was answered is kept."),
        )  # fmt: skip
    if done >= max(2 * drawn, len(task.arms)) or not state.live:
        st.rerun()


def go_on(replay: Replay, answered: int) -> None:
    """What can be done with a replay that ended before it had all answers."""
    state, missing = replay.state(), replay.spec.total - answered
    if not missing:
        return
    try:
        may = api_form.may_ask(servers(replay.spec, replay.session), "replay")
    except (ReplayError, SessionError):  # the session is gone; resuming the replay says so
        may = True
    with st.container(horizontal=True, vertical_alignment="center"):
        why = f": {markup.plain(state.error)}" if state.error else "."
        st.markdown(f"This replay {state.status}, with {answered} of {replay.spec.total} answers{why}")
        st.button(
            "Ask for the rest", key="replay-go-on", icon=":material/play_arrow:", on_click=resume, args=(replay,),
            **refusals.for_operators("resumes replays", disabled=not may),
        )  # fmt: skip
