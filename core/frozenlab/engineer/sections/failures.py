"""The section `failures`: what goes wrong first on the held-out boards, with worked cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from frozenlab.base import seeds
from frozenlab.base.cells import Cell
from frozenlab.engineer.measurements import Behind, StageMeasurements, StageTables, of_cell
from frozenlab.engineer.schema import Evidence
from frozenlab.engineer.sections.section import Section
from frozenlab.engineer.sentences import capitalised
from frozenlab.tasks import vocabulary as v
from frozenlab.tasks.family import Family

if TYPE_CHECKING:
    import pandas as pd

CASES_PER_CELL = 2


class Failures(Section):
    name = "failures"
    heading = "Failures: first faults on held-out boards"
    help = "first faults on the held-out boards of each map size, with worked cases"

    def cell_lines(self, stage: StageMeasurements, cell: Cell) -> Iterator[Evidence]:
        rows = of_cell(stage.validation, cell.name)
        if rows.empty:
            return
        failed = rows[~rows["valid"]]
        faults: dict[str, float] = {fault: float((rows["fault"] == fault).mean()) for fault in stage.family.faults}
        rates = float(rows["valid"].mean()), float(rows["optimal"].mean())
        yield cell_line(cell, len(rows), *rates, faults, tuple(failed["board_id"]))
        yield from worked_cases(cell, failed, stage.family)

    def words(self, line: Evidence, place: str) -> list[str]:
        n = line.numbers
        if "step" in n:  # a worked case
            fault = next(name for name in v.EVERY_FAULT if name in n)
            return ["case", place, fault, v.time_word(n["step"])]
        faults = [name for name in n if name in v.EVERY_FAULT and n[name] >= v.PERCENT_STEP / 200]  # the commonest first, as in cell_line
        seen = [word for fault in faults for word in (fault, v.percent_word(n[fault]))]
        return [f"valid{place}", v.percent_word(n["valid"]), "optimal", v.percent_word(n["optimal"]), *seen]

    def boards(self, line: Evidence, kept: StageTables) -> Behind:
        rows = of_cell(kept.validation, line.cell)
        failed = rows[rows["board_id"].isin(line.boards)]
        return Behind("Validation boards on which it failed", failed, "after the stage", kept.validation_before)


def worked_cases(cell: Cell, failed: pd.DataFrame, family: Family) -> Iterator[Evidence]:
    """One failing board of each of the cell's commonest faults, any of them: the first boards of a suite are its easiest."""
    commonest = failed["fault"].value_counts().index[:CASES_PER_CELL]
    for letter, fault in zip("abcdefghi", commonest, strict=False):
        rows = failed[failed["fault"] == fault]
        row = rows.loc[min(rows.index, key=lambda place: seeds.mixed("worked case", str(rows["board_id"][place])))]
        case, step = family.case(row)
        sentence = f"{capitalised(cell.words)}, {case}."
        yield case_line(cell, letter, str(fault), step, sentence, str(row["board_id"]), family.shown(row))


def fault_words(fault: str) -> str:
    return fault.replace("_", " ")


def cell_line(cell: Cell, n: int, valid: float, optimal: float, faults: Mapping[str, float], boards: tuple[str, ...] = ()) -> Evidence:
    """Held-out results of one cell; ``faults`` are shares of all ``n`` boards."""
    seen = sorted((fault for fault in faults if faults[fault] > 0), key=lambda fault: -faults[fault])
    shares = ", ".join(f"{fault_words(fault)} {faults[fault]:.0%}" for fault in seen) or "none"
    text = f"{capitalised(cell.words)}: {valid:.0%} of {n} held-out boards valid, {optimal:.0%} optimal; first faults: {shares}."
    numbers = {"valid": valid, "optimal": optimal, "n": float(n)} | {fault: faults[fault] for fault in seen}
    return Evidence(id=f"F{cell.name}", section="failures", cell=cell.name, text=text, numbers=numbers, boards=boards)


def case_line(cell: Cell, letter: str, fault: str, step: int, sentence: str, board_id: str, shown: str = "") -> Evidence:
    """One worked failure: what went wrong at which step on one board, and the board with the plan as a language model reads it."""
    numbers = {fault: 1.0, "step": float(step)}
    name = f"F{cell.name}{letter}"
    return Evidence(id=name, section="failures", cell=cell.name, text=sentence, numbers=numbers, boards=(board_id,), shown=shown)
