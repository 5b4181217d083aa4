"""The replays there are, and the one in the address."""

from __future__ import annotations

import streamlit as st

from frozenlab.app import experiment
from frozenlab.app.session import evidence
from frozenlab.app.ui import refusals, sessions
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import ReplayTask, validated_stages
from frozenlab.session.session import Session
from frozenlab.session.store import OFFERED

ERROR = experiment.error_of("replay")


def label(name: str, replay: Replay) -> str:
    state = replay.state()
    kind = "recorded" if name.startswith(experiment.RECORDED) else "running" if state.live else state.status
    return f"{replay.title} · {len(replay.spec.arms)} arms × {replay.spec.samples} · {kind}"


def go_to(name: str) -> None:
    """Shows a replay; for callbacks."""
    for part in ("session", "stage", "arm", "answer", evidence.ASKED):
        st.query_params.pop(part, None)
    st.query_params["replay"] = name


def start(task: ReplayTask) -> None:
    """Starts a replay and goes to it, or keeps the reason why not."""
    with refusals.keeping_reason(ERROR, "Not started"):
        go_to(Replay.start(task, sessions.store()).id)


def leave() -> None:
    """Shows no replay in particular; for callbacks."""
    for part in ("replay", "arm", "answer", evidence.ASKED):
        st.query_params.pop(part, None)


def compose(like: Replay | None) -> None:
    """Shows the form, for the stage that a replay was about; for callbacks."""
    leave()
    known = [session.id for session in suitable()]
    if like is not None and like.spec.session in known:
        st.query_params["session"], st.query_params["stage"] = like.spec.session, str(like.spec.stage + 1)
    elif known:
        st.query_params["session"] = known[0]


def suitable() -> list[Session]:
    """The sessions that something can be asked about, newest first."""
    return [session for session in sessions.store().sessions(OFFERED) if validated_stages(session)]
