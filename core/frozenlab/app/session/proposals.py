"""Proposals on a page: the config before and after, a row for each knob, the guard's repairs, and the raw answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from frozenlab.app.ui.markup import Head, table
from frozenlab.base.cells import Config, in_order
from frozenlab.base.numbers import Interval, counted, listed, number, share
from frozenlab.engineer.schema import GuardReport, ProposalRecord, Repair
from frozenlab.tasks.families import cell_label, cells_noun, family_of
from frozenlab.tasks.family import Family

LAYOUT_HEAD: Head = ("layouts", "The fraction of the boards with this layout of holes; scatter is anywhere, by chance.")


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


def knob_heads(family: Family) -> list[Head]:
    return [(knob.label, knob.help) for knob in family.knobs.values()]


def config_table(rows: Sequence[KnobRow], measured: dict[str, Interval], family: Family) -> str:
    """Config before and after: one row a cell, each knob that it has with sign and word; repaired values carry the guard's mark.

    Args:
        measured: the valid rate of each cell when the proposal was made.
    """
    by_cell = {(row.cell, row.knob): row for row in rows}
    names, knobs = in_order(row.cell for row in rows), list(family.knobs.values())
    lines = []
    for name in names:
        rate = measured.get(name)
        seen = f"{rate.percent} <small>of {rate.n}</small>" if rate else "–"
        lines.append([cell_label(name), seen, *(_knob_cell(by_cell.get((name, knob.name))) for knob in knobs)])
    decided = ("valid rate", "On the validation boards of this cell, when the engineer decided")
    head = [(cells_noun(names), ""), decided, *knob_heads(family)]
    looks = {knob.label: "fl-knob" for knob in knobs}
    return table("Config before and after the proposal", head, lines, "fl-config", ("valid rate",), looks)


def layouts_table(rows: Sequence[KnobRow], family: Family) -> str:
    """The parts of the layouts before and after, for the cells with boards that are not scattered; empty if there is none."""
    by_cell = {(row.cell, row.knob): row for row in rows if row.knob not in family.knobs}
    if not by_cell:
        return ""
    shown = [layout for layout in family.parts if any(knob == layout for _, knob in by_cell)]
    names = in_order(name for name, _ in by_cell)
    lines = ([cell_label(name), *(_knob_cell(by_cell.get((name, layout))) for layout in shown)] for name in names)
    head = [(cells_noun(names), ""), *((layout, family.part_help(layout)) for layout in shown)]
    return table("Layouts before and after the proposal", head, lines, "fl-layouts", looks=dict.fromkeys(shown, "fl-knob"))


def _knob_cell(row: KnobRow | None) -> str:
    if row is None:
        return '<span class="fl-old">–</span>'
    before = "–" if row.before is None else share(row.before)
    after = "–" if row.after is None else share(row.after)
    guard = ""
    if row.repair is not None:
        asked = f"guard: asked for {share(row.repair.proposed)}"
        guard = f'<span class="fl-guard" title="{escape(row.repair.reason)}">{asked}</span>'
    if row.words == "same":
        parts = f'<span class="fl-old">{before}</span><span></span><span></span><span class="fl-same">same</span>'
    else:
        kind = "is-up" if row.change > 0 else "is-down"
        parts = f'<span class="fl-old">{before}</span><span>→</span><b>{after}</b><span class="fl-delta {kind}">{escape(row.words)}</span>'
    return parts + guard


def repairs_table(repairs: Sequence[Repair], family: Family) -> str:
    """What the guard changed, and why."""
    lines = [
        [cell_label(one.cell), escape(family.setting_label(one.knob)), share(one.proposed), share(one.used), escape(one.reason)]
        for one in repairs
    ]
    head = [(name, "") for name in (cells_noun(repair.cell for repair in repairs), "knob", "proposed", "used", "why")]
    return table("Repairs of the guard", head, lines, numbers=("proposed", "used"))


def config_list(config: Config) -> str:
    """A config on its own: one row a cell; layouts, and whatever else the config says, where they are not the usual."""
    family = family_of(config.family)
    usual = dict.fromkeys(family.parts[:1], 1.0)
    parts_of = {
        name: {part: value for part, value in own.settings().items() if part in family.parts} or usual for name, own in config.cells.items()
    }
    mixed = any(parts != usual for parts in parts_of.values())
    lines = []
    for name, own in config.cells.items():
        settings = own.settings()
        values = (share(settings[knob]) if knob in settings else "–" for knob in family.knobs)
        parts = ", ".join(part if value == 1 else f"{share(value)} {part}" for part, value in parts_of[name].items())
        lines.append([cell_label(name), *values, *([escape(parts)] if mixed else [])])
    heads = knob_heads(family)
    html = table(
        "Environment config",
        [(family.title(config), ""), *heads, *([LAYOUT_HEAD] if mixed else [])],
        lines,
        numbers=[name for name, _ in heads],
    )
    return html + "".join(f"<p>{note}</p>" for note in family.notes(config))


def raw_answers(record: ProposalRecord) -> None:
    """Each attempt that is not empty, folded away, with what it took and why it could not be used."""
    for place, attempt in enumerate(record.attempts, start=1):
        if attempt.raw or attempt.error:
            read = f"{attempt.prompt_tokens:,} tokens read, " if attempt.prompt_tokens else ""
            paid = f", cost {attempt.cost:.4f}" if attempt.cost is not None else ""
            figures = f"{read}{attempt.tokens or 0:,} tokens written, {attempt.seconds:.1f} s{paid}"
            with st.expander(f"Raw answer{'' if len(record.attempts) == 1 else f', attempt {place}'} ({figures})"):
                if attempt.error:
                    st.error("It could not be used:")
                    st.text(attempt.error)
                st.code(attempt.raw or " ", language=None, wrap_lines=True)


def repairs(guard: GuardReport, family: Family) -> None:
    """What the guard repaired, folded away; nothing if it did not."""
    if guard.repairs:
        with st.expander(f"The guard repaired {counted(len(guard.repairs), 'value')}"):
            st.html(repairs_table(guard.repairs, family))
