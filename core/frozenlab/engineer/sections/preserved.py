"""The section `preserved`: cells that already work and still teach."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import TYPE_CHECKING

from frozenlab.base.cells import Cell
from frozenlab.base.numbers import board_by_board
from frozenlab.engineer.measurements import Behind, StageMeasurements, StageTables, of_cell, sampled_valid, won_or_lost
from frozenlab.engineer.schema import Evidence
from frozenlab.engineer.sections.section import Section
from frozenlab.engineer.sentences import capitalised
from frozenlab.tasks import vocabulary as v

if TYPE_CHECKING:
    import pandas as pd

TEACHES = (0.2, 0.8)
"""Sampled valid rates between these leave most groups of plans mixed, so that there is something to learn from them (the 80/20 rule)."""
WORKS = 0.05
"""Held-out gain of a stage from which on a cell's config is said to work,"""
LUCK = 0.05
"""unless chance alone would bring such a gain more often than this: of 20 cells that nothing happened to, one at most is said to work. That
takes 5 boards won and none lost, or 12 won and 4 lost."""


class Preserved(Section):
    name = "preserved"
    heading = "Preserved: what works already"
    help = "map sizes that already work and still teach"

    def cell_lines(self, stage: StageMeasurements, cell: Cell) -> Iterator[Evidence]:
        """A line if its held-out valid rate rose by WORKS, by more than chance, while its samples still mix success and failure."""
        if stage.validation_before is None:
            return
        after, before = of_cell(stage.validation, cell.name), of_cell(stage.validation_before, cell.name)
        sampled = sampled_valid(stage.metrics, cell.name)
        if after.empty or before.empty or sampled is None:
            return
        gain = float(after["valid"].mean() - before["valid"].mean())
        if gain >= WORKS and luck(before, after) <= LUCK and TEACHES[0] <= sampled[0] <= TEACHES[1]:
            yield cell_line(cell, float(after["valid"].mean()), gain)

    def words(self, line: Evidence, place: str) -> list[str]:
        return [f"preserved{place}", v.percent_word(line.numbers["valid"])]

    def boards(self, line: Evidence, kept: StageTables) -> Behind:
        return won_or_lost(kept, line.cell)


def luck(before: pd.DataFrame, after: pd.DataFrame) -> float:
    """The chance that at least as many of the boards that changed sides were won, if winning and losing were equally likely (one-sided
    exact sign test, as McNemar's, on the boards that both tables hold)."""
    found = board_by_board(before, after)
    changed = found.gained + found.lost
    return sum(comb(changed, k) for k in range(found.gained, changed + 1)) / 2**changed


def cell_line(cell: Cell, valid: float, gain: float) -> Evidence:
    text = f"{capitalised(cell.words)} already works and still teaches: {valid:.0%} valid, {100 * gain:+.0f} points over the stage."
    text += " Keep its ratios."
    return Evidence(id=f"P{cell.name}", section="preserved", cell=cell.name, text=text, numbers={"valid": valid, "gain": gain})
