"""The section `statistics`: the config, and what was really drawn from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from frozenlab.cells import Cell
from frozenlab.engineer.dialects.words import KNOB_WORDS
from frozenlab.engineer.measurements import Behind, StageMeasurements, StageTables
from frozenlab.engineer.schema import Evidence
from frozenlab.engineer.sections.section import Section
from frozenlab.engineer.sentences import capitalised
from frozenlab.lake.config import SCATTER, Layout
from frozenlab.tasks.lake.dialects import vocabulary as v


class Statistics(Section):
    name: ClassVar[str] = "statistics"
    letter: ClassVar[str] = "S"
    heading: ClassVar[str] = "Statistics: the config, and what was drawn from it"
    help: ClassVar[str] = "the config, and what was really drawn from it"

    def lines(self, stage: StageMeasurements) -> Iterator[Evidence]:
        for cell in stage.config.described():
            drawn, own = stage.realised.get(cell.name), stage.config.cells[cell.name]
            if drawn is None:
                continue
            figures = {
                "boards": drawn.boards,
                "hole_ratio": drawn.hole_ratio,
                "wait_ratio": drawn.wait_ratio,
                "makespan": drawn.mean_makespan or 0.0,
            }
            yield cell_line(cell, own.share, own.hole_ratio, own.wait_ratio, figures, own.layouts)

    def words(self, line: Evidence, size: int | None) -> list[str]:
        n = line.numbers
        words = [word for knob, name in KNOB_WORDS.items() for word in (f"{name}{size}", v.percent_word(n[knob]))]
        return [*words, "drawn", v.percent_word(n["drawn_wait_ratio"]), "makespan", v.time_word(n["makespan"])]

    def boards(self, line: Evidence, tables: StageTables) -> Behind:
        rows = tables.samples(line.cell).drop_duplicates("board_id")
        return Behind("Boards drawn from the config, of those that a plan is kept for", rows, "sampled in training")


def cell_line(
    cell: Cell, share: float, hole_ratio: float, wait_ratio: float, drawn: Mapping[str, float], layouts: Mapping[Layout, float] = SCATTER
) -> Evidence:
    """The config of one cell, and what was drawn from it: ``boards``, ``hole_ratio``, ``wait_ratio``, ``makespan`` (mean steps).

    Layouts are named where not all boards are scattered.
    """
    mixed = "" if layouts == SCATTER else f", {', '.join(f'{part:.0%} {layout}' for layout, part in layouts.items())} boards"
    text = (
        f"{capitalised(cell.words)}: config share {share:.2f}, hole ratio {hole_ratio:.2f}, wait ratio {wait_ratio:.2f}{mixed}; "
        f"drawn {drawn['boards']:.0f} boards, holes {drawn['hole_ratio']:.2f}, wait {drawn['wait_ratio']:.2f}, "
        f"mean optimal makespan {drawn['makespan']:.1f}."
    )
    numbers = {"share": share, "hole_ratio": hole_ratio, "wait_ratio": wait_ratio, "makespan": drawn["makespan"]}
    numbers |= {f"drawn_{name}": drawn[name] for name in ("boards", "hole_ratio", "wait_ratio")}
    return Evidence(id=f"S{cell.name}", section="statistics", cell=cell.name, text=text, numbers=numbers)
