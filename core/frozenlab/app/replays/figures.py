"""The small multiples of the Replay page: what every arm would do to every knob of every cell."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from frozenlab.app.ui.figures import AFTER_COLOR, BAND_COLOR, BEFORE_COLOR, GRID_COLOR, REWARD_COLOR, Chart, common_layout
from frozenlab.base.cells import Config
from frozenlab.base.numbers import percent, share
from frozenlab.engineer.engineers import name_of
from frozenlab.tasks.families import cell_label, cells_noun, family_of

HEADS, FOOT, BETWEEN, NAMES = 26, 26, 38, 84
"""Pixels above the panels (the cells), below them (the last row's numbers), between rows (numbers, and the next knob's
name), and left of them at the least (the arms, and the knob's name)."""
GAP = 0.012
"""Between columns, of the width."""
LARGEST = 15.0
"""Pixels across the circle of answers that are all alike."""
MOST_TICKS = 3
SAME = 0.005
"""A mean that moves by less counts as unchanged."""

KEY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("config before", dict(mode="lines", line=dict(color=BEFORE_COLOR, width=1.5, dash="dot"))),
    ("answers, larger where more agree", dict(mode="markers", marker=dict(color=BEFORE_COLOR, size=10, opacity=0.5))),
    ("mean of an arm, raised", dict(marker=dict(symbol="diamond", size=9, color=REWARD_COLOR), line_width=4)),
    ("mean of an arm, lowered", dict(marker=dict(symbol="diamond", size=9, color=AFTER_COLOR), line_width=4)),
)
"""The legend: what a mark stands for, and how it looks."""


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
    """A row of panels for each knob that some answer turns, a column a cell. In each a line for the reference and each arm that turns the
    knob: a bar from the config before to the arm's mean (diamond), and circles where answers lie, the larger the more there are. Scales
    are shared along a row. ``customdata`` of a circle is its arm and the number (from 1) of the first answer in it, for pages that follow
    a click.

    Args:
        table: of :func:`frozenlab.experiments.replays.report.proposals`.
        arms: those that have answers, in the order of the lines; the first is the reference.
    """
    cells, turned = list(before.cells), turned_by(table, before, arms)
    line = 20 if len(arms) <= 12 else 14
    inside = sum(line * len(turning) for turning in turned.values()) + (len(turned) - 1) * BETWEEN
    width = (1 + GAP) / len(cells) - GAP
    left = [j * (width + GAP) for j in range(len(cells))]
    data: list[dict[str, Any]] = [dict(type="scatter", x=[None], y=[None], name=name, **look) for name, look in KEY]
    shapes: list[dict[str, object]] = []
    notes = [
        dict(text=f"<b>{cell_label(cell)}</b>", x=x + width / 2, y=1, yanchor="bottom", font_size=16)
        for cell, x in zip(cells, left, strict=True)
    ]
    axes: dict[str, dict[str, object]] = {}
    top = inside
    for i, (knob, turning) in enumerate(turned.items()):
        panels, row = panels_of(table, before, knob), numbered(i)
        ends = scale(panels.values())
        if len(at := ticks(*ends)) < 2:  # a share, of which some answer gives nearly all
            ends, at = (min(ends[0], -0.08), max(ends[1], 1.08)), [0.0, 0.5, 1.0]
        for cell, panel in panels.items():
            j = cells.index(cell)
            column = numbered(i * len(cells) + j)
            data += [dict(trace, type="scatter", showlegend=False, xaxis=f"x{column}", yaxis=f"y{row}") for trace in traces(panel, turning)]
            shapes += marks(panel.before, f"x{column}", f"y{row}")
            axes[f"xaxis{column}"] = dict(
                domain=[left[j], left[j] + width], anchor=f"y{row}", range=ends, tickformat=".0%", tickvals=at, tickangle=0,
                gridcolor=GRID_COLOR, zeroline=False, tickfont_size=11,
            )  # fmt: skip
        axes[f"yaxis{row}"] = dict(
            domain=[max(0, top - line * len(turning)) / inside, top / inside], anchor="free", position=0, range=[len(turning) - 0.5, -0.5],
            tickvals=list(range(len(turning))), ticktext=[f"<b>{name_of(arms[0])}</b>", *map(name_of, turning[1:])],
            showgrid=False, zeroline=False, ticklabelstandoff=6, automargin=True,
        )  # fmt: skip
        label = family_of(before.family).knobs[knob].label
        notes.append(dict(text=f"<b>{label}</b>", x=0, xanchor="right", xshift=-8, y=top / inside, yanchor="bottom"))
        top -= line * len(turning) + BETWEEN
    # All at once, and no make_subplots: each trace, axis and shape on its own costs ten times as much.
    notes = [dict(note, showarrow=False, xref="paper", yref="paper") for note in notes]
    figure = go.Figure(data, dict(axes, shapes=shapes, annotations=notes))
    common_layout(figure, height=HEADS + FOOT + inside, top=HEADS)
    figure.update_layout(margin_b=FOOT, margin_l=NAMES)
    return Chart(figure, f"Proposals by arm, {cells_noun(cells)} and knob. {in_words(table, before, arms)}")


def numbered(place: int) -> str:
    """The number of an axis, from 0, as Plotly writes it.

    >>> numbered(0), numbered(1)
    ('', '2')
    """
    return str(place + 1) if place else ""


def turned_by(table: pd.DataFrame, before: Config, arms: Sequence[str]) -> dict[str, list[str]]:
    """Knob -> the reference and the arms with an answer that sets it otherwise than the config before. Knobs that no answer turns are left
    out, unless there is no other."""
    was = pd.DataFrame({name: own.settings() for name, own in before.cells.items()}).T
    knobs = list(family_of(before.family).knobs)
    moved = (table[knobs] - was.reindex(index=table["cell"], columns=knobs).to_numpy(float)).abs() > SAME
    by_arm = moved.groupby(table["arm"]).any()
    found = {knob: [arm for arm in arms if arm == arms[0] or by_arm.loc[arm, knob]] for knob in knobs if by_arm[knob].any()}
    return found or {knob: list(arms) for knob in knobs}


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


def traces(panel: Panel, arms: Sequence[str]) -> list[dict[str, Any]]:
    """The bars from the config before to each arm's mean (a trace a colour), the answers, and the means."""
    place = {arm: i for i, arm in enumerate(arms)}
    means = [float(panel.means[arm]) for arm in arms]
    colors = [direction_color(mean - panel.before) for mean in means]
    where = f"{cell_label(panel.cell)}, {panel.label}"
    bars: dict[str, dict[str, Any]] = {}
    for i, (mean, color) in enumerate(zip(means, colors, strict=True)):
        if abs(mean - panel.before) > SAME:
            look = dict(x=[], y=[], mode="lines", line=dict(color=color, width=4), opacity=0.55, hoverinfo="skip")
            bar = bars.setdefault(color, look)
            bar["x"] += [panel.before, mean, None]
            bar["y"] += [i, i, None]
    groups = panel.groups[panel.groups["arm"].isin(arms)]
    circles = dict(
        x=groups["value"].tolist(),
        y=groups["arm"].map(place).tolist(),
        mode="markers",
        marker=dict(
            size=(LARGEST * (groups["answers"] / groups["of"]) ** 0.5).clip(lower=4.5).tolist(),
            color=BEFORE_COLOR,
            opacity=0.5,
            line_width=0,
        ),
        meta=["", "answer", "answers", "of"],
        customdata=list(
            zip(groups["arm"], groups["sample"] + 1, groups["answers"], groups["of"], map(share, groups["value"]), strict=True)
        ),
        hovertemplate=f"%{{customdata[0]}}<br>{where} <b>%{{customdata[4]}}</b> in "
        "%{customdata[2]} of %{customdata[3]} answers<extra></extra>",
        cliponaxis=False,
    )
    diamonds = dict(
        x=means,
        y=list(range(len(arms))),
        mode="markers",
        marker=dict(size=9, symbol="diamond", color=colors, line_width=0),
        customdata=[(arm, 1, share(mean)) for arm, mean in zip(arms, means, strict=True)],
        hovertemplate=f"%{{customdata[0]}}, mean<br>{where} <b>%{{customdata[2]}}</b>, before {share(panel.before)}<extra></extra>",
        cliponaxis=False,
    )
    return [*bars.values(), circles, diamonds]


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
