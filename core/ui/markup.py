"""Small pieces of HTML that pages put together. Every text that enters is escaped, so that model text stays text."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from html import escape
from typing import Literal

import streamlit as st

from frozenlab.engineer.schema import SECTIONS, Context, Evidence, Repair
from frozenlab.lake.config import KNOBS, LAYOUTS, SCATTER, EnvironmentConfig
from frozenlab.ui.figures import Rate, percent, size_label
from frozenlab.ui.nav import asset
from frozenlab.ui.plain import plain as plain
from frozenlab.ui.story import (
    KNOB_HELP,
    KNOB_LABELS,
    LAYOUT_WORDS,
    MUST_WAIT_IF,
    STARTS_AND_GOALS,
    ClaimOutcome,
    KnobRow,
    signed,
)

SECTION_HELP = {
    "behaviour": "how training went: reward or score, length, entropy, and the sampled plans of each map size",
    "failures": "first faults on the held-out boards of each map size, with worked cases",
    "statistics": "the config, and what was really drawn from it",
    "preserved": "map sizes that already work and still teach",
    "history": "the last proposal and what became of it",
}


def styles() -> None:
    """The classes used here, in the colours that :func:`frozenlab.ui.theme.frame` names. Once a page, before the first piece."""
    st.html(f"<style>{asset('records.css')}</style>")


def quote(text: str, speaker: str) -> str:
    """Words of a model, visibly not the app's."""
    return f'<blockquote class="fl-quote"><p>{escape(text)}</p><footer>{escape(speaker)}</footer></blockquote>'


def chips(ids: Sequence[str]) -> str:
    """Evidence ids as they can be cited."""
    return "".join(f'<code class="fl-chip">{escape(name)}</code>' for name in ids)


def evidence_sections(context: Context, cited: Collection[str]) -> dict[str, str]:
    """Section -> its lines as HTML; a section that was off has an empty text. Cited lines are marked."""
    return {section: "".join(_line(line, line.id in cited) for line in context.sections.get(section, ())) for section in SECTIONS}


def _line(line: Evidence, cited: bool) -> str:
    mark = '<span class="fl-cited" title="The proposal cites this line">cited</span>' if cited else ""
    kind = "fl-evidence is-cited" if cited else "fl-evidence"
    return f'<div class="{kind}">{chips([line.id])}<span>{escape(line.text)} {mark}</span></div>'


Head = tuple[str, str]
"""Name of a column and what it says on hover (empty: nothing)."""


def _table(caption: str, head: Sequence[Head], rows: Sequence[str], kind: str = "", numbers: Collection[str] = ()) -> str:
    """A table of finished ``<tr>`` rows; columns named in ``numbers`` are set to the right."""
    cells = "".join(
        f'<th scope="col" class="{"num" if name in numbers else ""}" title="{escape(hint)}">{escape(name)}</th>' for name, hint in head
    )
    return (
        f'<div class="fl-scroll"><table class="fl-table {kind}"><caption class="fl-hidden">{escape(caption)}</caption>'
        f"<thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


KNOB_HEADS: list[Head] = [(KNOB_LABELS[knob], KNOB_HELP[knob]) for knob in KNOBS]
LAYOUT_HEAD: Head = ("layouts", "Part of the boards whose holes lie like that; scatter is anywhere, by chance.")


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
        cells = _cell("valid rate", seen, "num") + "".join(_knob_cell(by_cell[size, knob], KNOB_LABELS[knob]) for knob in KNOBS)
        lines.append(f'<tr><th scope="row">{size_label(size)}</th>{cells}</tr>')
    head: list[Head] = [("map size", ""), ("valid rate", "On the held-out boards of this size, when the engineer decided"), *KNOB_HEADS]
    return _table("Config before and after the proposal", head, lines, kind="fl-config", numbers=("valid rate",))


def layouts_table(rows: Sequence[KnobRow]) -> str:
    """The parts of the layouts before and after, for the sizes whose boards are not all scattered; empty if there is none."""
    by_cell = {(row.size, row.knob): row for row in rows if row.knob not in KNOBS}
    if not by_cell:
        return ""
    shown = [layout for layout in LAYOUTS if any(knob == layout for _, knob in by_cell)]
    lines = []
    for size in sorted({size for size, _ in by_cell}):
        cells = "".join(_knob_cell(by_cell[size, layout], layout) if (size, layout) in by_cell else "<td>–</td>" for layout in shown)
        lines.append(f'<tr><th scope="row">{size_label(size)}</th>{cells}</tr>')
    head = [("map size", ""), *((layout, LAYOUT_WORDS[layout]) for layout in shown)]
    return _table("Layouts before and after the proposal", head, lines, kind="fl-layouts")


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
    return _cell(label, parts + guard, "fl-knob")


def claims_table(outcomes: Sequence[ClaimOutcome], seen: Collection[str] | None = None) -> str:
    """The claims, quoted, with what they cite, the change that they predict and, once the next stage has tested it, the change that came.

    Args:
        seen: ids of the lines that the engineer saw, if that is known; a claim that cites another one is marked.
    """
    tested = any(outcome.measured is not None for outcome in outcomes)
    head: list[Head] = [
        ("map size", ""),
        ("claim", "The claim in English; the exact words are in the raw answer"),
        ("cites", "The lines of evidence that it names"),
        ("predicted", "Change of the valid rate on the held-out boards of this size that it expects from the next stage, in points"),
    ]
    if tested:
        head += [
            ("measured", "Change that the next stage brought on the same boards, in points, with its 95 % interval"),
            ("off by", "Predicted less measured change, in points; in small letters: how far the prediction that nothing changes is off"),
        ]
    rows = [_claim_row(outcome, seen, tested) for outcome in outcomes]
    return _table(
        "Claims of the engineer and what became of them", head, rows, kind="fl-claims", numbers=("predicted", "measured", "off by")
    )


def _claim_row(outcome: ClaimOutcome, seen: Collection[str] | None, tested: bool) -> str:
    claim, came, off = outcome.claim, outcome.measured, outcome.off
    cells = [_cell("claim", escape(claim.text), "fl-said"), _cell("cites", _cites(claim.evidence, seen))]
    cells.append(_cell("predicted", "no number" if outcome.predicted is None else f"<b>{signed(outcome.predicted)}</b>", "num"))
    if tested:
        cells.append(_cell("measured", f"<b>{signed(came.value)}</b> <small>{came.interval}, n = {came.n}</small>" if came else "–", "num"))
        naive = f" <small>no change: {abs(100 * came.value):.1f}</small>" if came else ""
        cells.append(_cell("off by", "–" if off is None else f"<b>{abs(100 * off):.1f}</b>{naive}", "num"))
    return f'<tr><th scope="row">{size_label(claim.size)}</th>{"".join(cells)}</tr>'


def _cell(label: str, html: str, kind: str = "") -> str:
    """A cell that is told apart by its label where a narrow screen shows rows as cards."""
    return f'<td class="{kind}" data-label="{escape(label)}">{html}</td>'


def _cites(ids: Sequence[str], seen: Collection[str] | None) -> str:
    """What a claim rests on, or that it rests on nothing."""
    if not ids:
        return '<span class="fl-unfounded" title="The claim names no line of the evidence">cites nothing</span>'
    invented = [name for name in ids if seen is not None and name not in seen]
    there = chips([name for name in ids if name not in invented])
    return there + "".join(
        f'<span class="fl-unfounded" title="There was no such line in what it saw">{escape(name)}: not seen</span>' for name in invented
    )


def repairs_table(repairs: Sequence[Repair]) -> str:
    """What the guard changed, and why."""
    lines = [
        f'<tr><th scope="row">{size_label(repair.size)}</th><td>{escape(KNOB_LABELS.get(repair.knob, f"{repair.knob} boards"))}</td>'
        f'<td class="num">{100 * repair.proposed:.3g} %</td><td class="num">{100 * repair.used:.3g} %</td>'
        f"<td>{escape(repair.reason)}</td></tr>"
        for repair in repairs
    ]
    head = [(name, "") for name in ("map size", "knob", "proposed", "used", "why")]
    return _table("Repairs of the guard", head, lines, numbers=("proposed", "used"))


def config_list(config: EnvironmentConfig) -> str:
    """A config on its own: one row a map size; layouts, wait definition and placement where they are not the paper's."""
    mixed = any(cell.layouts != SCATTER for cell in config.sizes.values())
    lines = []
    for size, cell in config.sizes.items():
        cells = "".join(f'<td class="num">{100 * getattr(cell, knob):.3g} %</td>' for knob in KNOBS)
        layouts = ", ".join(layout if part == 1 else f"{100 * part:.3g} % {layout}" for layout, part in cell.layouts.items())
        cells += f"<td>{escape(layouts)}</td>" if mixed else ""
        lines.append(f'<tr><th scope="row">{size_label(size)}</th>{cells}</tr>')
    head: list[Head] = [(f"{config.agents} agents", ""), *KNOB_HEADS, *([LAYOUT_HEAD] if mixed else [])]
    table = _table("Environment config", head, lines, numbers=[name for name, _ in KNOB_HEADS])
    notes = []
    if config.wait_definition != "makespan":
        notes.append(f"A board must wait if {MUST_WAIT_IF[config.wait_definition]}.")
    if config.placement != "uniform":
        notes.append(f"Starts and goals: {STARTS_AND_GOALS[config.placement]}.")
    return table + "".join(f"<p>{note}</p>" for note in notes)


StepState = Literal["done", "now", "next"]
STEP_WORDS: dict[StepState, str] = {"done": "done", "now": "now", "next": "to come"}


def steps(steps: Sequence[tuple[str, str, StepState, str]]) -> str:
    """What happens one after the other: title, explanation, state and clock of each."""
    lines = (
        f'<li class="is-{state}"><b>{escape(title)}</b> <span class="fl-clock">{escape(clock or STEP_WORDS[state])}</span>'
        f"<p>{escape(what)}</p></li>"
        for title, what, state, clock in steps
    )
    return f'<ol class="fl-steps">{"".join(lines)}</ol>'


def log(events: Sequence[tuple[float, str]]) -> str:
    """Lines of a log with their local time; the keyboard can scroll a long one."""
    lines = (f"<div><time>{time.strftime('%H:%M:%S', time.localtime(moment))}</time>{escape(words)}</div>" for moment, words in events)
    return f'<div class="fl-log" role="log" aria-label="Log" tabindex="0">{"".join(lines)}</div>'
