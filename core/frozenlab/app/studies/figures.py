"""The plots of the Studies page: arms with their seeds, effects with their intervals, learning curves, differences by map size.

What has to be read from afar is written in the page's :class:`Ink`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from frozenlab.app.ui.figures import (
    AFTER_COLOR,
    ARM_COLORS,
    BEFORE_COLOR,
    GRID_COLOR,
    SYMBOLS,
    TITLED,
    Chart,
    band,
    common_layout,
    percent_axis,
    whiskers,
)
from frozenlab.base.cells import in_order
from frozenlab.base.numbers import MANY, Interval, percents, points, signed
from frozenlab.experiments.studies.effects import margin_words, units_in_words
from frozenlab.experiments.studies.grid import Measure
from frozenlab.experiments.studies.main_table import MainTable, in_words
from frozenlab.experiments.studies.pictures import (
    between,
    curves_in_words,
    ends_of,
    in_rows,
    moment,
    percent,
    range_of,
    reach_of,
    shade,
    sizes_in_words,
)
from frozenlab.experiments.studies.tables import ArmRates, CellRow, Curve, CurvePoint, EffectRow, Rates
from frozenlab.session.ledger import Changed
from frozenlab.tasks.families import cell_label, cells_noun

ROW, FEW_ROWS = 34, 280
"""Pixels a line at least, and of all lines together while they are few."""
MOST_ACROSS = 5
"""Panels side by side that are still wide enough for a curve and its last rate."""
MOST_WHISKERS = 60
"""The most predictions with intervals that readers can tell apart in one picture."""


@dataclass(frozen=True)
class Ink:
    """Of names and numbers: the text colour of the theme shown now, and pixels."""

    color: str
    size: int


def row_height(rows: int) -> int:
    return max(ROW, min(2 * ROW, FEW_ROWS // rows))


def named(ink: Ink) -> dict[str, Any]:
    """How the axis looks on which lines have their names."""
    return {"showgrid": False, "zeroline": False, "ticklabelstandoff": 8, "tickfont": {"size": ink.size, "color": ink.color}}


def arms_figure(arms: tuple[ArmRates, ...], measure: str, ink: Ink) -> Chart:
    """A line an arm: a circle for each seed (or student), joined by thin lines from arm to arm, and a diamond for the mean."""
    names = [arm.arm for arm in arms]
    units = list(dict.fromkeys(unit for arm in arms for unit in arm.by_unit))
    figure = go.Figure()
    for unit in units:
        there = [arm for arm in arms if unit in arm.by_unit]
        figure.add_trace(
            go.Scatter(
                x=[arm.by_unit[unit] for arm in there],
                y=[arm.arm for arm in there],
                mode="lines+markers",
                name=unit,
                line=dict(width=1, color=BEFORE_COLOR, dash="dot"),
                marker=dict(size=9, color=BEFORE_COLOR, symbol="circle-open"),
                customdata=[percent(arm.by_unit[unit], MANY) for arm in there],
                hovertemplate=f"%{{y}}, {unit}<br><b>%{{customdata}}</b> {measure}<extra></extra>",
                showlegend=False,
            )
        )
    figure.add_trace(
        go.Scatter(
            x=[arm.mean for arm in arms],
            y=names,
            mode="markers",
            name="mean",
            showlegend=False,
            marker=dict(size=13, color=AFTER_COLOR, symbol="diamond"),
            customdata=[percent(arm.mean, MANY) for arm in arms],
            hovertemplate=f"%{{y}}, mean<br><b>%{{customdata}}</b> {measure}<extra></extra>",
        )
    )
    common_layout(figure, height=row_height(len(arms)) * len(arms) + 60, top=10)
    figure.update_xaxes(tickformat=".1~%", gridcolor=GRID_COLOR, zeroline=False, title=f"{measure} plans at the end")
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], **named(ink))
    means = "; ".join(f"{arm.arm} {percent(arm.mean, MANY)}" for arm in arms)
    return Chart(figure, f"Final {measure} rate by arm, mean over {number_of(arms[0])}: {means}.")


def number_of(rates: Rates) -> str:
    """The units behind a mean."""
    counts = [len(own) for own in rates.by_student.values()]
    return units_in_words(len(rates.by_student) if len(counts) > 1 else len(rates.by_seed), counts)


def effects_figure(effects: tuple[EffectRow, ...], measure: str, margin: float, ink: Ink, ground: str) -> Chart:
    """A line an effect: its mean and its 95 % interval over seeds, around 0, in points; above it its name, and the same in words.

    Args:
        margin: the smallest effect that matters.
        ground: the colour of the page, which parts words from the lines that they lie on.
    """
    names = [row.name for row in effects]
    figure = go.Figure()
    for row in effects:
        color = AFTER_COLOR if row.clear else BEFORE_COLOR
        figure.add_trace(
            go.Scatter(
                x=[100 * row.mean],
                y=[row.name],
                mode="markers",
                showlegend=False,
                error_x=whiskers([Interval(row.mean, row.low, row.high, row.n)], color, scale=100, thickness=2.5, width=0),
                marker=dict(size=11, color=color, symbol="circle" if row.clear else "circle-open", line=dict(width=2)),
                hovertemplate=f"{row.name}<br><b>{points(row.mean, MANY)}</b> {measure}, {between(row.low, row.high)}<br>"
                f"{row.units}<extra></extra>",
            )
        )
    common_layout(figure, height=5 * ink.size * len(effects) + 60, top=10)
    figure.update_xaxes(rangemode="tozero", title="points", showgrid=True, gridcolor=GRID_COLOR, zeroline=False)
    figure.add_vline(0, line={"width": 2, "color": BEFORE_COLOR}, layer="below")
    said = [f"{row.change}, {verdict(row, margin)}" for row in effects]
    low, high = ends_of({row.name: [row] for row in effects})
    place = {"x": 0, "xshift": 8} if -low < high / 2 else {"x": 0, "xref": "paper"}  # beside the zero, or at the edge if it is far off
    for row, words in zip(effects, said, strict=True):  # above, so that a phone has room for the intervals
        figure.add_annotation(
            text=f"{row.title}<br><b>{words}</b>", **place, xanchor="left", y=row.name, yanchor="bottom", yshift=8, align="left",
            showarrow=False, font=asdict(ink), bgcolor=ground,
        )  # fmt: skip
    figure.update_yaxes(range=[len(names) - 0.5, -0.8], categoryarray=names, showgrid=False, zeroline=False, showticklabels=False)
    changes = "; ".join(f"{row.title} {words}" for row, words in zip(effects, said, strict=True))
    return Chart(figure, f"Change of the final {measure} rate: {changes}.")


def verdict(row: EffectRow, margin: float) -> str:
    """What the interval of an effect shows, in a word or two."""
    if row.clear:
        return "clear of chance"
    return f"smaller than {margin_words(margin)}" if row.smaller else "undecided"


def curves_figure(curves: tuple[Curve, ...], measure: str, ink: Ink) -> Chart:
    """A panel an arm, all of one scale: thin lines are seeds (or students), the band is the 95 % t interval of their mean, and the
    mean of the first arm stands in each panel in grey, the only line that is named."""
    across = in_rows(len(curves), MOST_ACROSS)
    down = -(-len(curves) // across)
    figure = make_subplots(
        rows=down, cols=across, shared_xaxes=True, shared_yaxes=True, horizontal_spacing=0.016, vertical_spacing=0.1 if down < 3 else 0.07,
        subplot_titles=[curve.arm for curve in curves],
    )  # fmt: skip
    first = curves[0]
    for place, curve in enumerate(curves):
        for trace in panel(curve, first, measure, ink):
            figure.add_trace(trace, row=place // across + 1, col=place % across + 1)
    stages = max(point.trained for curve in curves for point in curve.points)
    figure.update_xaxes(range=[-0.15, 1.36 * max(stages, 1)], tickvals=list(range(stages + 1)), showgrid=False, zeroline=False)
    figure.update_xaxes(title="stages trained", title_standoff=4, row=down)
    figure.update_yaxes(range=range_of(curves), tickformat=".0%", nticks=5, gridcolor=GRID_COLOR, zeroline=False)
    figure.update_yaxes(title=f"{measure} plans", col=1)
    common_layout(figure, height=190 * down + 50, top=TITLED)
    next(trace for trace in figure.data if trace.name).showlegend = True
    figure.update_layout(showlegend=True)
    figure.update_annotations(font=dict(size=ink.size, color=ink.color))
    return Chart(figure, f"{measure.capitalize()} rate by arm, mean over seeds: {curves_in_words(curves)}.")


def panel(curve: Curve, first: Curve, measure: str, ink: Ink) -> list[go.Scatter]:
    """One arm's curve before the first arm's."""
    x = [point.trained for point in curve.points]
    lows, highs = map(list, zip(*(point.band for point in curve.points), strict=True))
    quiet = dict(mode="lines", hoverinfo="skip", showlegend=False)
    return [
        band(x, lows, highs),
        *(
            go.Scatter(
                x=[trained for trained, _ in points], y=[rate for _, rate in points], opacity=0.4,
                line=dict(color=AFTER_COLOR, width=1), **quiet,
            )
            for points in curve.lines.values()
        ),
        go.Scatter(x=[point.trained for point in first.points], y=[point.mean for point in first.points],
                   name=f"mean of {first.arm}", line=dict(color=BEFORE_COLOR, width=6), **quiet),
        go.Scatter(
            x=x,
            y=[point.mean for point in curve.points],
            mode="lines+markers+text",
            text=["" for _ in x[1:]] + [f"<b>{percent(curve.points[-1].mean, MANY)}</b>"],
            textposition="middle right",
            textfont=dict(size=ink.size, color=ink.color),
            cliponaxis=False,
            line=dict(color=AFTER_COLOR, width=2.6),
            marker=dict(size=8, color=AFTER_COLOR),
            hovertext=[point_words(point, curve, first, measure) for point in curve.points],
            hoverinfo="text",
            showlegend=False,
        ),
    ]  # fmt: skip


def point_words(point: CurvePoint, curve: Curve, first: Curve, measure: str) -> str:
    """A point on hover: its rate with the interval, and how far it is from the first arm in the seeds that both have."""
    lines = [f"{curve.arm}, {moment(point.trained)}", f"<b>{percent(point.mean, MANY)}</b> {measure}, {number_of(point)}"]
    if not isnan(point.low):
        lines.append(f"95 % t interval {percents(point.low, point.high, MANY)}")
    theirs = next((other.by_unit for other in first.points if other.trained == point.trained), {})
    both = [rate - theirs[unit] for unit, rate in point.by_unit.items() if unit in theirs]
    if curve.arm != first.arm and both:
        lines.append(f"{points(sum(both) / len(both), MANY)} from {first.arm}")
    return "<br>".join(lines)


def cell_shape(x: int, y: int, fill: str, edge: dict[str, Any] | None = None) -> dict[str, Any]:
    """The coloured field behind a number of :func:`map_of_numbers`."""
    place = dict(x0=x - 0.48, x1=x + 0.48, y0=y - 0.45, y1=y + 0.45)
    return dict(type="rect", **place, fillcolor=fill, line=edge or dict(width=1, color=GRID_COLOR), layer="below")


def in_lines(label: str) -> str:
    """A cell above a column: its layout stands on a line of its own.

    >>> in_lines("3 on 6×6 corridor"), in_lines("Countdown, 2 numbers")
    ('3 on 6×6<br>corridor', 'Countdown,<br>2 numbers')
    """
    return re.sub(r"(×\d+|,) ", r"\1<br>", label)


def map_of_numbers(
    columns: Sequence[str],
    rows: Sequence[str],
    spots: Sequence[tuple[int, int, str, str]],
    shapes: Sequence[dict[str, Any]],
    ink: Ink,
    *,
    names_size: int,
    **across: Any,
) -> go.Figure:
    """Numbers in columns and rows, each on a shape.

    Args:
        spots: column, row, number and hover text of each.
        ink: of the numbers; ``names_size`` is that of columns and rows.
        across: more about the axis with the columns.
    """
    x, y, numbers, hints = zip(*spots, strict=True) if spots else ((), (), (), ())
    figure = go.Figure(
        go.Scatter(
            x=x,
            y=y,
            mode="markers+text",
            marker=dict(size=36, opacity=0),
            text=numbers,
            textfont=dict(size=ink.size, color=ink.color),
            hovertext=hints,
            hoverinfo="text",
            showlegend=False,
        )
    )
    figure.update_layout(shapes=shapes)
    look = named(Ink(ink.color, names_size))
    ends = len(columns) - 0.5, len(rows) - 0.5
    figure.update_xaxes(tickvals=list(range(len(columns))), ticktext=columns, side="top", range=[-0.5, ends[0]], **look, **across)
    figure.update_yaxes(tickvals=list(range(len(rows))), ticktext=rows, range=[ends[1], -0.5], **look)
    return figure


def sizes_figure(rows: tuple[CellRow, ...], measure: str, ink: Ink) -> Chart:
    """A number for each comparison and cell, on a colour that says how far it is from 0; what is clear of chance is bold and framed."""
    names, cells, reach = list(dict.fromkeys(row.name for row in rows)), in_order(row.cell for row in rows), reach_of(rows)
    places = [(cells.index(row.cell), names.index(row.name)) for row in rows]
    spots = [
        (
            x,
            y,
            f"<b>{signed(row.mean, MANY)}</b>" if row.clear else signed(row.mean, MANY),
            f"{row.name}, {cell_label(row.cell)}<br><b>{points(row.mean, MANY)}</b> {measure}, {row.units}"
            f"<br>95 % over seeds: {between(row.low, row.high)}"
            + ("" if isnan(row.p) else f"<br>p = {row.p:.2g}, after Holm {row.p_holm:.2g}"),
        )
        for row, (x, y) in zip(rows, places, strict=True)
    ]
    shapes = [
        cell_shape(x, y, shade(row.mean, reach), dict(width=3, color=ink.color) if row.clear else None)
        for row, (x, y) in zip(rows, places, strict=True)
    ]
    figure = map_of_numbers(
        list(map(in_lines, map(cell_label, cells))), names, spots, shapes, Ink(ink.color, ink.size + 4), names_size=ink.size
    )
    common_layout(figure, height=(row_height(len(names)) + 8) * len(names) + 60, top=50)
    return Chart(figure, f"Change of the final {measure} rate by {cells_noun(cells)}: {sizes_in_words(rows)}")


def changes_figure(rows: Sequence[Changed]) -> Chart:
    """Predicted against measured change of the valid rate, in points: on the slanted line the engineers were right, on the level one
    nothing changed. Whiskers are 95 % intervals of the measured change, while there are few."""
    arms = list(dict.fromkeys(row.arm for row in rows))
    figure = go.Figure()
    reach = 120 * max(0.04, *(abs(row.predicted) for row in rows))
    for name, y in (("as predicted", [-reach, reach]), ("nothing changes", [0, 0])):
        figure.add_trace(
            go.Scatter(
                x=[-reach, reach],
                y=y,
                mode="lines",
                name=name,
                line=dict(color=BEFORE_COLOR, width=1.5, dash="solid" if y[0] else "dot"),
                hoverinfo="skip",
            )
        )
    for place, arm in enumerate(arms):
        own, color = [row for row in rows if row.arm == arm], ARM_COLORS[place % len(ARM_COLORS)]
        measured = [Interval(row.measured, row.low, row.high, row.n) for row in own]
        figure.add_trace(
            go.Scatter(
                x=[100 * row.predicted for row in own],
                y=[100 * row.measured for row in own],
                mode="markers",
                name=arm,
                error_y=whiskers(measured, scale=100, thickness=1, width=0) if len(rows) <= MOST_WHISKERS else None,
                marker=dict(size=9, color=color, symbol=SYMBOLS[place % len(SYMBOLS)], opacity=0.8),
                meta=["cell"],
                customdata=[
                    (cell_label(row.cell), points(row.predicted, row.n), came.signed, came.bounds, row.n)
                    for row, came in zip(own, measured, strict=True)
                ],
                hovertemplate=f"{arm}, %{{customdata[0]}}<br>predicted %{{customdata[1]}}, measured <b>%{{customdata[2]}}</b> "
                "(%{customdata[3]}, n = %{customdata[4]} boards)<extra></extra>",
            )
        )
    common_layout(figure, height=320)
    figure.update_xaxes(title="predicted change, points", range=[-reach, reach], gridcolor=GRID_COLOR, zeroline=False)
    figure.update_yaxes(title="measured change, points", gridcolor=GRID_COLOR, zeroline=False)
    in_words = "; ".join(
        f"{arm} predicted {points(sum(row.predicted for row in own) / len(own), MANY)} on average, measured "
        f"{signed(sum(row.measured for row in own) / len(own), MANY)} (n = {len(own)} predictions)"
        for arm in arms
        for own in [[row for row in rows if row.arm == arm]]
    )
    return Chart(figure, f"Predicted against measured changes of the valid rate: {in_words}.")


def main_figure(table: MainTable, measure: Measure, ink: Ink) -> Chart:
    """A panel for each team: the rate by map size, a line for each arm with its 95 % t interval as whiskers."""
    groups, rates = table.groups, table.shown(measure)
    figure = make_subplots(
        rows=1,
        cols=len(groups),
        shared_yaxes=True,
        horizontal_spacing=0.02,
        subplot_titles=[f"{group} {table.columns[0]}" for group in groups],
    )
    for place, arm in enumerate(table.arms):
        color = ARM_COLORS[place % len(ARM_COLORS)]
        for column, group in enumerate(groups, 1):
            own = [one for one in rates if (one.arm, one.group) == (arm, group)]
            bounds = [Interval(one.mean, one.low, one.high, one.n) for one in own]
            figure.add_trace(
                go.Scatter(
                    x=[one.place or one.group for one in own],
                    y=[one.mean for one in own],
                    mode="lines+markers",
                    name=arm,
                    legendgroup=arm,
                    showlegend=column == 1,
                    error_y=whiskers(bounds, thickness=1, width=0),
                    line=dict(color=color, width=2.4),
                    marker=dict(size=8, color=color, symbol=SYMBOLS[place % len(SYMBOLS)]),
                    customdata=[in_words(one) for one in own],
                    hovertemplate=f"{arm}, {group} {table.columns[0]}, %{{x}}<br><b>%{{customdata}} %</b> {measure}<extra></extra>",
                ),
                row=1,
                col=column,
            )
    common_layout(figure, height=340, top=TITLED)
    names = in_order(one.place or one.group for one in rates)
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=names, title=(*table.columns, "")[1], showgrid=False)
    percent_axis(figure, f"{measure} plans")
    figure.update_annotations(font=dict(size=ink.size, color=ink.color))
    said = "; ".join(f"{one.arm}, {one.group} {table.columns[0]}: {in_words(one)} per cent" for one in table.of(measure))
    return Chart(figure, f"{measure.capitalize()} rate on the suite {table.suite}. {said}.")
