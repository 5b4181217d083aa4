"""The moment of a session that the Story page shows, and the one that it opens with."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import pandas as pd

from frozenlab.app.session.claims import ClaimOutcome, claim_outcomes
from frozenlab.app.ui.components.timeline import rates_by_stage, stage_name
from frozenlab.app.ui.figures import Series
from frozenlab.app.ui.once import once
from frozenlab.engineer.schema import Context, ProposalRecord
from frozenlab.session.session import Session
from frozenlab.session.state import State


@dataclass(frozen=True)
class Moment:
    """A session after one of its stages, or before training."""

    session: Session
    revision: Hashable
    """Of the session's files, taken before any was read, so that what is drawn is never older than it says."""
    stage: int | None
    """0-based; None before training."""
    after: pd.DataFrame
    """Results now."""
    read: pd.DataFrame | None
    """The validation that the engineer read."""
    before: pd.DataFrame | None
    """Results one stage earlier."""
    context: Context | None
    record: ProposalRecord | None
    outcomes: Sequence[ClaimOutcome]

    @property
    def key(self) -> tuple[Hashable, int | None]:
        """Everything that figures of this moment depend on."""
        return self.revision, self.stage

    @property
    def validation(self) -> pd.DataFrame:
        """What the engineer read, or the results if there is nothing else."""
        return self.after if self.read is None else self.read

    @property
    def is_last(self) -> bool:
        """Whether no stage trains on what is proposed now."""
        return self.stage is not None and self.stage + 1 == self.session.spec.stages

    @property
    def label(self) -> str:
        return stage_name(None) if self.stage is None else f"after {stage_name(self.stage).lower()}"

    @property
    def now(self) -> Series:
        """The results, for charts and views."""
        return Series(self.label, self.after)

    @property
    def earlier(self) -> Series | None:
        """Results one stage earlier; None if there are none."""
        label = "before training" if not self.stage else f"after {stage_name(self.stage - 1).lower()}"
        return None if self.before is None else Series(label, self.before)

    @property
    def every(self) -> list[Series]:
        """The results before training and after each measured stage."""
        measured = ((stage, self.session.results(stage)) for stage in (None, *range(self.session.spec.stages)))
        return [Series(stage_name(stage), table) for stage, table in measured if table is not None]


def moment_of(session: Session, stage: int | None) -> Moment | None:
    """Reads everything about a moment; None if it has no results yet."""
    revision = session.revision()
    after, read = session.results(stage), session.validation(stage)
    if after is None or after.empty:
        return None
    before = None if stage is None else session.results(stage - 1 if stage else None)
    last = stage is not None and stage + 1 == session.spec.stages
    following = None if last else session.results(0 if stage is None else stage + 1)
    record = session.proposal(stage)
    claims = record.claims if record is not None else ()
    outcomes = once(lambda: claim_outcomes(claims, after, following, read), "story claims", revision, stage)
    return Moment(session, revision, stage, after, read, before, session.context(stage), record, outcomes)


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
