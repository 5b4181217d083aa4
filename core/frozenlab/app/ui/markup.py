"""Small pieces of HTML for pages. Every text is escaped, so that model text stays text."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from frozenlab.app.ui.components import component, text_of
from frozenlab.base.numbers import UNKNOWN, number, typeset, unbroken
from frozenlab.engineer.schema import Context, Evidence

if TYPE_CHECKING:  # the server starts with this module
    import pandas as pd

RECORDS = text_of(__file__, "records.css")
Head = tuple[str, str]
"""The name of a column, and its help on hover (empty: none)."""
StepState = Literal["done", "now", "next"]
STEP_WORDS: dict[StepState, str] = {"done": "done", "now": "now", "next": "to come"}
_cited = component(__file__, "cited", '<div class="cited"></div>', styles=RECORDS)
ALIVE = re.compile(r"https?:(?=//)|www(?=\.)|@|:(?=\d*[a-z_+/-][\w+/-]*:)", re.IGNORECASE)
"""The beginnings of texts that Streamlit turns into links and pictures, escaped or not."""
AT_RIGHT = "\u061c\u2066{}\u2069"
"""The grid of Streamlit puts a head to the right only if it begins with an Arabic letter: here with the mark that has no width, and what
follows reads from left to right again."""
JOINER = "\u2060"
"""Has no width and breaks no line; an address that contains it is not a link, and the name of an icon no icon."""


def answer(html: str, note: str = "") -> None:
    """The largest thing on a page, and what is said of it below. Both are the page's own words as HTML, with nothing unescaped in them."""
    below = f'<p class="fl-note">{unbroken(note)}</p>' if note else ""
    st.html(f'<p class="fl-answer">{unbroken(html)}</p>{below}')


def quote(text: str, speaker: str) -> str:
    """Text of a model, marked as not the app's own."""
    return f'<blockquote class="fl-quote"><p>{escape(unbroken(typeset(text)))}</p><footer>{escape(speaker)}</footer></blockquote>'


def chips(ids: Sequence[str]) -> str:
    """Evidence ids as they can be cited."""
    return "".join(f'<code class="fl-chip">{escape(name)}</code>' for name in ids)


def evidence_sections(context: Context, cited: Collection[str]) -> dict[str, str]:
    """The lines of each section that was on, as HTML. Cited lines are marked."""
    return {section: "".join(evidence_line(line, line.id in cited) for line in lines) for section, lines in context.sections.items()}


def evidence_line(line: Evidence, cited: bool = False) -> str:
    """One line of evidence with its id."""
    mark = '<span class="fl-cited" title="The proposal cites this line">cited</span>' if cited else ""
    kind = "fl-evidence is-cited" if cited else "fl-evidence"
    return f'<div class="{kind}">{chips([line.id])}<span>{escape(unbroken(typeset(line.text)))} {mark}</span></div>'


def table(
    caption: str,
    head: Sequence[Head],
    rows: Iterable[Sequence[str]],
    kind: str = "",
    numbers: Collection[str] = (),
    looks: Mapping[str, str] | None = None,
) -> str:
    """A table of finished HTML, a row's heading first. A narrow screen shows rows as cards where ``kind`` says so, with the columns' names.

    Args:
        numbers: columns that are right-aligned.
        looks: CSS class of the cells of other columns.
    """
    classes = dict.fromkeys(numbers, "num") | dict(looks or {})
    cells = "".join(
        f'<th scope="col" class="{"num" if name in numbers else ""}" title="{escape(hint)}">{escape(name)}</th>' for name, hint in head
    )

    def line(heading: str, *parts: str) -> str:
        named = zip((name for name, _ in head[1:]), parts, strict=True)
        inside = "".join(f'<td class="{classes.get(name, "")}" data-label="{escape(name)}">{unbroken(part)}</td>' for name, part in named)
        return f'<tr><th scope="row">{heading}</th>{inside}</tr>'

    return (
        f'<div class="fl-scroll"><table class="fl-table {kind}"><caption class="fl-hidden">{escape(caption)}</caption>'
        f"<thead><tr>{cells}</tr></thead><tbody>{''.join(line(*row) for row in rows)}</tbody></table></div>"
    )


def data_table(
    caption: str, frame: pd.DataFrame, *, hints: Mapping[str, str] | None = None, decimals: Mapping[str, int] | None = None,
    bars: Sequence[str] = (),
) -> None:  # fmt: skip
    """A data frame of some rows as a table, of which nothing is sorted or chosen; numbers stand at the right.

    Args:
        hints: help on hover of columns.
        decimals: of columns of fractions; of others as many as they need, four at most.
        bars: columns of numbers from zero on, each with a bar before it; all have one scale.
    """
    numbers = list(frame.select_dtypes("number"))
    longest = max((float(frame[name].max()) for name in bars), default=0.0) or 1.0

    def column(name: str) -> list[str]:
        if name not in numbers:
            return [escape(str(value)) for value in frame[name].fillna(UNKNOWN)]
        places = (decimals or {}).get(name, max(map(needed, frame[name].dropna()), default=0))
        cells = [f'<data value="{value}">{number(float(value), places)}</data>' for value in frame[name]]
        return [bar(value / longest) + cell for cell, value in zip(cells, frame[name], strict=True)] if name in bars else cells

    head = [(str(name), (hints or {}).get(name, "")) for name in frame]
    rows = zip(*(column(name) for name in frame), strict=True)
    st.html(table(caption, head, rows, "fl-data fl-bars fl-cards is-folding", numbers))


def needed(value: float) -> int:
    """The decimals that a number needs, four at most: 0.25 needs two."""
    return len(f"{value:.4f}".rstrip("0").partition(".")[2])


def bar(part: float) -> str:
    """A bar as long as ``part`` of the whole width."""
    return f'<i class="fl-mix-bar" aria-hidden="true"><i class="is-up" style="width:{100 * max(part, 0):.0f}%"></i></i>'


def grid(frame: pd.DataFrame, *, column_config: Mapping[str, Any] | None = None, **look: Any) -> Any:
    """``st.dataframe`` where rows are sorted or chosen: no index, and the head of a column of numbers at the right, as its numbers are."""
    config = dict(column_config or {})
    for name in frame.select_dtypes("number"):
        own = config.get(name) or {}
        config[name] = {**own, "label": AT_RIGHT.format(own.get("label") or name)}
    return st.dataframe(frame, column_config=config, hide_index=True, **look)


def table_height(rows: int, most: int) -> int:
    """Pixels of a table's head and so many rows, so that none stands empty below them; one that is higher than ``most`` scrolls."""
    return min(35 * (rows + 1) + 3, most)


def steps(steps: Sequence[tuple[str, str, StepState, str]]) -> str:
    """Steps in order: the title, explanation, state and clock of each."""
    lines = (
        f'<li class="is-{state}"><b>{escape(title)}</b> <span class="fl-clock">{escape(clock or STEP_WORDS[state])}</span>'
        f"<p>{escape(what)}</p></li>"
        for title, what, state, clock in steps
    )
    return f'<ol class="fl-steps">{"".join(lines)}</ol>'


def log(events: Sequence[tuple[float, str]]) -> str:
    """Lines of a log with their local time; the keyboard can scroll a long one."""
    lines = (
        f"<div><time>{time.strftime('%H:%M:%S', time.localtime(moment))}</time>{escape(unbroken(words))}</div>" for moment, words in events
    )
    return f'<div class="fl-log" role="log" aria-label="Log" tabindex="0">{"".join(lines)}</div>'


def cited(html: str, *, key: str, on_pick: Callable[[str], None]) -> None:
    """Show a piece of :mod:`frozenlab.app.ui.markup`; ``on_pick`` is called with the clicked evidence id."""

    def picked() -> None:
        on_pick(str(st.session_state[key].picked))

    _cited(key=key, data={"html": html}, on_picked_change=picked, height="content")


def picture(svg: str, key: str, wide: bool = True, on_phone: str = "") -> None:
    """A picture that has the letters and the colour of the page's words; a wide one is pushed through on a phone, which shows
    ``on_phone`` instead where that is given."""
    html = f'<div class="fl-picture{" is-wide" * wide}" tabindex="0">{svg}</div>'
    if on_phone:
        html = f'<div class="fl-not-on-phone">{html}</div><div class="fl-picture fl-on-phone">{on_phone}</div>'
    _cited(key=key, data={"html": html}, height="content")


def plain(text: str) -> str:
    """The text without any Markdown: it is shown to the letter, and its addresses are not links."""
    text = ALIVE.sub(rf"\g<0>{JOINER}", text)
    return "".join("\\" + letter if letter in r"\`*_{}[]()<>#+-.!|~$:&" else letter for letter in text)
