"""The section `statistics`: the config, and what was really drawn from it."""

from __future__ import annotations

from collections.abc import Iterator

from frozenlab.base.cells import Cell
from frozenlab.engineer.measurements import Behind, StageMeasurements, StageTables, of_cell
from frozenlab.engineer.schema import Evidence
from frozenlab.engineer.sections.section import Section
from frozenlab.engineer.sentences import capitalised
from frozenlab.tasks import vocabulary as v
from frozenlab.tasks.vocabulary import RATIO_WORDS


class Statistics(Section):
    name = "statistics"
    heading = "Statistics: the config, and what was drawn from it"
    help = "the config, and what was really drawn from it"

    def cell_lines(self, stage: StageMeasurements, cell: Cell) -> Iterator[Evidence]:
        if drawn := stage.realised.get(cell.name):
            yield cell_line(cell, *stage.family.statistics(cell, stage.config.cells[cell.name], drawn))

    def words(self, line: Evidence, place: str) -> list[str]:
        n = line.numbers
        words = [f"share{place}", v.percent_word(n["share"])]
        for knob in RATIO_WORDS:
            if knob in n:
                words += [f"{RATIO_WORDS[knob]}{place}", v.percent_word(n[knob])]
        drawn = next(n[name] for name in ("drawn_wait_ratio", "drawn_times_ratio") if name in n)
        steps = next(n[name] for name in ("makespan", "optimal_steps") if name in n)
        return [*words, "drawn", v.percent_word(drawn), "makespan", v.time_word(steps)]

    def boards(self, line: Evidence, kept: StageTables) -> Behind:
        rows = of_cell(kept.sampled, line.cell).drop_duplicates("board_id")
        return Behind("Boards drawn from the config, of those that a plan is kept for", rows, "sampled in training")


def cell_line(cell: Cell, text: str, numbers: dict[str, float]) -> Evidence:
    """The config of one cell and what was drawn from it, in the family's words."""
    return Evidence(id=f"S{cell.name}", section="statistics", cell=cell.name, text=capitalised(text), numbers=numbers)
