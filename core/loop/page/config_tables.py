"""Configs and repairs as HTML tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from frozenlab.engineer.schema import Repair
from frozenlab.lake.config import LAYOUTS, SCATTER, EnvironmentConfig
from frozenlab.loop.page.config_rows import KnobRow
from frozenlab.tasks.lake.view.words import LAYOUT_WORDS, MUST_WAIT_IF, STARTS_AND_GOALS
from frozenlab.tasks.lake.words import KNOBS, setting_label
from frozenlab.ui.figures import Rate, percent, size_label
from frozenlab.ui.markup import Head, cell, table

KNOB_HEADS: list[Head] = [(KNOBS[knob].label, KNOBS[knob].help) for knob in KNOBS]
LAYOUT_HEAD: Head = ("layouts", "The fraction of the boards with this layout of holes; scatter is anywhere, by chance.")


def config_table(rows: Sequence[KnobRow], measured: dict[int, Rate]) -> str:
    """Config before and after: one row a map size, three knobs, each with sign and word; repaired values carry the guard's mark.

    Args:
        measured: the valid rate of each size when the proposal was made.
    """
    by_cell = {(row.size, row.knob): row for row in rows}
    lines = []
    for size in sorted({row.size for row in rows}):
        rate = measured.get(size)
        seen = f"{percent(rate.value)} <small>of {rate.n}</small>" if rate else "–"
        cells = cell("valid rate", seen, "num") + "".join(_knob_cell(by_cell[size, knob], KNOBS[knob].label) for knob in KNOBS)
        lines.append(f'<tr><th scope="row">{size_label(size)}</th>{cells}</tr>')
    head: list[Head] = [("map size", ""), ("valid rate", "On the held-out boards of this size, when the engineer decided"), *KNOB_HEADS]
    return table("Config before and after the proposal", head, lines, kind="fl-config", numbers=("valid rate",))


def layouts_table(rows: Sequence[KnobRow]) -> str:
    """The parts of the layouts before and after, for the sizes with boards that are not scattered; empty if there is none."""
    by_cell = {(row.size, row.knob): row for row in rows if row.knob not in KNOBS}
    if not by_cell:
        return ""
    shown = [layout for layout in LAYOUTS if any(knob == layout for _, knob in by_cell)]
    lines = []
    for size in sorted({size for size, _ in by_cell}):
        cells = "".join(_knob_cell(by_cell[size, layout], layout) if (size, layout) in by_cell else "<td>–</td>" for layout in shown)
        lines.append(f'<tr><th scope="row">{size_label(size)}</th>{cells}</tr>')
    head = [("map size", ""), *((layout, LAYOUT_WORDS[layout]) for layout in shown)]
    return table("Layouts before and after the proposal", head, lines, kind="fl-layouts")


def _knob_cell(row: KnobRow, label: str) -> str:
    before = "–" if row.before is None else f"{100 * row.before:.3g} %"
    after = "–" if row.after is None else f"{100 * row.after:.3g} %"
    guard = ""
    if row.repair is not None:
        asked = f"guard: asked for {100 * row.repair.proposed:.3g} %"
        guard = f'<span class="fl-guard" title="{escape(row.repair.reason)}">{asked}</span>'
    if row.words == "same":
        parts = f'<span class="fl-old">{before}</span><span></span><span></span><span class="fl-same">same</span>'
    else:
        kind = "is-up" if row.change > 0 else "is-down"
        parts = f'<span class="fl-old">{before}</span><span>→</span><b>{after}</b><span class="fl-delta {kind}">{escape(row.words)}</span>'
    return cell(label, parts + guard, "fl-knob")


def repairs_table(repairs: Sequence[Repair]) -> str:
    """What the guard changed, and why."""
    lines = [
        f'<tr><th scope="row">{size_label(repair.size)}</th><td>{escape(setting_label(repair.knob))}</td>'
        f'<td class="num">{100 * repair.proposed:.3g} %</td><td class="num">{100 * repair.used:.3g} %</td>'
        f"<td>{escape(repair.reason)}</td></tr>"
        for repair in repairs
    ]
    head = [(name, "") for name in ("map size", "knob", "proposed", "used", "why")]
    return table("Repairs of the guard", head, lines, numbers=("proposed", "used"))


def config_list(config: EnvironmentConfig) -> str:
    """A config on its own: one row a map size; layouts, wait definition and placement where they are not the paper's."""
    mixed = any(own.layouts != SCATTER for own in config.sizes.values())
    lines = []
    for size, own in config.sizes.items():
        cells = "".join(f'<td class="num">{100 * getattr(own, knob):.3g} %</td>' for knob in KNOBS)
        layouts = ", ".join(layout if part == 1 else f"{100 * part:.3g} % {layout}" for layout, part in own.layouts.items())
        cells += f"<td>{escape(layouts)}</td>" if mixed else ""
        lines.append(f'<tr><th scope="row">{size_label(size)}</th>{cells}</tr>')
    head: list[Head] = [(f"{config.agents} agents", ""), *KNOB_HEADS, *([LAYOUT_HEAD] if mixed else [])]
    html = table("Environment config", head, lines, numbers=[name for name, _ in KNOB_HEADS])
    notes = []
    if config.wait_definition != "makespan":
        notes.append(f"A board must wait if {MUST_WAIT_IF[config.wait_definition]}.")
    if config.placement != "uniform":
        notes.append(f"Starts and goals: {STARTS_AND_GOALS[config.placement]}.")
    return html + "".join(f"<p>{note}</p>" for note in notes)
