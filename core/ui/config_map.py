"""The path of a session through the space of configs: hole ratio by wait ratio by map size, a point a stage, as large as its share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, nan
from typing import Literal

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from core.engineer.evidence import sampled_valid
from core.sessions.replays import validated_stages
from core.sessions.store import Session
from core.ui.figures import BEFORE_COLOR, GRID_COLOR, REWARD_COLOR, Chart, common_layout, percent, size_label

ROOM = 0.06
"""Of a ratio, around the points."""
Shade = Literal["valid rate", "learnability"]
SHADES: tuple[Shade, ...] = ("valid rate", "learnability")
SHADE_HELP = (
    "Of the plans sampled in training. Learnability is p(1 − p): most where half of the plans hold, nothing where all do or none does, "
    "since then there is nothing to tell a good plan from a bad one."
)


@dataclass(frozen=True)
class Stop:
    """One map size in one stage."""

    stage: int
    size: int
    share: float
    hole_ratio: float
    wait_ratio: float
    boards: int
    valid: float | None
    """Valid rate of the plans sampled on its boards in the last third of the stage."""

    def shade(self, by: Shade) -> float:
        """NaN where no plan was sampled."""
        rate = nan if self.valid is None else self.valid
        return rate if by == "valid rate" else rate * (1 - rate)


def stops(session: Session) -> list[Stop]:
    """Of every stage that has been validated, in the order of stages."""
    found = []
    for stage in validated_stages(session):
        drawn_from = session.environment(stage)
        if drawn_from is None:
            break
        metrics = session.metrics(stage)
        for size, cell in drawn_from.config.sizes.items():
            sampled, drawn = sampled_valid(metrics, size), drawn_from.realised.get(size)
            boards = drawn.boards if drawn else 0
            rate = sampled[0] if sampled else None
            found.append(Stop(stage, size, cell.share, cell.hole_ratio, cell.wait_ratio, boards, rate))
    return found


def map_figure(path: Sequence[Stop], by: Shade, here: int | None) -> Chart:
    """The map, a panel a map size; the stage ``here`` is ringed. ``customdata`` of each point begins with its stage (0-based) and size."""
    sizes = sorted({stop.size for stop in path})
    figure = make_subplots(
        rows=1, cols=len(sizes), shared_yaxes=True, horizontal_spacing=0.012, subplot_titles=[size_label(n) for n in sizes]
    )
    for column, size in enumerate(sizes, start=1):
        own = [stop for stop in path if stop.size == size]
        figure.add_trace(
            go.Scatter(
                x=[stop.hole_ratio for stop in own],
                y=[stop.wait_ratio for stop in own],
                mode="lines+markers+text",
                text=[numbers(own, stop) for stop in own],
                textposition="bottom center",
                line=dict(color=BEFORE_COLOR, width=1.5),
                marker=dict(
                    size=[14 + 60 * stop.share for stop in own],
                    color=[stop.shade(by) for stop in own],
                    coloraxis="coloraxis",
                    line=dict(width=[4 if stop.stage == here else 1 for stop in own], color=REWARD_COLOR),
                ),
                customdata=[(stop.stage, stop.size, stop.stage + 1, percent(stop.share), told(stop), stop.boards) for stop in own],
                hovertemplate="<b>%{customdata[1]}×%{customdata[1]}, stage %{customdata[2]}</b><br>hole ratio %{x:.0%}, wait ratio %{y:.0%}"
                "<br>share %{customdata[3]}, %{customdata[5]} boards<br>%{customdata[4]}<extra></extra>",
                showlegend=False,
            ),
            row=1,
            col=column,
        )
    ticks = ".0%" if by == "valid rate" else ".2f"
    bar = dict(title=by, thickness=12, len=0.95, tickformat=ticks)
    shades = [stop.shade(by) for stop in path if stop.valid is not None]
    low = floor(10 * min(shades, default=0.0)) / 10
    figure.update_layout(coloraxis=dict(cmin=low, cmax=1.0 if by == "valid rate" else 0.25, colorscale="Viridis", colorbar=bar))
    common_layout(figure, height=330, top=40)
    holes, waits = ([getattr(stop, knob) for stop in path] for knob in ("hole_ratio", "wait_ratio"))
    for update, knob, values in ((figure.update_xaxes, "hole ratio", holes), (figure.update_yaxes, "wait ratio", waits)):
        update(range=[min(values) - ROOM, max(values) + ROOM], tickformat=".0%", gridcolor=GRID_COLOR, zeroline=False, dtick=0.1)
        update(title=knob, col=1 if knob == "wait ratio" else None)
    return Chart(figure, f"Path through hole and wait ratio, coloured by {by}: " + "; ".join(spoken(path, size) for size in sizes) + ".")


def numbers(own: Sequence[Stop], stop: Stop) -> str:
    """The stages that lie where this one does, at the first of them."""
    there = [other.stage for other in own if (other.hole_ratio, other.wait_ratio) == (stop.hole_ratio, stop.wait_ratio)]
    return ", ".join(str(stage + 1) for stage in there) if there[0] == stop.stage else ""


def told(stop: Stop) -> str:
    if stop.valid is None:
        return "no plan sampled"
    return f"{percent(stop.valid)} of sampled plans valid, p(1 − p) = {stop.valid * (1 - stop.valid):.2f}"


def spoken(path: Sequence[Stop], size: int) -> str:
    own = [stop for stop in path if stop.size == size]
    way = " then ".join(f"{percent(stop.hole_ratio)} holes, {percent(stop.wait_ratio)} waits ({told(stop)})" for stop in own)
    return f"{size_label(size)} {way}"
