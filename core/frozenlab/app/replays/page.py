"""Replay: what would others have proposed from the same evidence?"""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app import experiment
from frozenlab.app.replays.form import show_form
from frozenlab.app.replays.known import ERROR, compose, go_to, label, start, suitable
from frozenlab.app.replays.results import show_replay
from frozenlab.app.ui import api_form, markup, refusals, sessions, theme
from frozenlab.app.ui.deleting import undo_line
from frozenlab.experiments.replays.arms import arms_of_sections, varied_sections
from frozenlab.experiments.replays.store import Replay
from frozenlab.experiments.replays.task import askable, servers, task_for, validated_stages

LEAD = (
    "After a stage an engineer reads how the model did, and decides what it practises next. Here others read the same and "
    "decide too; nothing is trained."
)


def page() -> None:
    """A replay, or the form for a new one."""
    head, picker, action = st.columns([2.1, 1.7, 0.6], vertical_alignment="bottom")
    with head:
        theme.question("What would others have proposed from the same evidence?")
    markup.styles()
    refusals.show_reason(ERROR)
    found = experiment.everything(Replay)
    asked = st.query_params.get("replay")
    composing = asked is None and "session" in st.query_params
    if asked is not None and asked not in found:
        st.warning("There is no such replay here." + (" This is another one instead." if found else ""))
    current = None if composing or not found else asked if asked in found else next(iter(found))
    action.button(
        "New replay", type="secondary" if composing else "primary", key="replay-new", width="stretch", disabled=composing,
        on_click=compose, args=(found[current] if current else None,),
    )  # fmt: skip
    theme.under_question(LEAD)
    undo_line("replay", ERROR, go_to)
    if composing:
        new_replay(picker)
    elif current is None:
        nothing_yet()
    else:
        choose_replay(picker, found, current)
        show_replay(current, found[current])


def new_replay(picker: DeltaGenerator) -> None:
    able = suitable()
    if not able:
        sessions.nothing_yet("No session has finished a stage yet.")
        return
    with picker:
        session = sessions.session_picker(able, validated_stages)
    show_form(session)


def choose_replay(picker: DeltaGenerator, found: Mapping[str, Replay], current: str) -> None:
    st.query_params["replay"] = st.session_state["replay-picker"] = current
    picker.selectbox(
        "Replay", list(found), key="replay-picker", format_func=lambda name: label(name, found[name]),
        on_change=lambda: go_to(st.session_state["replay-picker"]),
    )  # fmt: skip


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
