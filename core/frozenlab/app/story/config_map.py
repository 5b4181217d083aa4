"""The path of a session through the space of configs: two knobs of each cell, a point a stage, joined by arrows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, nan
from typing import Literal

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from frozenlab.app.ui.chart import Chart
from frozenlab.app.ui.figures import BEFORE_COLOR, GRID_COLOR, REWARD_COLOR, common_layout
from frozenlab.base.cells import Config, Settings, in_order
from frozenlab.base.numbers import number, percent, share
from frozenlab.engineer.measurements import sampled_valid
from frozenlab.experiments.replays.task import validated_stages
from frozenlab.session.session import Session
from frozenlab.tasks.families import family_of
from frozenlab.tasks.family import Family
from frozenlab.tasks.knobs import Knob
from frozenlab.tasks.labels import cell_label

ROOM = 0.06
"""Of a ratio, around the points."""
LEAST = 0.32
"""Of a ratio, from end to end of an axis."""
DOT, LETTER = 24, 5
"""Pixels across a point, and more for each further letter in it."""
Shade = Literal["valid rate", "learnability"]
SHADES: tuple[Shade, ...] = ("valid rate", "learnability")
SHADE_HELP = (
    "Of the plans sampled in training. Learnability is p(1 − p): most where half of the plans hold, nothing where all do or none does, "
    "since then there is nothing to tell a good plan from a bad one."
)


Axes = tuple[Knob, Knob]
"""The knobs that span the map."""


def axes_of(config: Config) -> tuple[Axes, ...]:
    """The axes of its cells, each pair once: a map each. Cells of one family have the same."""
    family = family_of(config.family)
    found = dict.fromkeys(axes_of_cell(family, own) for own in config.cells.values())
    return tuple(axes for axes in found if axes is not None)


def axes_of_cell(family: Family, own: Settings) -> Axes | None:
    """The first two ratios of a cell; of one with one ratio, that and the share. None: the cell has no ratio."""
    ratios = family.ratios_of(own)
    if not ratios:
        return None
    across, up = [*ratios, "share"][:2]
    return family.knobs[across], family.knobs[up]


@dataclass(frozen=True)
class Stop:
    """One cell in one stage."""

    stage: int
    cell: str
    share: float
    at: tuple[float, float]
    """The values of the two knobs."""
    boards: int
    valid: float | None
    """Valid rate of the plans sampled on its boards in the last third of the stage."""

    def shade(self, by: Shade) -> float:
        """NaN where no plan was sampled."""
        rate = nan if self.valid is None else self.valid
        return rate if by == "valid rate" else rate * (1 - rate)


def stops(session: Session, axes: Axes) -> list[Stop]:
    """Of the cells with these axes, in every stage that has been validated, in the order of stages."""
    found = []
    across, up = axes
    for stage in validated_stages(session):
        drawn_from = session.environment(stage)
        if drawn_from is None:
            break
        metrics = session.metrics(stage)
        for name, own in drawn_from.config.cells.items():
            if axes_of_cell(session.spec.tasks, own) != axes:
                continue
            sampled, drawn = sampled_valid(metrics, name), drawn_from.realised.get(name)
            boards = drawn.boards if drawn else 0
            rate = sampled[0] if sampled else None
            settings = own.settings()
            found.append(Stop(stage, name, own.share, (settings[across.name], settings[up.name]), boards, rate))
    return found


def map_figure(path: Sequence[Stop], axes: Axes, by: Shade, here: int | None) -> Chart:
    """The map, a panel a cell, with arrows from stage to stage; the stage ``here`` is ringed. ``customdata`` of each point begins with
    its stage (0-based) and cell."""
    across, up = axes
    cells = in_order(stop.cell for stop in path)
    figure = make_subplots(
        rows=1, cols=len(cells), shared_yaxes=True, horizontal_spacing=0.012, subplot_titles=list(map(cell_label, cells))
    )
    shades = [stop.shade(by) for stop in path if stop.valid is not None]
    low, high = floor(10 * min(shades, default=0.0)) / 10, 1.0 if by == "valid rate" else 0.25
    for column, cell in enumerate(cells, start=1):
        own = [stop for stop in path if stop.cell == cell]
        draw_arrows(figure, own, column)
        shown = visited(own, here)
        figure.add_trace(
            go.Scatter(
                x=[stop.at[0] for stop, _ in shown],
                y=[stop.at[1] for stop, _ in shown],
                mode="markers+text",
                text=[numbers for _, numbers in shown],
                textposition="middle center",
                textfont=dict(size=12, color=["#10233F" if stop.shade(by) > (low + 2 * high) / 3 else "white" for stop, _ in shown]),
                marker=dict(
                    size=[DOT + LETTER * (len(numbers) - 1) for _, numbers in shown],
                    color=[stop.shade(by) for stop, _ in shown],
                    coloraxis="coloraxis",
                    opacity=1,
                    line=dict(width=[4 if stop.stage == here else 0 for stop, _ in shown], color=REWARD_COLOR),
                ),
                customdata=[
                    (stop.stage, stop.cell, stop.stage + 1, share(stop.share), rate_words(stop), stop.boards, cell_label(cell))
                    for stop, _ in shown
                ],
                hovertemplate=f"<b>%{{customdata[6]}}, stage %{{customdata[2]}}</b><br>{across.label} %{{x:.0%}}, {up.label} %{{y:.0%}}"
                "<br>share %{customdata[3]}, %{customdata[5]} boards<br>%{customdata[4]}<extra></extra>",
                showlegend=False,
                cliponaxis=False,
            ),
            row=1,
            col=column,
        )
    bar = dict(title=by, thickness=12, len=0.95, tickformat=".0%" if by == "valid rate" else ".2f")
    figure.update_layout(coloraxis=dict(cmin=low, cmax=high, colorscale="Viridis", colorbar=bar))
    common_layout(figure, height=330, top=30)
    for place, update in enumerate((figure.update_xaxes, figure.update_yaxes)):
        ends = span([stop.at[place] for stop in path])
        update(range=ends, tickformat=".0%", gridcolor=GRID_COLOR, zeroline=False, dtick=0.1, tickangle=0)
    figure.update_xaxes(title=across.label)
    figure.update_yaxes(title=up.label, col=1)
    way = "; ".join(spoken(path, axes, cell) for cell in cells)
    return Chart(figure, f"Path through {across.label} and {up.label}, coloured by {by}: {way}.")


def span(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis, with room around the points and for three ticks at the least."""
    middle = (min(values) + max(values)) / 2
    half = max((max(values) - min(values)) / 2 + ROOM, LEAST / 2)
    low = max(middle - half, -ROOM)
    return low, low + 2 * half


def draw_arrows(figure: go.Figure, own: Sequence[Stop], column: int) -> None:
    """From stage to stage, where the knobs moved."""
    axis = "" if column == 1 else str(column)
    for old, new in pairwise(own):
        if old.at != new.at:
            figure.add_annotation(
                x=new.at[0], y=new.at[1], xref=f"x{axis}", yref=f"y{axis}",
                ax=old.at[0], ay=old.at[1], axref=f"x{axis}", ayref=f"y{axis}",
                arrowhead=2, arrowwidth=2, arrowcolor=BEFORE_COLOR, standoff=DOT / 2 + 3, startstandoff=DOT / 2,
            )  # fmt: skip


def visited(own: Sequence[Stop], here: int | None) -> list[tuple[Stop, str]]:
    """One stop for each place on the way of a cell, the stage ``here`` or else the last one there, and the numbers of all stages that
    were there."""
    places: dict[tuple[float, float], list[Stop]] = {}
    for stop in own:
        places.setdefault(stop.at, []).append(stop)
    return [
        (max(there, key=lambda stop: (stop.stage == here, stop.stage)), ", ".join(str(stop.stage + 1) for stop in there))
        for there in places.values()
    ]


def rate_words(stop: Stop) -> str:
    if stop.valid is None:
        return "no plan sampled"
    return f"{percent(stop.valid)} of sampled plans valid, p(1 − p) = {number(stop.valid * (1 - stop.valid))}"


def spoken(path: Sequence[Stop], axes: Axes, cell: str) -> str:
    def place(stop: Stop) -> str:
        return ", ".join(f"{knob.label} {share(value)}" for knob, value in zip(axes, stop.at, strict=True))

    return f"{cell_label(cell)} " + " then ".join(f"{place(stop)} ({rate_words(stop)})" for stop in path if stop.cell == cell)
