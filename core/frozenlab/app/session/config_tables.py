"""Configs and repairs as HTML tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from frozenlab.app.session.config_rows import KnobRow
from frozenlab.app.ui.markup import Head, cell, table
from frozenlab.base.cells import Config, in_order
from frozenlab.base.numbers import Interval, share
from frozenlab.engineer.schema import Repair
from frozenlab.tasks.families import family_of
from frozenlab.tasks.family import Family
from frozenlab.tasks.labels import cell_label, cells_noun

LAYOUT_HEAD: Head = ("layouts", "The fraction of the boards with this layout of holes; scatter is anywhere, by chance.")


def knob_heads(family: Family) -> list[Head]:
    return [(knob.label, knob.help) for knob in family.knobs.values()]


def config_table(rows: Sequence[KnobRow], measured: dict[str, Interval], family: Family) -> str:
    """Config before and after: one row a cell, each knob that it has with sign and word; repaired values carry the guard's mark.

    Args:
        measured: the valid rate of each cell when the proposal was made.
    """
    by_cell = {(row.cell, row.knob): row for row in rows}
    lines = []
    names = in_order(row.cell for row in rows)
    for name in names:
        rate = measured.get(name)
        seen = f"{rate.percent} <small>of {rate.n}</small>" if rate else "–"
        knobs = [_knob_cell(by_cell.get((name, knob.name)), knob.label) for knob in family.knobs.values()]
        cells = "".join([cell("valid rate", seen, "num"), *knobs])
        lines.append(f'<tr><th scope="row">{cell_label(name)}</th>{cells}</tr>')
    head: list[Head] = [
        (cells_noun(names), ""),
        ("valid rate", "On the held-out boards of this cell, when the engineer decided"),
        *knob_heads(family),
    ]
    return table("Config before and after the proposal", head, lines, kind="fl-config", numbers=("valid rate",))


def layouts_table(rows: Sequence[KnobRow], family: Family) -> str:
    """The parts of the layouts before and after, for the cells with boards that are not scattered; empty if there is none."""
    by_cell = {(row.cell, row.knob): row for row in rows if row.knob not in family.knobs}
    if not by_cell:
        return ""
    shown = [layout for layout in family.parts if any(knob == layout for _, knob in by_cell)]
    lines = []
    for name in in_order(name for name, _ in by_cell):
        cells = "".join(_knob_cell(by_cell[name, layout], layout) if (name, layout) in by_cell else "<td>–</td>" for layout in shown)
        lines.append(f'<tr><th scope="row">{cell_label(name)}</th>{cells}</tr>')
    head = [(cells_noun(name for name, _ in by_cell), ""), *((layout, family.part_help(layout)) for layout in shown)]
    return table("Layouts before and after the proposal", head, lines, kind="fl-layouts")


def _knob_cell(row: KnobRow | None, label: str) -> str:
    if row is None:
        return cell(label, '<span class="fl-old">–</span>', "fl-knob")
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
    return cell(label, parts + guard, "fl-knob")


def repairs_table(repairs: Sequence[Repair], family: Family) -> str:
    """What the guard changed, and why."""
    lines = [
        f'<tr><th scope="row">{cell_label(repair.cell)}</th><td>{escape(family.setting_label(repair.knob))}</td>'
        f'<td class="num">{share(repair.proposed)}</td><td class="num">{share(repair.used)}</td>'
        f"<td>{escape(repair.reason)}</td></tr>"
        for repair in repairs
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
        cells = "".join(f'<td class="num">{value}</td>' for value in values)
        parts = ", ".join(part if value == 1 else f"{share(value)} {part}" for part, value in parts_of[name].items())
        cells += f"<td>{escape(parts)}</td>" if mixed else ""
        lines.append(f'<tr><th scope="row">{cell_label(name)}</th>{cells}</tr>')
    heads = knob_heads(family)
    html = table(
        "Environment config",
        [(family.title(config), ""), *heads, *([LAYOUT_HEAD] if mixed else [])],
        lines,
        numbers=[name for name, _ in heads],
    )
    return html + "".join(f"<p>{note}</p>" for note in family.notes(config))
