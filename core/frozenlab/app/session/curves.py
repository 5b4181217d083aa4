"""Results of a session: its figures over steps and stages, and two of its moments board by board."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from frozenlab.app.ui.figures import (
    AFTER_COLOR,
    BAND_COLOR,
    CHECK_COLOR,
    REWARD_COLOR,
    TITLED,
    Chart,
    Series,
    band,
    common_layout,
    dots,
    overall_by_cell,
    percent_axis,
    whiskers,
)
from frozenlab.base.cells import in_order
from frozenlab.base.numbers import Interval, percent
from frozenlab.session.session import SuiteName
from frozenlab.tasks.families import cell_label, cells_noun

METRICS = {
    "reward": "reward", "loss": "loss", "optimal": "optimal plans while training", "reward_std": "spread of rewards",
    "mixed": "boards with good and bad plans", "entropy": "entropy", "kl": "distance from the base (KL)", "length": "tokens of an answer",
    "clipped": "answers cut off", "grad_norm": "gradient norm", "learning_rate": "learning rate", "seconds": "seconds of a step",
}  # fmt: skip
"""What a session records at every step beside the valid rate of its plans, in words."""
SMOOTH, MOST_SMOOTH = 5, 25
"""Steps of the running mean, unless another number is chosen; of the longest."""


@dataclass(frozen=True)
class StageCurve:
    """What one stage logged while it trained, and its result."""

    label: str
    metrics: pd.DataFrame
    steps: int
    """Steps the stage has in all, so that a running stage has its full width."""
    check: Interval | None
    """Its result; None: not yet."""


def metrics_of(tables: Iterable[pd.DataFrame]) -> list[str]:
    """Those of METRICS that any step of these tables has."""
    found = {str(name) for table in tables for name in table.columns if table[name].notna().any()}
    return [name for name in METRICS if name in found]


def curve_controls(tables: Sequence[pd.DataFrame], usual: str = "reward") -> tuple[str, int]:
    """Which of METRICS is drawn below the valid rate, and over how many steps the lines are means."""
    offered = metrics_of(tables) or [usual]
    metric, means = st.columns([1.4, 1], vertical_alignment="bottom")
    below = metric.selectbox(
        "Below", offered, offered.index(usual) if usual in offered else 0, key=f"curve-below-{usual}", format_func=METRICS.__getitem__,
    )  # fmt: skip
    smooth = means.slider("Running mean, steps", 1, MOST_SMOOTH, SMOOTH, key="curve-smooth")
    return below, smooth


def training_curves(
    base: Interval | None, stages: Sequence[StageCurve], suite: SuiteName, smooth: int = SMOOTH, below: str = "reward"
) -> Chart:
    """Valid rate of the sampled plans, and one of METRICS ``below`` it, over all steps, with the results between the stages.

    Thin lines are single steps, thick ones a running mean over ``smooth`` of the stage's measured steps. Diamonds are results on the boards
    of the ``suite``, with intervals.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.09, row_heights=[0.62, 0.38])
    checks: list[tuple[int, str, Interval]] = [] if base is None else [(0, "before training", base)]
    offset = 0
    for number, stage in enumerate(stages):
        table = stage.metrics
        if len(table):
            for row, column, color, name in (
                (1, "valid", AFTER_COLOR, "valid plans while training"),
                (2, below, REWARD_COLOR, METRICS[below]),
            ):
                measured = table.reindex(columns=["step", column]).dropna()
                x, y = offset + measured["step"], measured[column]
                hover = f"{stage.label}, step %{{customdata}}<br>{name} " + ("%{y:.0%}" if row == 1 else "%{y:.3~g}") + "<extra></extra>"
                figure.add_trace(
                    go.Scatter(
                        x=x, y=y, mode="lines", line=dict(color=color, width=1), opacity=0.35,
                        name=f"{name}, each step", showlegend=False, hoverinfo="skip",
                    ),
                    row=row, col=1,
                )  # fmt: skip
                figure.add_trace(
                    go.Scatter(
                        x=x, y=y.rolling(smooth, min_periods=1).mean(), mode="lines", name=name,
                        line=dict(color=color, width=2.6),
                        legendgroup=name, showlegend=number == 0, customdata=measured["step"], meta=["step of the stage"],
                        hovertemplate=hover,
                    ),
                    row=row, col=1,
                )  # fmt: skip
        if number % 2 == 0:
            figure.add_vrect(x0=offset, x1=offset + stage.steps, fillcolor=BAND_COLOR, line_width=0, layer="below")
        figure.add_annotation(
            x=offset + stage.steps / 2,
            y=1,
            yref="y domain",
            text=stage.label,
            showarrow=False,
            yanchor="bottom",
            yshift=2,
            font=dict(size=13),
        )
        offset += stage.steps
        if stage.check is not None:
            checks.append((offset, f"after {stage.label.lower()}", stage.check))
    if checks:
        measured = [check for _, _, check in checks]
        results = dots(
            (x for x, _, _ in checks), measured, "%{customdata[0]}", lead=[(label,) for _, label, _ in checks],
            error_y=whiskers(measured, CHECK_COLOR, thickness=2, width=5),
            mode="markers+lines", name=f"valid on {suite} boards", line=dict(color=CHECK_COLOR, width=1.2, dash="dot"),
            marker=dict(symbol="diamond", size=12, color=CHECK_COLOR, line=dict(width=1.5, color="white")),
        )  # fmt: skip
        figure.add_trace(results, row=1, col=1)
    figure.update_xaxes(range=[-0.02 * max(offset, 1), max(offset, 1) * 1.02], showgrid=False)
    figure.update_xaxes(title_text="training step", row=2, col=1)
    known = [value for stage in stages if below in stage.metrics for value in stage.metrics[below].dropna()]
    figure.update_yaxes(title_text=METRICS[below], row=2, col=1, **({} if known else {"range": [0, 1]}))
    rates = [rate for stage in stages if "valid" in stage.metrics for rate in stage.metrics["valid"].dropna()]
    percent_axis(figure, "valid plans", min([*rates, *(check.low for _, _, check in checks)], default=0.0), row=1, col=1)
    common_layout(figure, height=340, top=28)
    rates_in_words = ", ".join(f"{label} {check.percent} valid (n = {check.n})" for _, label, check in checks)
    return Chart(
        figure, f"Training curves over {offset} steps in {len(stages)} stages. {suite.capitalize()} boards: {rates_in_words or 'none yet'}."
    )


def rates_over_stages(moments: Sequence[Series], metric: str = "valid") -> Chart:
    """Small multiples, one a cell, always in their order: the rate at each moment of the session with its interval as a band."""
    cells = in_order(cell for moment in moments for cell in moment.validation["config_cell"])
    tables = [overall_by_cell(moment.validation, metric) for moment in moments]
    columns = min(len(cells), 8)
    rows = -(-len(cells) // columns)
    figure = make_subplots(
        rows=rows, cols=columns, shared_yaxes=True, shared_xaxes=True, horizontal_spacing=0.012,
        subplot_titles=list(map(cell_label, cells)),
    )  # fmt: skip
    words = []
    for place, cell in enumerate(cells):
        x = [i for i, table in enumerate(tables) if cell in table]
        found = [tables[i][cell] for i in x]
        line = dots(
            x, found, f"{cell_label(cell)}, %{{customdata[0]}}", metric, [(moments[i].label,) for i in x],
            mode="lines+markers", line=dict(color=AFTER_COLOR, width=2.4), marker=dict(size=8),
        )  # fmt: skip
        for trace in band(x, [rate.low for rate in found], [rate.high for rate in found]), line:
            figure.add_trace(trace, row=place // columns + 1, col=place % columns + 1)
        words.append(f"{cell_label(cell)} {found[0].percent} to {found[-1].percent}")
    ticks = ["0"] + [str(i) for i in range(1, len(moments))]
    figure.update_xaxes(tickvals=list(range(len(moments))), ticktext=ticks, range=[-0.35, len(moments) - 0.65], showgrid=False)
    figure.update_xaxes(title=dict(text="stages trained", standoff=4), row=rows)
    percent_axis(figure, f"{metric} plans", min(rate.low for table in tables for rate in table.values()))
    common_layout(figure, height=190 * rows + 40, top=TITLED)
    figure.update_layout(showlegend=False)
    return Chart(figure, f"{metric} rate over the session by {cells_noun(cells)}: " + ", ".join(words) + ".")


def valid_by_cell(metrics: pd.DataFrame, steps: int, smooth: int = SMOOTH) -> Chart:
    """Small multiples, one a cell: the valid rate of one stage's sampled plans (columns ``valid_<cell>``) over its ``steps``."""
    cells = in_order(name.removeprefix("valid_") for name in metrics.columns if name.startswith("valid_"))
    figure = make_subplots(
        rows=1, cols=max(len(cells), 1), shared_yaxes=True, horizontal_spacing=0.012, subplot_titles=list(map(cell_label, cells))
    )
    words = []
    for column, cell in enumerate(cells, start=1):
        measured = metrics[["step", f"valid_{cell}"]].dropna()
        rate = measured[f"valid_{cell}"].rolling(smooth, min_periods=1).mean()
        figure.add_trace(
            go.Scatter(
                x=measured["step"], y=rate, mode="lines", line=dict(color=AFTER_COLOR, width=2.2),
                hovertemplate=f"{cell_label(cell)}, step %{{x}}<br><b>%{{y:.0%}}</b> of sampled plans valid<extra></extra>",
            ),
            row=1, col=column,
        )  # fmt: skip
        if len(rate):
            words.append(f"{cell_label(cell)} {percent(rate.iloc[0])} to {percent(rate.iloc[-1])}")
    figure.update_xaxes(range=[0, steps + 1], showgrid=False, tickvals=[0, steps // 2])  # one at the end would run into the next panel's
    figure.update_xaxes(title=dict(text="step", standoff=4))
    percent_axis(figure, "valid plans")
    common_layout(figure, height=220, top=TITLED)
    figure.update_layout(showlegend=False)
    return Chart(figure, f"Valid rate of sampled plans by {cells_noun(cells)} while training: " + ", ".join(words) + ".")
