"""The section `history`: the last proposal, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from frozenlab.base.cells import Cell
from frozenlab.base.errors import cut
from frozenlab.engineer.measurements import Behind, StageMeasurements, StageTables, of_cell, won_or_lost
from frozenlab.engineer.schema import Evidence
from frozenlab.engineer.sections.section import Section
from frozenlab.engineer.sentences import capitalised, setting_words
from frozenlab.tasks.vocabulary import RATIO_WORDS, change_words

LONGEST_RATIONALE = 1000
"""Characters of the last rationale that are repeated, about 300 tokens."""


class History(Section):
    name = "history"
    heading = "History: what earlier proposals did"
    help = "the last proposal and what became of it"

    def stage_lines(self, stage: StageMeasurements) -> Iterator[Evidence]:
        """Why the last proposal was made, where a language model said it in words."""
        last = stage.last_proposal
        if last is None or last.proposal is None or '"rationale"' not in last.attempts[-1].raw:
            return
        text = f"{capitalised(when(last.stage))} it was proposed with these words: {cut(last.proposal.summary, LONGEST_RATIONALE)}"
        yield Evidence(id=self.letter, section=self.name, cell=None, text=text)

    def cell_lines(self, stage: StageMeasurements, cell: Cell) -> Iterator[Evidence]:
        last = stage.last_proposal
        if last is None or stage.validation_before is None:
            return
        after, before = of_cell(stage.validation, cell.name), of_cell(stage.validation_before, cell.name)
        if after.empty or before.empty:
            return
        changes: dict[str, float] = {
            c.knob: c.after - c.before for c in last.changes if c.cell == cell.name and c.before is not None and c.after is not None
        }
        expected = next((claim.expected for claim in last.claims if claim.cell == cell.name), None)
        yield cell_line(cell, last.stage, changes, float(before["valid"].mean()), float(after["valid"].mean()), expected)

    def words(self, line: Evidence, place: str) -> list[str]:
        n = line.numbers
        words = [f"history{place}"]
        for knob in RATIO_WORDS:
            if n.get(f"{knob}_change"):
                words += [knob, *change_words(n[f"{knob}_change"])]
        return [*words, "delta", *change_words(n["gain"])]

    def boards(self, line: Evidence, kept: StageTables) -> Behind:
        return won_or_lost(kept, line.cell)


def when(stage: int | None) -> str:
    """When the proposal after a stage (0-based; None: before the first) was made."""
    return "before stage 1" if stage is None else f"after stage {stage + 1}"


def cell_line(cell: Cell, stage: int | None, changes: Mapping[str, float], before: float, after: float, expected: float | None) -> Evidence:
    """What the proposal after ``stage`` (0-based; people count from 1; None: before the first) did to one cell and what became of it.

    ``before`` and ``after`` are held-out valid rates.
    """
    moved = {knob: change for knob, change in changes.items() if abs(change) > 1e-9 and knob != "share"}
    did = " and ".join(f"{setting_words(knob)} {change:+.2f}" for knob, change in moved.items()) or "ratios kept"
    hope = "" if expected is None else f", expected {expected:.0%}"
    text = f"{capitalised(cell.words)}: {when(stage)}, {did}; valid then went {before:.0%} to {after:.0%}{hope}."
    numbers = {"gain": after - before, "before": before, "after": after} | {f"{knob}_change": change for knob, change in moved.items()}
    if expected is not None:
        numbers["expected"] = expected
    return Evidence(id=f"H{cell.name}", section="history", cell=cell.name, text=text, numbers=numbers)
