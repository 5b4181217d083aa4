"""Where a session's story begins."""

from __future__ import annotations

from frozenlab.app.ui.components.timeline import rates_by_stage
from frozenlab.session.session import Session
from frozenlab.session.state import State


def first_judged(session: Session, state: State) -> int | None:
    """The stage (0-based) that the page opens with: one that waits for a person, else the first with a proposal that changed the config and
    was tested by the next stage. None: no such stage."""
    if state.status == "waiting":
        return state.stage
    measured = rates_by_stage(state)
    for stage in range(session.spec.stages - 1):
        if stage in measured and stage + 1 in measured and (record := session.proposal(stage)) is not None and record.changes:
            return stage
    return None
