"""Plotly figures that several pages share. Pure: data frames in, a figure and its alternative text out.

A rate is never drawn without its 95 % Wilson interval, and n stands in the hover text. Colours keep their distance under the common
colour-vision deficiencies and read on light and dark; where two faults share a hue a pattern tells them apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor, log10
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from frozenlab.base.cells import in_order
from frozenlab.base.numbers import Interval, percent
from frozenlab.tasks.families import cell_label, cells_noun
from frozenlab.tasks.words import Outcome

ARM_COLORS = ("#2484C6", "#E0662B", "#1E9E77", "#B35FC4", "#A8820A", "#7B8EA5")
"""Of the arms, runs or planners of a comparison, the same on every page and in the pictures of reports; symbols tell them apart, too."""
BEFORE_COLOR = "#7B8EA5"
AFTER_COLOR = "#2484C6"
REWARD_COLOR = "#E0662B"
CHECK_COLOR = "#1E9E77"
"""Middle tones, so that one figure reads on both themes."""
GRID_COLOR = "rgba(128, 148, 170, 0.22)"
BAND_COLOR = "rgba(86, 180, 233, 0.10)"
BAND_BLUE, BAND_GREY = "rgba(36, 132, 198, 0.20)", "rgba(123, 142, 165, 0.28)"
SIGNS = {
    "circle": "●", "diamond": "◆", "square": "■", "triangle-up": "▲", "cross": "✚", "star": "★", "x": "✖", "pentagon": "⬟", "hexagon": "⬢",
    "triangle-down": "▼", "line-ew": "━",
}  # fmt: skip
HOLLOW = {"circle": "○", "square": "□", "triangle-up": "△", "diamond": "◇", "triangle-down": "▽", "star": "☆", "pentagon": "⬠"}
PATTERN_SIGNS = {"": "■", "/": "▨", "x": "▩", ".": "▦"}
"""Of markers and bars, as letters."""
SYMBOLS = tuple(SIGNS)[:-1]
"""Markers of a series each, beside their colours."""
TITLED = 34
"""Pixels above panels that have titles."""
SPACED = {f"{half / 2:g}%": f"{half / 2:g} %" for half in range(201)}
"""How Plotly writes a rate beside an axis, and how the lab does."""
BLUES = ("#D6E8F7", "#08467C")
"""From the least to the most."""
SEAM_COLOR = "rgba(255, 255, 255, 0.7)"
OUTCOME_PATTERNS = {"edge_conflict": "/", "out_of_bounds": "/", "illegal_jump": "x", "truncated": "/", "missing_agent": ".", "valid": "."}
"""Patterns that distinguish faults of similar colours."""


@dataclass(frozen=True)
class Chart:
    """A figure with the text alternative for readers who cannot see it."""

    figure: go.Figure
    alt: str

    @cached_property
    def settled(self) -> go.Figure:
        """The figure, to be shown and not to be changed any more. Streamlit asks it for its data at every run of every viewer; it has them
        ready. Its legend stands above it on the page (:func:`frozenlab.app.ui.theme.chart`), and comes back in a saved picture
        (``figure_data.js``)."""
        named = {"meta": {"legend": True}} if self.legend else {}
        shown = self._data | {"layout": self._data["layout"] | {"showlegend": False} | named}
        self.figure.to_dict = lambda: shown
        return self.figure

    @cached_property
    def legend(self) -> list[tuple[str, str, str]]:
        """Colour, sign and name of each trace that the figure's legend names; a trace alone is named by the title."""
        entries = []
        for trace in self._data["data"]:
            if not trace.get("name") or trace.get("showlegend") is False:
                continue
            marker, line, mode = trace.get("marker", {}), trace.get("line", {}), trace.get("mode") or ""
            name = str(marker.get("symbol", "circle"))
            sign = HOLLOW.get(name.removesuffix("-open"), "○") if name.endswith("-open") else SIGNS.get(name, "●")
            if trace["type"] == "bar":
                sign = PATTERN_SIGNS.get(marker.get("pattern", {}).get("shape", ""), "■")
            elif mode == "lines":
                sign = "┄" if line.get("dash", "solid") != "solid" else "—"
            entries.append((str(marker.get("color") or line.get("color")), sign, trace["name"]))
        shown = self._data["layout"].get("showlegend")
        return entries if shown or (len(entries) > 1 and shown is None) else []

    @cached_property
    def _data(self) -> dict[str, Any]:
        return self.figure.to_dict()


@dataclass(frozen=True)
class Series:
    """The validation of one moment of a session (before training, after stage 1, ...)."""

    label: str
    validation: pd.DataFrame


def size_label(size: int) -> str:
    return f"{size}×{size}"


def tick_label(cell: str) -> str:
    """A cell below an axis: a team of several stands on a line of its own, so that the labels stay level.

    >>> tick_label("6"), tick_label("3@6")
    ('6×6', '3 on<br>6×6')
    """
    return cell_label(cell).replace(" on ", " on<br>").replace(", ", ",<br>")


def overall(validation: pd.DataFrame, column: str = "valid") -> Interval:
    """The rate over all boards of a validation."""
    return Interval.of(int(validation[column].sum()), len(validation))


def overall_by_cell(validation: pd.DataFrame, column: str = "valid") -> dict[str, Interval]:
    """The rate on each cell."""
    return {str(cell): overall(rows, column) for cell, rows in validation.groupby("config_cell")}


# --- what figures are made of ----------------------------------------------------------------------------------------


def whiskers(
    rates: Iterable[Interval], color: str | None = None, *, scale: float = 1.0, thickness: float = 1.6, width: int = 4
) -> dict[str, Any]:
    """The 95 % intervals of a trace, as its ``error_x`` or ``error_y``; nothing where bounds are not known.

    Args:
        scale: of the axis; 100 where it counts points.
    """
    known = [(rate.value - rate.low, rate.high - rate.value) if rate.known else (0.0, 0.0) for rate in rates]
    return dict(
        type="data", symmetric=False, array=[scale * above for _, above in known], arrayminus=[scale * below for below, _ in known],
        thickness=thickness, width=width, color=color,
    )  # fmt: skip


def dots(
    x: Iterable[float], rates: Sequence[Interval], title: str, measure: str = "valid", lead: Sequence[Sequence[object]] = (), **look: Any
) -> go.Scatter:
    """Rates at the places ``x``; on hover, each below ``title`` with its interval and n.

    Args:
        lead: what the ``customdata`` of each dot begins with, for ``title`` and for clicks.
    """
    hover = [[*(lead[i] if lead else ()), rate.percent, rate.percents, rate.n, rate.low, rate.high] for i, rate in enumerate(rates)]
    at = len(lead[0]) if lead else 0
    return go.Scatter(
        x=list(x), y=[rate.value for rate in rates], customdata=hover, meta=[*[""] * (at + 3), "low", "high"],
        hovertemplate=f"{title}<br><b>%{{customdata[{at}]}}</b> {measure}<br>95 % interval %{{customdata[{at + 1}]}}"
        f"<br>n = %{{customdata[{at + 2}]}}<extra></extra>",
        **look,
    )  # fmt: skip


def band(x: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> go.Scatter:
    """The area between two lines."""
    around, ends = [*x, *reversed(x)], [*highs, *reversed(lows)]
    return go.Scatter(
        x=around, y=ends, fill="toself", fillcolor=BAND_BLUE, mode="lines", line=dict(width=0), hoverinfo="skip", showlegend=False
    )


def outcome_look(name: str, outcome: Outcome) -> dict[str, Any]:
    """The ``marker`` of an outcome's bars: its colour, with a pattern where a fault has a similar colour."""
    pattern = dict(shape=OUTCOME_PATTERNS.get(name, ""), fillmode="overlay", fgcolor=SEAM_COLOR, size=7, solidity=0.25)
    return dict(color=outcome.color, line=dict(width=0.5, color=SEAM_COLOR), pattern=pattern)


def percent_axis(figure: go.Figure, title: str, lowest: float = 0.0, **place: int) -> None:
    """A scale to 100 %, of all panels or of the one at ``row`` and ``col``.

    Args:
        title: what it counts, beside the first panel.
        lowest: what has to be on it; it begins at the quarter below.
    """
    begin = floor(4 * lowest) / 4
    step = 0.25 if begin < 0.5 else 0.1
    ticks = [round(1 - step * i, 2) for i in range(5) if 1 - step * i >= begin - 0.01]
    figure.update_yaxes(range=[begin - 0.02, 1.02], tickformat=".0%", tickvals=ticks, gridcolor=GRID_COLOR, zeroline=False, **place)
    figure.layout.yaxis.title.text = title


def cell_axis(figure: go.Figure, cells: Sequence[str], **place: int) -> None:
    """An axis with a place for each cell, of all panels or of the one at ``row`` and ``col``."""
    figure.update_xaxes(
        tickvals=list(range(len(cells))), ticktext=list(map(tick_label, cells)), range=[-0.6, len(cells) - 0.4], showgrid=False,
        zeroline=False, title=dict(text=cells_noun(cells), standoff=4), **place,
    )  # fmt: skip


def round_step(least: float) -> int:
    """The smallest step between the ticks of a count that is at least ``least``: 1, 2 or 5 times a power of ten."""
    power = 10 ** max(0, floor(log10(max(least, 1))))
    return next(step for step in (power, 2 * power, 5 * power, 10 * power) if step >= least)


def common_layout(figure: go.Figure, height: int, top: int = 12) -> None:
    """The common layout of figures: small margins, a bare toolbar, stable zoom, and in a saved picture the legend at the top."""
    axis = {"labelalias": SPACED}
    figure.update_layout(
        template_layout=dict(xaxis=axis, yaxis=axis),
        height=height, margin=dict(l=8, r=8, t=top, b=8), hoverlabel=dict(align="left"), dragmode=False, uirevision="keep",
        legend=dict(orientation="h", yref="container", yanchor="top", y=1, x=0, xanchor="left", traceorder="normal"),
    )  # fmt: skip


# --- the held-out boards of one moment and another ---------------------------------------------------------------------


def rates_by_cell(before: Series | None, after: Series) -> Chart:
    """Valid and optimal rate by cell, before (hollow) and after (filled), with intervals; two panels of one scale.

    ``customdata`` of each point begins with its cell, for pages that follow a click down to the boards.
    """
    figure = make_subplots(rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.04, subplot_titles=("valid", "optimal"))
    drawn = [(before, BEFORE_COLOR, "circle-open", -0.13)] if before else []
    drawn.append((after, AFTER_COLOR, "circle", 0.13 if before else 0.0))
    cells = in_order(cell for series, *_ in drawn for cell in series.validation["config_cell"])
    lowest = 1.0
    for series, color, symbol, shift in drawn:
        for column, metric in enumerate(("valid", "optimal"), start=1):
            found = overall_by_cell(series.validation, metric)
            lowest = min(lowest, *(rate.low for rate in found.values()))
            trace = dots(
                [cells.index(cell) + shift for cell in found], list(found.values()), f"%{{customdata[1]}}, {series.label}", metric,
                [(cell, cell_label(cell)) for cell in found],
                error_y=whiskers(found.values(), color), mode="markers", cliponaxis=False,
                marker=dict(color=color, size=10, symbol=symbol, line=dict(width=2, color=color)),
                name=series.label, legendgroup=series.label, showlegend=column == 1,
            )  # fmt: skip
            figure.add_trace(trace, row=1, col=column)
    cell_axis(figure, cells)
    percent_axis(figure, "share of boards", lowest)
    common_layout(figure, height=300, top=TITLED)
    return Chart(figure, f"Valid and optimal rate by {cells_noun(cells)}. " + " ".join(map(_in_words, (series for series, *_ in drawn))))


def _in_words(series: Series) -> str:
    found = overall_by_cell(series.validation)
    line = ", ".join(f"{cell_label(cell)} {found[cell].percent}" for cell in in_order(found))
    return f"{series.label}: valid {line} (n = {len(series.validation)})."


def faults_by_cell(panels: Sequence[Series], outcomes: Mapping[str, Outcome]) -> Chart:
    """Outcomes of all boards by cell as stacked shares, a bar a cell and one panel a moment, same order and scale in each. The bars lie, so
    that a phone can show them whole however many there are.

    ``customdata`` of each bar begins with ``[cell, outcome, boards, n]``.

    Args:
        outcomes: of the task, by name, in the order in which they are stacked.
    """
    figure = make_subplots(
        rows=1, cols=len(panels), shared_yaxes=True, horizontal_spacing=0.13, subplot_titles=[panel.label for panel in panels]
    )
    named: set[str] = set()
    worst_faults, order = [], list(outcomes)
    for column, panel in enumerate(panels, start=1):
        counts = pd.crosstab(panel.validation["config_cell"], panel.validation["outcome"])
        counts = counts.loc[in_order(counts.index)]
        totals = counts.sum(axis=1)
        for outcome in (name for name in order if name in counts.columns):
            boards = counts[outcome]
            words = outcomes[outcome].label
            figure.add_trace(
                go.Bar(
                    x=boards / totals,
                    y=list(map(cell_label, counts.index)),
                    orientation="h",
                    name=words,
                    legendgroup=outcome,
                    legendrank=order.index(outcome),
                    showlegend=outcome not in named,
                    marker=outcome_look(outcome, outcomes[outcome]),
                    meta=["", "", "boards", "n"],
                    customdata=[
                        [cell, outcome, had := int(boards[cell]), of := int(totals[cell]), cell_label(cell), percent(had / of, of)]
                        for cell in counts.index
                    ],
                    hovertemplate=f"%{{customdata[4]}}, {panel.label}<br><b>{words}</b>: "
                    "%{customdata[2]} of %{customdata[3]} boards (%{customdata[5]})<extra></extra>",
                ),
                row=1,
                col=column,
            )  # fmt: skip
            named.add(outcome)
        worst = panel.validation.loc[panel.validation["fault"].notna(), "outcome"].value_counts()
        if len(worst):
            worst_faults.append(f"{panel.label}: most often {outcomes[str(worst.index[0])].label} ({worst.iloc[0]} boards)")
        else:
            worst_faults.append(f"{panel.label}: no fault")
    cells = {cell for panel in panels for cell in panel.validation["config_cell"]}
    noun = cells_noun(cells)
    figure.update_layout(barmode="stack", bargap=0.18)
    figure.update_xaxes(range=[0, 1], tickformat=".0%", tickvals=[0, 0.5, 1], gridcolor=GRID_COLOR, zeroline=False, title="share of boards")
    figure.update_yaxes(autorange="reversed", showgrid=False, ticksuffix=" ")
    figure.layout.yaxis.title.text = noun
    common_layout(figure, height=max(300, 100 + 26 * len(cells)), top=TITLED)
    figure.update_layout(margin_r=20)  # half of the last "100%"
    return Chart(figure, f"What became of the boards by {noun}. " + "; ".join(worst_faults) + ".")
