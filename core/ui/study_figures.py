"""The plots of the Studies page: the arms with their seeds, and the effects with their intervals."""

from __future__ import annotations

import plotly.graph_objects as go

from core.lake.picture import AGENT_COLORS
from core.sessions.studies.report import ArmRates, Calibrated, EffectRow, percent, points
from core.ui.figures import AFTER_COLOR, BEFORE_COLOR, GRID_COLOR, Chart, common_layout

ROW = 34
"""Pixels a line."""


def arms_figure(arms: tuple[ArmRates, ...], measure: str) -> Chart:
    """A line an arm: a circle for each seed, joined by thin lines from arm to arm, and a diamond for the mean."""
    names = [arm.arm for arm in arms]
    seeds = sorted({seed for arm in arms for seed in arm.by_seed})
    figure = go.Figure()
    for seed in seeds:
        there = [arm for arm in arms if seed in arm.by_seed]
        figure.add_trace(
            go.Scatter(
                x=[arm.by_seed[seed] for arm in there],
                y=[arm.arm for arm in there],
                mode="lines+markers",
                name=f"seed {seed}",
                line=dict(width=1, color=BEFORE_COLOR, dash="dot"),
                marker=dict(size=9, color=BEFORE_COLOR, symbol="circle-open"),
                hovertemplate=f"%{{y}}, seed {seed}<br><b>%{{x:.1%}}</b> {measure}<extra></extra>",
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
            hovertemplate=f"%{{y}}, mean<br><b>%{{x:.1%}}</b> {measure}<extra></extra>",
        )
    )
    common_layout(figure, height=ROW * len(arms) + 60, top=10)
    figure.update_xaxes(tickformat=".1~%", gridcolor=GRID_COLOR, zeroline=False)
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], showgrid=False, ticklabelstandoff=8)
    told = "; ".join(f"{arm.arm} {percent(arm.mean)}" for arm in arms)
    return Chart(figure, f"Final {measure} rate by arm, mean over {len(seeds)} seeds: {told}.")


def effects_figure(effects: tuple[EffectRow, ...], measure: str) -> Chart:
    """A line an effect: its mean and its 95 % interval over seeds, around 0, in points."""
    names = [row.name for row in effects]
    figure = go.Figure()
    for row in effects:
        bounds = (row.low, row.high) if row.low is not None and row.high is not None else (row.mean, row.mean)
        clear = row.p_holm is not None and row.p_holm < 0.05
        color = AFTER_COLOR if clear else BEFORE_COLOR
        figure.add_trace(
            go.Scatter(
                x=[100 * row.mean],
                y=[row.name],
                mode="markers",
                showlegend=False,
                error_x=dict(
                    type="data",
                    symmetric=False,
                    array=[100 * (bounds[1] - row.mean)],
                    arrayminus=[100 * (row.mean - bounds[0])],
                    thickness=2.5,
                    width=0,
                    color=color,
                ),
                marker=dict(size=11, color=color, symbol="circle" if clear else "circle-open", line=dict(width=2)),
                hovertemplate=f"{row.name}<br><b>{points(row.mean)} points</b> {measure}, {points(bounds[0])} to {points(bounds[1])}"
                f"<br>{row.n} seeds<extra></extra>",
            )
        )
    common_layout(figure, height=ROW * len(effects) + 60, top=10)
    figure.update_xaxes(ticksuffix=" pts", gridcolor=GRID_COLOR, zeroline=True, zerolinecolor=BEFORE_COLOR, zerolinewidth=1.5)
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], showgrid=False, ticklabelstandoff=8)
    told = "; ".join(f"{row.name} {points(row.mean)} points" for row in effects)
    return Chart(figure, f"Change of the final {measure} rate: {told}.")


def calibration_figure(rows: tuple[Calibrated, ...]) -> Chart:
    """What engineers expected against what was measured: on the diagonal they were right. A point's area is its number of predictions."""
    arms = list(dict.fromkeys(row.arm for row in rows))
    figure = go.Figure()
    lowest = max(0.0, min(min(row.expected, row.measured) for row in rows) - 0.08)
    figure.add_trace(go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line=dict(color=GRID_COLOR, width=2), hoverinfo="skip", showlegend=False))
    for place, arm in enumerate(arms):
        own = [row for row in rows if row.arm == arm]
        figure.add_trace(
            go.Scatter(
                x=[row.expected for row in own],
                y=[row.measured for row in own],
                mode="markers",
                name=arm,
                marker=dict(
                    size=[6 + 3 * row.n**0.5 for row in own], color=AGENT_COLORS[place % len(AGENT_COLORS)], symbol=place, opacity=0.8
                ),
                customdata=[row.n for row in own],
                hovertemplate=f"{arm}<br>expected %{{x:.0%}}, measured <b>%{{y:.0%}}</b><br>%{{customdata}} predictions<extra></extra>",
            )
        )
    common_layout(figure, height=340)
    figure.update_xaxes(title="expected", range=[lowest, 1.03], tickformat=".0%", gridcolor=GRID_COLOR, zeroline=False)
    figure.update_yaxes(title="measured", range=[lowest, 1.03], tickformat=".0%", gridcolor=GRID_COLOR, zeroline=False)
    told = "; ".join(f"{row.arm} expected {percent(row.expected)}, measured {percent(row.measured)} (n = {row.n})" for row in rows)
    return Chart(figure, f"Predictions against what was measured: {told}.")
