"""Claims, the changes that they predict, and the changes that the next stage brought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from frozenlab.base.cells import in_order
from frozenlab.base.numbers import Interval, paired_change, points, signed
from frozenlab.engineer.measurements import of_cell
from frozenlab.engineer.schema import Claim
from frozenlab.session.ledger import Accuracy


@dataclass(frozen=True)
class ClaimOutcome:
    """A claim, the change that it predicts for its cell, and the change that the next stage brought there."""

    claim: Claim
    predicted: float | None
    """Expected valid rate less the present one; None if it names no number."""
    measured: Interval | None = None
    """None as long as no next stage has been validated."""

    @property
    def said(self) -> str:
        """The predicted change in points, as exact as what it is compared with: ``+4.5``."""
        return "–" if self.predicted is None else signed(self.predicted, self.measured.n if self.measured else 0)

    @property
    def off(self) -> float | None:
        """Predicted less measured change."""
        return None if self.predicted is None or self.measured is None else self.predicted - self.measured.value


def claim_outcomes(
    claims: Sequence[Claim], now: pd.DataFrame | None, following: pd.DataFrame | None, read: pd.DataFrame | None = None
) -> list[ClaimOutcome]:
    """Compares each claim with the results ``now``, when it was made, and those after the next stage, each None if there are none. ``read``
    is the validation that the engineer read, from which the predicted change counts; None: it is ``now``."""
    return [_claim_outcome(claim, now, following, now if read is None else read) for claim in claims]


def _claim_outcome(claim: Claim, now: pd.DataFrame | None, following: pd.DataFrame | None, read: pd.DataFrame | None) -> ClaimOutcome:
    before, after, known = (None if table is None else of_cell(table, claim.cell) for table in (now, following, read))
    rate = claim.now if known is None or known.empty else float(known["valid"].mean())
    predicted = None if claim.expected is None or rate is None else claim.expected - rate
    if before is None or after is None or not before["board_id"].isin(after["board_id"]).any():
        return ClaimOutcome(claim, predicted)
    return ClaimOutcome(claim, predicted, paired_change(before, after))


def predictions_of(outcomes: Sequence[ClaimOutcome]) -> list[ClaimOutcome]:
    """Those that name a number which has been tested, one a cell: where it has several claims the last counts."""
    by_cell = {outcome.claim.cell: outcome for outcome in outcomes if outcome.off is not None}
    return [by_cell[cell] for cell in in_order(by_cell)]


def judgement(outcomes: Sequence[ClaimOutcome]) -> Accuracy | None:
    """How a proposal's predictions fared over all cells that it names; None if none of them has been tested."""
    tested = predictions_of(outcomes)
    said = [outcome.predicted for outcome in tested if outcome.predicted is not None]
    came = [outcome.measured.value for outcome in tested if outcome.measured is not None]
    return Accuracy.of(said, came) if tested else None


def boards_of(outcomes: Sequence[ClaimOutcome]) -> int:
    """The boards of all cells behind :func:`judgement`."""
    return sum(outcome.measured.n for outcome in predictions_of(outcomes) if outcome.measured is not None)


def was_it_right(outcomes: Sequence[ClaimOutcome]) -> str:
    """What was predicted and what came: ``It predicted +4.5 points of valid plans; +1.7 came.``"""
    accuracy = judgement(outcomes)
    if accuracy is None:
        return "It predicted no numbers." if all(outcome.predicted is None for outcome in outcomes) else "No stage has tested that yet."
    n = boards_of(outcomes)
    return f"It predicted {points(accuracy.predicted, n)} of valid plans; {signed(accuracy.measured, n)} came."
