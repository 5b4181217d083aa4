"""The claims of a proposal: what became of each, in words and as a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

import pandas as pd

from frozenlab.app.ui.markup import Head, chips, table
from frozenlab.base.cells import in_order
from frozenlab.base.numbers import Interval, counted, decimals_of, listed, number, paired_change, points, signed, typeset
from frozenlab.engineer.faithfulness import used_instead
from frozenlab.engineer.measurements import of_cell
from frozenlab.engineer.schema import Claim, ProposalRecord
from frozenlab.session.ledger import Accuracy
from frozenlab.tasks.families import cell_label, cells_noun


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


def was_it_right(outcomes: Sequence[ClaimOutcome], cells: Collection[str]) -> str:
    """What was predicted and what the next stage brought, and on which of the config's ``cells`` if it spoke of some only:
    ``On 2 of 3 map sizes (3×3 and 5×5) it predicted +4.5 points of valid plans; the next stage brought +1.7.``"""
    accuracy = judgement(outcomes)
    if accuracy is None:
        return "It predicted no numbers." if all(outcome.predicted is None for outcome in outcomes) else "No stage has tested that yet."
    n, named = boards_of(outcomes), [outcome.claim.cell for outcome in predictions_of(outcomes)]
    some = f"{len(named)} of {counted(len(cells), cells_noun(cells))} ({listed(map(cell_label, named))})"
    it = "It" if set(named) >= set(cells) else f"On {some} it"
    return f"{it} predicted {points(accuracy.predicted, n)} of valid plans; the next stage brought {signed(accuracy.measured, n)}."


def claims_table(outcomes: Sequence[ClaimOutcome], record: ProposalRecord, seen: Collection[str] | None = None) -> str:
    """The claims, quoted, with what they cite, the change that they predict and, once the next stage has tested it, the change that came.

    Args:
        record: of their proposal; a claim whose setting is not used as proposed says what is used.
        seen: ids of the lines that the engineer saw, if that is known; a claim that cites another one is marked.
    """
    noun = cells_noun(outcome.claim.cell for outcome in outcomes)
    tested = any(outcome.measured is not None for outcome in outcomes)
    head: list[Head] = [
        (noun, ""),
        ("claim", "The claim in English; the exact words are in the raw answer"),
        ("cites", "The lines of evidence that it names"),
        ("predicted", "Change of this cell's valid rate that it expects from the next stage, in points"),
    ]
    if tested:
        head += [
            ("measured", "Change that the next stage brought on the same boards, in points, with its 95 % interval"),
            ("off by", "Predicted less measured change, in points; in small letters: how far the prediction that nothing changes is off"),
        ]
    rows = [_claim_row(outcome, used_instead(outcome.claim, record), seen, tested) for outcome in outcomes]
    numbers = ("predicted", "measured", "off by")
    return table("Claims of the engineer and what became of them", head, rows, "fl-cards", numbers, {"claim": "fl-said"})


def _claim_row(outcome: ClaimOutcome, used: float | None, seen: Collection[str] | None, tested: bool) -> list[str]:
    claim, came, off = outcome.claim, outcome.measured, outcome.off
    instead = "" if used is None else f' <span class="fl-guard" title="The guard changed it, see the config">used: {used:.2f}</span>'
    row = [cell_label(claim.cell), escape(typeset(claim.text)) + instead, _cites(claim.evidence, seen)]
    row.append("no number" if outcome.predicted is None else f"<b>{outcome.said}</b>")
    if tested:
        row.append(f"<b>{came.signed}</b> <small>{came.bounds}, n = {came.n:,}</small>" if came else "–")
        digits = decimals_of(came.n) if came else 0
        naive = f" <small>no change: {number(abs(100 * came.value), digits)}</small>" if came else ""
        row.append("–" if off is None else f"<b>{number(abs(100 * off), digits)}</b>{naive}")
    return row


def _cites(ids: Sequence[str], seen: Collection[str] | None) -> str:
    """What a claim rests on, or that it rests on nothing."""
    if not ids:
        return '<span class="fl-unfounded" title="The claim names no line of the evidence">cites nothing</span>'
    invented = [name for name in ids if seen is not None and name not in seen]
    there = chips([name for name in ids if name not in invented])
    return there + "".join(
        f'<span class="fl-unfounded" title="There was no such line in what it saw">{escape(name)}: not seen</span>' for name in invented
    )
