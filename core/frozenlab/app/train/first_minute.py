"""What a live session shows before its first training step: three named steps with a clock, and a board on which training once helped."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import streamlit as st

from frozenlab.app.ui import markup, sessions
from frozenlab.app.views.view import Shown
from frozenlab.app.views.views import view_of
from frozenlab.session.session import Session
from frozenlab.session.state import Phase, State

PHASES: tuple[Phase, ...] = ("starting", "baseline", "asking", "generating")
"""Before the first training step, in their order."""


def is_first_minute(session: Session, state: State) -> bool:
    """Whether a live session has nothing to draw yet."""
    return state.live and state.stage == 0 and state.phase in PHASES and session.metrics(0).empty


def first_minute(session: Session, state: State, known: Sequence[Session]) -> None:
    """The steps at the left; at the right a board of another session of ``known``, before and after its training."""
    left, right = st.columns([1, 1.35], gap="large")
    with left:
        st.subheader("Before the first step", anchor=False)
        st.html(markup.steps(steps(session, state)))
    with right:
        finished = (found for found in known if found.id != session.id and found.state().status == "done")
        example = next((found for found in finished if turned_board(str(found.dir)) is not None), None)
        if example is not None:
            show_example(example)


def steps(session: Session, state: State) -> list[tuple[str, str, markup.StepState, str]]:
    """Title, explanation, state and clock of each step."""
    training, spec = session.spec.training, session.spec
    suites = [spec.tasks.suite_size(suite, spec.initial_config) for suite in (spec.suite, spec.test) if suite is not None]
    planned = suites[-1] if session.validation(None) is not None else suites[0]  # one suite after the other
    held_out, boards = " and ".join(f"{n:,}" for n in suites), training.steps * training.boards_per_step
    words: dict[Phase, tuple[str, str]] = {
        "starting": ("Load the model", "The worker process starts, and the model's weights are read."),
        "baseline": (
            "Validate the base",
            f"The model before training plans {held_out} held-out boards. Every later stage is compared with that.",
        ),
        "asking": ("Ask the engineer", "It reads where the base fails and may change the first config."),
        "generating": (
            "Draw the boards of stage 1",
            f"{boards:,} boards are drawn from the first config and solved; none of them is held out.",
        ),
    }
    now = PHASES.index(state.phase)
    return [
        (*words[phase], "done" if place < now else "now" if place == now else "next", clock(state, planned) if place == now else "")
        for place, phase in enumerate(PHASES)
        if phase != "asking" or spec.ask_first
    ]


def clock(state: State, held_out: int) -> str:
    """How long the present step has taken, and how far it is if that is known."""
    since = state.phase_since or state.started
    taken = sessions.duration(max(0.0, time.time() - since)) if since else ""
    if state.phase == "baseline" and state.phase_done:
        return f"{round(state.phase_done * held_out):,} of {held_out:,} boards · {taken}"
    return taken


@st.cache_data(max_entries=64, show_spinner=False)
def turned_board(folder: str) -> tuple[pd.Series, pd.Series, str] | None:
    """The board that shows best what the training of a finished session did: its row before training and its row at the end, and when that
    was. None if there is none."""
    session = Session(Path(folder))
    last = session.spec.stages - 1
    before, after = session.results(None), session.results(last)
    found = None if before is None or after is None else view_of(session.spec.tasks).showcase(before, after)
    if before is None or after is None or found is None:
        return None
    first, second = (table[table["board_id"] == found].iloc[0] for table in (before, after))
    return first, second, f"after stage {last + 1}"


def show_example(session: Session) -> None:
    turned = turned_board(str(session.dir))
    assert turned is not None
    before, after, when = turned
    st.subheader("Meanwhile: what training can do", anchor=False)
    shown = [Shown(before, "before training"), Shown(after, when)]
    view_of(session.spec.tasks).play(shown, key="first-minute", height=300, autoplay=True)
    st.caption(f"A held-out board from another session, {markup.plain(session.title)}. This session's own plans are shown when it trains.")
