"""Two configs side by side, a row for each knob of each cell, and what a proposal changed in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from frozenlab.base.cells import Config, in_order
from frozenlab.base.numbers import listed, number
from frozenlab.engineer.schema import ProposalRecord, Repair
from frozenlab.tasks.families import family_of
from frozenlab.tasks.labels import cell_label


@dataclass(frozen=True)
class KnobRow:
    """One knob of one cell, or the part of its boards that have a layout, before and after a proposal."""

    cell: str
    knob: str
    before: float | None
    after: float | None
    repair: Repair | None

    @property
    def change(self) -> float:
        return 0.0 if self.before is None or self.after is None else self.after - self.before

    @property
    def words(self) -> str:
        """The change as a sign and a word, never a colour alone: ``+10 up``."""
        if self.before is None or self.after is None:
            return "new" if self.before is None else "gone"
        amount = number(100 * self.change, 1, sign=True).removesuffix(".0")
        return "same" if amount == "0" else f"{amount} {'up' if self.change > 0 else 'down'}"


def knob_rows(record: ProposalRecord) -> list[KnobRow]:
    """Every knob of every cell in both configs, and its layouts where they are not all scatter, ordered by cell; the guard's last repair
    of a knob stands with it."""
    return config_rows(record.config_before, record.config_after, record.guard.repairs)


def config_rows(before: Config, after: Config, repairs: Sequence[Repair] = ()) -> list[KnobRow]:
    mended: dict[tuple[str, str], Repair] = {(repair.cell, repair.knob): repair for repair in repairs}
    family, rows = family_of(after.family), []
    for name in in_order([*before.cells, *after.cells]):
        old, new = ({} if name not in config.cells else config.cells[name].settings() for config in (before, after))
        named = {layout for layout in family.parts if layout in old or layout in new or (name, layout) in mended}
        layouts = [layout for layout in family.parts if layout in named] if named != set(family.parts[:1]) else []
        knobs = [knob for knob in family.knobs if knob in old or knob in new]
        rows += [KnobRow(name, knob, old.get(knob), new.get(knob), mended.get((name, knob))) for knob in knobs]
        rows += [KnobRow(name, layout, old.get(layout, 0.0), new.get(layout, 0.0), mended.get((name, layout))) for layout in layouts]
    return rows


def what_changed(record: ProposalRecord) -> str:
    """The proposal's effect in one sentence of the app: which ratios of which cells moved, and whether shares did."""
    if record.kept_because is not None:
        return "gave no answer that could be used, and the previous config was kept"
    family, rows = family_of(record.config_after.family), knob_rows(record)
    parts = []
    for knob in family.ratios:
        for word, sign in (("raised", 1), ("lowered", -1)):
            cells = [row.cell for row in rows if row.knob == knob and round(row.change * sign, 4) > 0]
            if cells:
                parts.append(f"{word} the {family.knobs[knob].label} of {_cells(cells)}")
    for layout in family.parts:
        cells = [row.cell for row in rows if row.knob == layout and row.change > 0.005]
        if cells:
            parts.append(f"put more boards of {_cells(cells)} in the layout {layout}")
    shares = sorted((row for row in rows if row.knob == "share"), key=lambda row: row.change)
    if shares and shares[-1].change > 0.005:
        parts.append(f"gave more boards to {_cells([row.cell for row in shares if row.change > 0.005])}")
    if not parts:
        return "kept the config as it was"
    return listed(parts)


def _cells(names: Sequence[str]) -> str:
    return listed(list(map(cell_label, names)))
