"""The small multiples of the Replay page: what every arm would do to every knob of every cell."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import ceil, floor

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from frozenlab.app.ui.figures import AFTER_COLOR, BAND_COLOR, BEFORE_COLOR, GRID_COLOR, REWARD_COLOR, Chart, common_layout
from frozenlab.base.cells import Config
from frozenlab.base.numbers import percent, share
from frozenlab.engineer.engineers import name_of
from frozenlab.tasks.families import cell_label, cells_noun, family_of
from frozenlab.tasks.words import Knob

HEADS, FOOT, BETWEEN, NAMES = 30, 26, 38, 84
"""Pixels above the panels (the cells), below them (the last row's numbers), between rows (numbers, and the next knob's name), and left
of them at the least (the arms, and the knob's name)."""
LARGEST = 15.0
"""Pixels across the circle of answers that are all alike."""
MOST_TICKS = 3
SAME = 0.005
"""A mean that moves by less counts as unchanged."""


@dataclass(frozen=True)
class Panel:
    """One knob of one cell."""

    label: str
    """Of the knob."""
    cell: str
    before: float
    means: pd.Series
    """By arm."""
    groups: pd.DataFrame
    """Answers that agree to a whole per cent: ``arm, value, answers, of, sample`` (the first of them)."""


def proposals_figure(table: pd.DataFrame, before: Config, arms: Sequence[str]) -> Chart:
    """A row of panels for each knob that some answer turns, a column a cell. In each a line an arm: a bar from the config before to the
    arm's mean (diamond), and circles where answers lie, the larger the more there are. Scales are shared along a row. ``customdata`` of a
    circle is its arm and the number (from 1) of the first answer in it, for pages that follow a click.

    Args:
        table: of :func:`frozenlab.experiments.replays.report.proposals`.
        arms: those that have answers, in the order of the lines; the first is the reference.
    """
    cells, knobs = list(before.cells), knobs_that_differ(table, before)
    line = 20 if len(arms) <= 12 else 14
    row = line * len(arms)
    height = HEADS + FOOT + len(knobs) * row + (len(knobs) - 1) * BETWEEN
    figure = make_subplots(
        rows=len(knobs), cols=len(cells), shared_yaxes=True, shared_xaxes=False, horizontal_spacing=0.012,
        vertical_spacing=BETWEEN / (height - HEADS - FOOT), column_titles=[f"<b>{cell_label(cell)}</b>" for cell in cells],
    )  # fmt: skip
    shapes: list[dict[str, object]] = []
    for i, knob in enumerate(knobs, start=1):
        panels = panels_of(table, before, knob)
        ends = scale(panels.values())
        for cell, panel in panels.items():
            j = 1 + cells.index(cell)
            for trace in traces(panel, arms):
                figure.add_trace(trace, row=i, col=j)
            shapes += marks(panel.before, *(axis.plotly_name.replace("axis", "") for axis in figure.get_subplot(i, j)))
        figure.update_xaxes(
            range=ends, tickformat=".0%", tickvals=ticks(*ends), gridcolor=GRID_COLOR, zeroline=False, tickfont=dict(size=11), row=i
        )
        figure.add_annotation(
            text=f"<b>{knobs[knob].label}</b>", showarrow=False, x=0, xref="paper", xanchor="right", xshift=-8,
            y=1 - (i - 1) * (row + BETWEEN) / (height - HEADS - FOOT), yref="paper", yanchor="bottom",
        )  # fmt: skip
    figure.update_yaxes(
        range=[len(arms) - 0.5, -0.5], tickvals=list(range(len(arms))), ticktext=[f"<b>{name_of(arms[0])}</b>", *map(name_of, arms[1:])],
        showgrid=False, zeroline=False, ticklabelstandoff=6, automargin=True,
    )  # fmt: skip
    common_layout(figure, height=height, top=HEADS)
    figure.update_layout(margin_b=FOOT, margin_l=NAMES, showlegend=False, shapes=shapes)  # all at once: each on its own costs seconds
    return Chart(figure, f"Proposals by arm, {cells_noun(cells)} and knob. {in_words(table, before, arms)}")


def knobs_that_differ(table: pd.DataFrame, before: Config) -> dict[str, Knob]:
    """The knobs that some answer sets otherwise than the config before; all of them if there is none."""
    knobs = family_of(before.family).knobs
    was = {name: own.settings() for name, own in before.cells.items()}
    turned = {
        name: knob
        for name, knob in knobs.items()
        if any(abs(row[name] - was[row["cell"]][name]) > SAME for _, row in table.iterrows() if name in was[row["cell"]])
    }
    return turned or dict(knobs)


def ticks(low: float, high: float) -> list[float]:
    """Up to three round numbers on a panel's axis, so far from its ends that they do not run into those of the next panel.

    >>> ticks(0.1, 0.3), ticks(0.0, 0.62)
    ([0.15, 0.2, 0.25], [0.2, 0.4])
    """
    room = 0.16 * (high - low)
    for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5):
        found = [round(place * step, 2) for place in range(ceil((low + room) / step), floor((high - room) / step) + 1)]
        if len(found) <= MOST_TICKS:
            break
    return found or [round((low + high) / 2, 2)]


def panels_of(table: pd.DataFrame, before: Config, knob: str) -> dict[str, Panel]:
    """The panels of the cells that have this knob."""
    rows = table[["cell", "arm", "sample", knob]].rename(columns={knob: "value"})
    grouped = rows.assign(near=rows["value"].round(2)).groupby(["cell", "arm", "near"], sort=False, as_index=False)
    groups = grouped.agg(value=("value", "mean"), answers=("value", "size"), sample=("sample", "min"))
    groups["of"] = groups.groupby(["cell", "arm"])["answers"].transform("sum")
    means = rows.groupby(["cell", "arm"])["value"].mean()
    label = family_of(before.family).knobs[knob].label
    return {
        cell: Panel(label, cell, float(own.settings()[knob]), means[cell], groups[groups["cell"] == cell])
        for cell, own in before.cells.items()
        if knob in own.settings()
    }


def marks(before: float, x: str, y: str) -> list[dict[str, object]]:
    """The line of the config before, and the band behind the reference arm, on the panel with these axes (``x3``, ``y3``)."""
    return [
        dict(
            type="line", x0=before, x1=before, y0=0, y1=1, xref=x, yref=f"{y} domain",
            line=dict(color=BEFORE_COLOR, width=1.5, dash="dot"),
        ),
        dict(type="rect", x0=0, x1=1, y0=-0.5, y1=0.5, xref=f"{x} domain", yref=y, fillcolor=BAND_COLOR, line_width=0, layer="below"),
    ]  # fmt: skip


def scale(panels: Collection[Panel]) -> tuple[float, float]:
    """The ends of the axis that all panels of a knob share, with some room."""
    values = [value for panel in panels for value in (panel.before, *panel.groups["value"])]
    low, high = min(values), max(values)
    room = max(0.02, 0.08 * (high - low))
    return low - room, high + room


def traces(panel: Panel, arms: Sequence[str]) -> list[go.Scatter]:
    """The bars from the config before to each arm's mean, the answers, and the means."""
    place = {arm: i for i, arm in enumerate(arms)}
    means = [float(panel.means[arm]) for arm in arms]
    colors = [direction_color(mean - panel.before) for mean in means]
    where = f"{cell_label(panel.cell)}, {panel.label}"
    bars = [
        go.Scatter(
            x=[panel.before, mean], y=[i, i], mode="lines", line=dict(color=color, width=4), opacity=0.55, hoverinfo="skip",
        )
        for i, (mean, color) in enumerate(zip(means, colors, strict=True)) if abs(mean - panel.before) > SAME
    ]  # fmt: skip
    groups = panel.groups
    circles = go.Scatter(
        x=groups["value"],
        y=groups["arm"].map(place),
        mode="markers",
        marker=dict(
            size=(LARGEST * (groups["answers"] / groups["of"]) ** 0.5).clip(lower=4.5), color=BEFORE_COLOR, opacity=0.5, line_width=0,
        ),
        meta=["", "answer", "answers", "of"],
        customdata=list(
            zip(groups["arm"], groups["sample"] + 1, groups["answers"], groups["of"], map(share, groups["value"]), strict=True)
        ),
        hovertemplate=f"%{{customdata[0]}}<br>{where} <b>%{{customdata[4]}}</b> in "
        "%{customdata[2]} of %{customdata[3]} answers<extra></extra>",
        cliponaxis=False,
    )  # fmt: skip
    diamonds = go.Scatter(
        x=means,
        y=list(range(len(arms))),
        mode="markers",
        marker=dict(size=9, symbol="diamond", color=colors, line_width=0),
        customdata=[(arm, 1, share(mean)) for arm, mean in zip(arms, means, strict=True)],
        hovertemplate=f"%{{customdata[0]}}, mean<br>{where} <b>%{{customdata[2]}}</b>, before {share(panel.before)}<extra></extra>",
        cliponaxis=False,
    )
    return [*bars, circles, diamonds]


def direction_color(change: float) -> str:
    """Orange up, blue down, grey the same, as in the tables of configs."""
    return BEFORE_COLOR if abs(change) <= SAME else REWARD_COLOR if change > 0 else AFTER_COLOR


def in_words(table: pd.DataFrame, before: Config, arms: Sequence[str]) -> str:
    """The mean proposals of the arms, for those who cannot see the figure."""
    knobs = family_of(before.family).knobs
    means = table.groupby(["arm", "cell"])[list(knobs)].mean()
    sentences = []
    for arm in arms:
        cells = "; ".join(
            f"{cell_label(cell)} "
            + ", ".join(
                f"{knob.label} {percent(means.loc[(arm, cell), knob.name])}" for knob in knobs.values() if knob.name in own.settings()
            )
            for cell, own in before.cells.items()
        )
        sentences.append(f"{name_of(arm)}: {cells}.")
    return " ".join(sentences)
