"""The curves of several runs over each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from frozenlab.app.ui.components.timeline import rates_by_stage
from frozenlab.app.ui.figures import GRID_COLOR, Chart, common_layout, dots, percent_axis, whiskers
from frozenlab.session.session import Session

Axis = Literal["step", "stage", "boards"]
AXES: dict[Axis, str] = {"step": "training step", "stage": "stage", "boards": "training boards seen"}
COLORS = ("#2484C6", "#E0662B", "#1E9E77", "#B35FC4", "#A8820A", "#7B8EA5")
"""Middle tones that read on both themes; dashes and symbols tell runs apart without colour."""
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "diamond", "square", "triangle-up", "x", "star")
SMOOTH = 5
"""Steps of the running mean."""


def place(session: Session, axis: Axis, stage: int, step: float) -> float:
    """Where a training step of a stage (0-based) stands on the axis."""
    training = session.spec.training
    if axis == "stage":
        return stage + step / training.steps
    return (stage * training.steps + step) * (training.boards_per_step if axis == "boards" else 1)


def over_steps(session: Session, axis: Axis) -> pd.DataFrame:
    """The figures of all stages with their place ``x`` and running means of ``valid`` and ``reward``, which begin anew at every stage."""
    tables = []
    for stage in range(session.spec.stages):
        table = session.metrics(stage)
        if len(table):
            means = table.reindex(columns=["valid", "reward"]).astype(float).rolling(SMOOTH, min_periods=1).mean()
            tables.append(means.assign(x=[place(session, axis, stage, step) for step in table["step"]]))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["valid", "reward", "x"], dtype=float)


def overlay(runs: Sequence[tuple[str, Session]], axis: Axis) -> Chart:
    """Valid rate and reward of each named run. Lines are running means of the sampled plans; marks are the held-out results with 95 %
    intervals."""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07, row_heights=[0.62, 0.38])
    spoken = []
    for number, (name, session) in enumerate(runs):
        color, curve, checks = COLORS[number], over_steps(session, axis), rates_by_stage(session.state())
        look = dict(color=color, width=2.2, dash=DASHES[number])
        for row, column, shown in ((1, "valid", ".0%"), (2, "reward", ".3f")):
            figure.add_trace(
                go.Scatter(
                    x=curve["x"], y=curve[column], mode="lines", line=look, opacity=0.75, name=f"{name}: {column} while training",
                    legendgroup=str(number), showlegend=False, hovertemplate=f"{name}<br>{column} %{{y:{shown}}}<extra></extra>",
                ),
                row=row, col=1,
            )  # fmt: skip
        rates = list(checks.values())
        checked = dots(
            (place(session, axis, -1 if stage is None else stage, session.spec.training.steps) for stage in checks), rates,
            name, "valid on held-out boards", error_y=whiskers(rates, color),
            mode="lines+markers", name=name, legendgroup=str(number), line=dict(color=color, width=1.2, dash=DASHES[number]),
            marker=dict(symbol=SYMBOLS[number], size=11, color=color, line=dict(width=1.2, color="white")),
        )  # fmt: skip
        figure.add_trace(checked, row=1, col=1)
        spoken.append(f"{name}: " + (", ".join(rate.percent for rate in rates) or "not measured"))
    end = max(place(session, axis, session.spec.stages - 1, session.spec.training.steps) for _, session in runs)
    figure.update_xaxes(showgrid=False, range=[-0.02 * end, 1.02 * end])
    figure.update_xaxes(title_text=AXES[axis], row=2, col=1)
    percent_axis(figure, row=1, col=1)
    figure.update_yaxes(title_text="valid", row=1, col=1)
    figure.update_yaxes(title_text="reward", gridcolor=GRID_COLOR, zeroline=False, row=2, col=1)
    common_layout(figure, height=460, top=70 if len(runs) < 4 else 100)  # a legend of two lines
    figure.update_layout(legend=dict(y=1.03))
    return Chart(figure, f"Held-out valid rates of {len(runs)} runs by {AXES[axis]}. " + "; ".join(spoken) + ".")
