"""Claims and their outcomes as an HTML table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

from frozenlab.app.session.claim_outcomes import ClaimOutcome
from frozenlab.app.ui.markup import Head, cell, chips, table
from frozenlab.base.numbers import decimals_of, number, typeset
from frozenlab.tasks.labels import cell_label, cells_noun


def claims_table(outcomes: Sequence[ClaimOutcome], seen: Collection[str] | None = None) -> str:
    """The claims, quoted, with what they cite, the change that they predict and, once the next stage has tested it, the change that came.

    Args:
        seen: ids of the lines that the engineer saw, if that is known; a claim that cites another one is marked.
    """
    noun = cells_noun(outcome.claim.cell for outcome in outcomes)
    tested = any(outcome.measured is not None for outcome in outcomes)
    head: list[Head] = [
        (noun, ""),
        ("claim", "The claim in English; the exact words are in the raw answer"),
        ("cites", "The lines of evidence that it names"),
        ("predicted", "Change of the valid rate on the held-out boards of this cell that it expects from the next stage, in points"),
    ]
    if tested:
        head += [
            ("measured", "Change that the next stage brought on the same boards, in points, with its 95 % interval"),
            ("off by", "Predicted less measured change, in points; in small letters: how far the prediction that nothing changes is off"),
        ]
    rows = [_claim_row(outcome, seen, tested) for outcome in outcomes]
    return table(
        "Claims of the engineer and what became of them", head, rows, kind="fl-claims", numbers=("predicted", "measured", "off by")
    )


def _claim_row(outcome: ClaimOutcome, seen: Collection[str] | None, tested: bool) -> str:
    claim, came, off = outcome.claim, outcome.measured, outcome.off
    cells = [cell("claim", escape(typeset(claim.text)), "fl-said"), cell("cites", _cites(claim.evidence, seen))]
    cells.append(cell("predicted", "no number" if outcome.predicted is None else f"<b>{outcome.said}</b>", "num"))
    if tested:
        cells.append(cell("measured", f"<b>{came.signed}</b> <small>{came.bounds}, n = {came.n}</small>" if came else "–", "num"))
        digits = decimals_of(came.n) if came else 0
        naive = f" <small>no change: {number(abs(100 * came.value), digits)}</small>" if came else ""
        cells.append(cell("off by", "–" if off is None else f"<b>{number(abs(100 * off), digits)}</b>{naive}", "num"))
    return f'<tr><th scope="row">{cell_label(claim.cell)}</th>{"".join(cells)}</tr>'


def _cites(ids: Sequence[str], seen: Collection[str] | None) -> str:
    """What a claim rests on, or that it rests on nothing."""
    if not ids:
        return '<span class="fl-unfounded" title="The claim names no line of the evidence">cites nothing</span>'
    invented = [name for name in ids if seen is not None and name not in seen]
    there = chips([name for name in ids if name not in invented])
    return there + "".join(
        f'<span class="fl-unfounded" title="There was no such line in what it saw">{escape(name)}: not seen</span>' for name in invented
    )
