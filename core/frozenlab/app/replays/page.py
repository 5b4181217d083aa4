"""Replay: what would others have proposed from the same evidence?"""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app import experiment
from frozenlab.app.replays.form import ERROR, go_to, show_form, start
from frozenlab.app.replays.results import leave, show_replay
from frozenlab.app.ui import api_form, nav, refusals, sessions, theme
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import arms_of_sections, askable, servers, task_for, validated_stages, varied_sections
from frozenlab.session.session import Session
from frozenlab.session.store import OFFERED

LEAD = (
    "After a stage an engineer reads how the model did, and decides what it practises next. Here others read the same and "
    "decide too; nothing is trained."
)


def page() -> None:
    """A replay, or the form for a new one."""
    nav.tabs()
    picker, action = theme.head("What would others have proposed?", LEAD, 2.1, 1.7, 0.6)
    refusals.show_reason(ERROR)
    found, asked = experiment.everything(Replay), "replay" in st.query_params
    composing, current = not asked and "session" in st.query_params, None
    if found and not composing:
        current = experiment.choose(Replay, found, picker, lambda name: experiment.label(name, found[name]), go_to)
    elif asked:
        st.warning("There is no such replay here.")
    action.button(
        "New replay", type="secondary" if composing else "primary", key="replay-new", width="stretch", disabled=composing,
        on_click=compose, args=(found[current] if current else None,),
    )  # fmt: skip
    experiment.undo_line("replay", ERROR, go_to)
    if composing:
        new_replay(picker)
    elif current is None:
        nothing_yet()
    else:
        show_replay(current, found[current])


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


def new_replay(picker: DeltaGenerator) -> None:
    able = suitable()
    if not able:
        sessions.nothing_yet("No session has finished a stage yet.")
        return
    with picker:
        session = sessions.session_picker(able, validated_stages)
    show_form(session)


def nothing_yet() -> None:
    """The empty state: a sentence and the button that makes it non-empty."""
    for session in suitable():
        for stage in reversed(validated_stages(session)):
            if session.spec.engineer.kind in askable(session, stage):
                arms = arms_of_sections("sections", varied_sections("sections", None), session.spec.engineer)
                task = task_for(session, stage, arms, "sections")
                st.info("There is no replay yet. This asks what the engineer would have proposed had it seen less.")
                words = f"Ask about stage {stage + 1} of {session.title}"
                may = api_form.may_ask(servers(task, session), "replay")
                allowed = refusals.changes(disabled=not may)
                st.button(words, type="primary", key="replay-first", on_click=start, args=(task,), **allowed)
                return
    sessions.nothing_yet("No finished stage to replay yet.")
