"""What changes with every step of a session, as everybody who watches it is told at once, without a run of a page."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

from frozenlab.app.ui import sessions
from frozenlab.app.ui.components.timeline import marks
from frozenlab.base.numbers import percent
from frozenlab.session.session import Session
from frozenlab.session.state import BEFORE_TRAINING, PHASE_WORDS, State

LATEST = 5
"""Training steps over which the newest figures are averaged."""


def beat(session: Session, state: State) -> dict[str, Any]:
    """``{"progress": 0..1, "words", "began", "age", "marks"}``: the bar and the words below it, seconds since the session began and since
    its worker last reported (None: never), and the marks of the timeline."""
    now = time.time()
    return {
        "progress": min(max(state.progress, 0.0), 1.0),
        "words": words(session, state),
        "began": now - session.created,
        "age": None if state.heartbeat is None else max(0.0, now - state.heartbeat),
        "marks": [asdict(mark) for mark in marks(session, state)],
    }


def words(session: Session, state: State) -> str:
    """``Stage 1 of 3: training, step 7 of 40 · 62 % of the newest plans valid · 12 % of the session · about 3 min left``."""
    now = PHASE_WORDS[state.phase]
    where = f"Stage {state.stage + 1} of {session.spec.stages}: {now}" if state.phase not in BEFORE_TRAINING else now.capitalize()
    parts = []
    if state.phase == "training":
        where += f", step {state.step} of {state.steps}"
        valid = [figures["valid"] for figures in session.figures(state.stage)[-LATEST:] if figures.get("valid") is not None]
        if valid:
            parts.append(f"{percent(sum(valid) / len(valid))} of the newest plans valid")
    if state.live and session.stop_asked:
        where = f"Stopping after this step. {where}"
    parts = [where, *parts, f"{percent(state.progress)} of the session"]
    if state.seconds_left is not None and state.status == "running" and not session.stop_asked:
        parts.append(f"about {sessions.duration(state.seconds_left)} left")
    return " · ".join(parts)
