"""Small pieces of HTML that pages put together. Every text that enters is escaped, so that model text stays text."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from html import escape

import streamlit as st

from core.engineer.schema import SECTIONS, Context, Evidence, Repair
from core.lake.config import KNOBS, EnvironmentConfig
from core.ui.figures import Rate, percent, size_label
from core.ui.nav import ROOT
from core.ui.story import KNOB_HELP, KNOB_LABELS, ClaimOutcome, KnobRow
from core.ui.theme import AGENT_COLORS, DARK, palette

SECTION_HELP = {
    "behaviour": "how training went: reward, length, entropy, and the sampled plans of each map size",
    "failures": "first faults on the held-out boards of each map size, with worked cases",
    "statistics": "the config, and what was really drawn from it",
    "preserved": "map sizes that already work and still teach",
    "history": "the last proposal and what became of it",
}
VERDICT_SIGNS = {
    "as expected": "✓", "better than expected": "▲", "worse than expected": "▼", "not measured yet": "…", "names no number": "–",
}  # fmt: skip


def styles() -> None:
    """The classes used here, in the colours of the theme shown now. Once a page, before the first piece."""
    colors = palette()
    names = {"line": colors.line, "text": colors.text, "muted": colors.muted, "accent": colors.accent, "good": colors.good, "surface": colors.surface}
    names["blue"] = AGENT_COLORS[4] if colors.ground == DARK.ground else AGENT_COLORS[0]
    variables = "".join(f"--fl-{name}:{color};" for name, color in names.items())
    st.html(f"<style>:root{{{variables}}}{(ROOT / 'assets' / 'records.css').read_text(encoding='utf-8')}</style>")


def plain(text: str) -> str:
    """Text for ``st.markdown`` in which markdown has nothing to find: words of a model or a file stay words."""
    return "".join("\\" + letter if letter in r"\`*_{}[]()<>#+-.!|~$:" else letter for letter in text)


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
    return f'<div class="fl-evidence{" is-cited" if cited else ""}"><code class="fl-chip">{escape(line.id)}</code><span>{escape(line.text)} {mark}</span></div>'


def config_table(rows: Sequence[KnobRow], measured: dict[int, Rate] | None = None) -> str:
    """Config before and after: one row a map size, three knobs, each with sign and word; repaired values carry the guard's mark.

    Args:
        measured: the valid rate of each size when the proposal was made.
    """
    sizes = sorted({row.size for row in rows})
    by_cell = {(row.size, row.knob): row for row in rows}
    head = "".join(f'<th scope="col" title="{escape(KNOB_HELP[knob])}">{escape(KNOB_LABELS[knob])}</th>' for knob in KNOBS)
    lines = []
    for size in sizes:
        cells = "".join(_knob_cell(by_cell[size, knob]) for knob in KNOBS)
        seen = ""
        if measured is not None:
            rate = measured.get(size)
            seen = f'<td class="num">{percent(rate.value)} <small>of {rate.n}</small></td>' if rate else '<td class="num">–</td>'
        lines.append(f'<tr><th scope="row">{size_label(size)}</th>{seen}{cells}</tr>')
    seen_head = "" if measured is None else '<th scope="col" class="num" title="Valid rate on the held-out boards when it decided">valid then</th>'
    return (
        f'<div class="fl-scroll"><table class="fl-table fl-config"><caption class="fl-hidden">Config before and after the proposal</caption>'
        f'<thead><tr><th scope="col">map size</th>{seen_head}{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )


def _knob_cell(row: KnobRow) -> str:
    before = "–" if row.before is None else f"{100 * row.before:.3g} %"
    after = "–" if row.after is None else f"{100 * row.after:.3g} %"
    guard = ""
    if row.repair is not None:
        guard = f'<span class="fl-guard" title="{escape(row.repair.reason)}">guard: asked for {100 * row.repair.proposed:.3g} %</span>'
    if row.words == "same":
        return f'<td class="fl-knob"><span class="fl-old">{before}</span><span></span><span></span><span class="fl-same">same</span>{guard}</td>'
    kind = "is-up" if row.change > 0 else "is-down"
    return (
        f'<td class="fl-knob"><span class="fl-old">{before}</span><span class="fl-arrow">→</span><b>{after}</b>'
        f'<span class="fl-delta {kind}">{escape(row.words)}</span>{guard}</td>'
    )


def claims_table(outcomes: Sequence[ClaimOutcome]) -> str:
    """The claims, quoted, with what they cite, what they expected and what the next stage measured."""
    lines = []
    for outcome in outcomes:
        claim = outcome.claim
        expected = "–" if claim.expected is None else percent(claim.expected)
        now = "–" if claim.now is None else percent(claim.now)
        found = outcome.measured
        measured = f"<b>{percent(found.value)}</b> <small>{found.interval}, n = {found.n}</small>" if found else "–"
        kind = {"better than expected": "is-up", "worse than expected": "is-down", "as expected": "is-met"}.get(outcome.verdict, "")
        lines.append(
            f'<tr><th scope="row">{size_label(claim.size)}</th><td class="fl-said">{escape(claim.text)}</td><td>{chips(claim.evidence) or "–"}</td>'
            f'<td class="num">{now}</td><td class="num">{expected}</td><td class="num">{measured}</td>'
            f'<td class="fl-verdict {kind}">{VERDICT_SIGNS[outcome.verdict]} {escape(outcome.verdict)}</td></tr>'
        )
    return (
        '<div class="fl-scroll"><table class="fl-table"><caption class="fl-hidden">Claims of the engineer and what became of them</caption><thead><tr>'
        '<th scope="col">map size</th><th scope="col" title="The claim in English; the exact words are in the raw answer">claim</th><th scope="col">cites</th>'
        '<th scope="col" title="Valid rate as the engineer read it">read</th><th scope="col" title="Valid rate it expects after the next stage">expects</th>'
        '<th scope="col" title="Valid rate on the held-out boards after the next stage, with its 95 % Wilson interval">measured next</th>'
        f'<th scope="col">verdict</th></tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )


def repairs_table(repairs: Sequence[Repair]) -> str:
    """What the guard changed, and why."""
    lines = "".join(
        f'<tr><th scope="row">{size_label(repair.size)}</th><td>{escape(KNOB_LABELS[repair.knob])}</td><td class="num">{100 * repair.proposed:.3g} %</td>'
        f'<td class="num">{100 * repair.used:.3g} %</td><td>{escape(repair.reason)}</td></tr>'
        for repair in repairs
    )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("map size", "knob", "proposed", "used", "why"))
    return f'<div class="fl-scroll"><table class="fl-table"><caption class="fl-hidden">Repairs of the guard</caption><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'


def config_list(config: EnvironmentConfig) -> str:
    """A config on its own: one row a map size."""
    head = "".join(f'<th scope="col" class="num" title="{escape(KNOB_HELP[knob])}">{escape(KNOB_LABELS[knob])}</th>' for knob in KNOBS)
    lines = "".join(
        f'<tr><th scope="row">{size_label(size)}</th>' + "".join(f'<td class="num">{100 * getattr(cell, knob):.3g} %</td>' for knob in KNOBS) + "</tr>"
        for size, cell in config.sizes.items()
    )
    return (
        f'<div class="fl-scroll"><table class="fl-table"><caption class="fl-hidden">Environment config, {config.agents} agents</caption>'
        f'<thead><tr><th scope="col">{config.agents} agents</th>{head}</tr></thead><tbody>{lines}</tbody></table></div>'
    )


def log(events: Sequence[tuple[float, str]]) -> str:
    """Lines of a log with their local time."""
    lines = (f"<div><time>{time.strftime('%H:%M:%S', time.localtime(moment))}</time>{escape(words)}</div>" for moment, words in events)
    return f'<div class="fl-log">{"".join(lines)}</div>'
