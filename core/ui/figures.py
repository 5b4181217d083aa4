"""Plotly figures that several pages share. Pure: data frames in, a figure and its alternative text out.

A rate is never drawn without its 95 % Wilson interval, and n stands in the hover text. Colours keep their distance under the common
colour-vision deficiencies and read on light and dark; where two faults share a hue a pattern tells them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import Literal

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from frozenlab.intervals import rates, wilson
from frozenlab.ui.chart import Chart
from frozenlab.ui.theme import OUTCOME_COLORS, OUTCOME_WORDS

BEFORE_COLOR = "#7B8EA5"
AFTER_COLOR = "#2484C6"
REWARD_COLOR = "#E0662B"
CHECK_COLOR = "#1E9E77"
"""Middle tones, so that one figure reads on both themes."""
GRID_COLOR = "rgba(128, 148, 170, 0.22)"
BAND_COLOR = "rgba(86, 180, 233, 0.10)"
BAND_BLUE = "rgba(36, 132, 198, 0.20)"
SEAM_COLOR = "rgba(255, 255, 255, 0.7)"

OUTCOME_ORDER = (*list(OUTCOME_COLORS)[:2], "valid", *list(OUTCOME_COLORS)[2:])
"""Best first, then the faults as the theme orders them: the stacking order everywhere."""
OUTCOME_PATTERNS = {"edge_conflict": "/", "out_of_bounds": "/", "illegal_jump": "x", "truncated": "/", "missing_agent": ".", "valid": "."}
"""Where a fault's colour is near another's, a pattern tells them apart."""


@dataclass(frozen=True)
class Series:
    """The validation of one moment of a session (before training, after stage 1, ...)."""

    label: str
    validation: pd.DataFrame


def percent(rate: float) -> str:
    """A rate as people read it: whole percent."""
    return f"{100 * rate:.0f} %"


def size_label(size: int) -> str:
    return f"{size}×{size}"


@dataclass(frozen=True)
class Rate:
    """A rate with its 95 % Wilson interval and n."""

    value: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, successes: int, n: int) -> Rate:
        """Of no boards at all: 0, anywhere in 0..1."""
        low, high = wilson(successes, n)
        return cls(successes / n if n else 0.0, low, high, n)

    @property
    def interval(self) -> str:
        return f"{100 * self.low:.0f} to {100 * self.high:.0f} %"


def overall(validation: pd.DataFrame, column: str = "valid") -> Rate:
    """The rate over all boards of a validation."""
    return Rate.of(int(validation[column].sum()), len(validation))


def overall_by_size(validation: pd.DataFrame) -> dict[int, Rate]:
    """The valid rate on each map size."""
    return {int(size): overall(rows) for size, rows in validation.groupby("size")}


def rates_by_size(before: Series | None, after: Series) -> Chart:
    """Valid and optimal rate by map size, before (hollow) and after (filled), with intervals; two panels of one scale.

    ``customdata`` of each point is its size, for pages that follow a click down to the boards.
    """
    figure = make_subplots(rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.04, subplot_titles=("valid", "optimal"))
    drawn = [(before, BEFORE_COLOR, "circle-open", -0.13)] if before else []
    drawn.append((after, AFTER_COLOR, "circle", 0.13 if before else 0.0))
    sizes = sorted({*after.validation["size"], *(before.validation["size"] if before else ())})
    tables = [rates(series.validation, by=["size"]) for series, *_ in drawn]
    for (series, color, symbol, shift), table in zip(drawn, tables, strict=True):
        for column, metric in enumerate(("valid", "optimal"), start=1):
            figure.add_trace(
                go.Scatter(
                    x=[sizes.index(size) + shift for size in table["size"]],
                    y=table[metric],
                    error_y=dict(
                        type="data", symmetric=False, array=table[f"{metric}_high"] - table[metric],
                        arrayminus=table[metric] - table[f"{metric}_low"], thickness=1.6, width=4, color=color,
                    ),
                    mode="markers",
                    cliponaxis=False,
                    marker=dict(color=color, size=10, symbol=symbol, line=dict(width=2, color=color)),
                    name=series.label,
                    legendgroup=series.label,
                    showlegend=column == 1,
                    customdata=table[["size", "n", f"{metric}_low", f"{metric}_high"]],
                    hovertemplate="%{customdata[0]}×%{customdata[0]}, " + series.label + "<br><b>%{y:.0%}</b> " + metric
                    + "<br>95 % interval %{customdata[2]:.0%} to %{customdata[3]:.0%}<br>n = %{customdata[1]}<extra></extra>",
                ),
                row=1,
                col=column,
            )  # fmt: skip
    figure.update_xaxes(
        tickvals=list(range(len(sizes))), ticktext=[size_label(size) for size in sizes], range=[-0.6, len(sizes) - 0.4], showgrid=False
    )
    percent_axis(figure, lowest=min(float(table[["valid_low", "optimal_low"]].min(axis=None)) for table in tables))
    common_layout(figure, height=300)
    return Chart(figure, "Valid and optimal rate by map size. " + _rates_in_words(before, after))


def faults_by_size(panels: Sequence[Series]) -> Chart:
    """Outcomes of all boards by map size as stacked shares, one panel a moment, same order and scale in each.

    ``customdata`` of each bar is ``[size, outcome, boards, n]``.
    """
    figure = make_subplots(
        rows=1, cols=len(panels), shared_yaxes=True, horizontal_spacing=0.04, subplot_titles=[panel.label for panel in panels]
    )
    named: set[str] = set()
    worst_faults = []
    for column, panel in enumerate(panels, start=1):
        counts = pd.crosstab(panel.validation["size"], panel.validation["outcome"])
        totals = counts.sum(axis=1)
        for outcome in (name for name in OUTCOME_ORDER if name in counts.columns):
            boards = counts[outcome]
            words = OUTCOME_WORDS[outcome]
            figure.add_trace(
                go.Bar(
                    x=[size_label(size) for size in counts.index],
                    y=boards / totals,
                    name=words,
                    legendgroup=outcome,
                    legendrank=OUTCOME_ORDER.index(outcome),
                    showlegend=outcome not in named,
                    marker=dict(
                        color=OUTCOME_COLORS.get(outcome, OUTCOME_COLORS["suboptimal"]),
                        line=dict(width=0.5, color=SEAM_COLOR),
                        pattern=dict(
                            shape=OUTCOME_PATTERNS.get(outcome, ""), fillmode="overlay", fgcolor=SEAM_COLOR, size=7, solidity=0.25
                        ),
                    ),
                    customdata=[[int(size), outcome, int(boards[size]), int(totals[size])] for size in counts.index],
                    hovertemplate=f"%{{x}}, {panel.label}<br><b>{words}</b>: "
                    "%{customdata[2]} of %{customdata[3]} boards (%{y:.0%})<extra></extra>",
                ),
                row=1,
                col=column,
            )  # fmt: skip
            named.add(outcome)
        worst = panel.validation.loc[panel.validation["fault"].notna(), "outcome"].value_counts()
        if len(worst):
            worst_faults.append(f"{panel.label}: most often {OUTCOME_WORDS[str(worst.index[0])]} ({worst.iloc[0]} boards)")
        else:
            worst_faults.append(f"{panel.label}: no fault")
    figure.update_layout(barmode="stack", bargap=0.18)
    figure.update_xaxes(showgrid=False)
    percent_axis(figure)
    common_layout(figure, height=320)
    return Chart(figure, "What became of the boards by map size. " + "; ".join(worst_faults) + ".")


@dataclass(frozen=True)
class StageCurve:
    """What one stage logged while it trained, and the validation that followed."""

    label: str
    metrics: pd.DataFrame
    steps: int
    """Steps the stage has in all, so that a running stage has its full width."""
    check: Rate | None
    """Its validation; None: not yet."""


def training_curves(base: Rate | None, stages: Sequence[StageCurve], smooth: int = 5, below: Literal["reward", "loss"] = "reward") -> Chart:
    """Valid rate of the sampled plans, and below it reward or loss, over all steps, with the held-out validations between the stages.

    Thin lines are single steps, thick ones a running mean over ``smooth`` of the stage's measured steps. Diamonds are validations with
    intervals.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.09, row_heights=[0.62, 0.38])
    checks: list[tuple[int, str, Rate]] = [] if base is None else [(0, "before training", base)]
    offset = 0
    for number, stage in enumerate(stages):
        table = stage.metrics
        if len(table):
            for row, column, color, name in (
                (1, "valid", AFTER_COLOR, "valid plans while training"),
                (2, below, REWARD_COLOR, below),
            ):
                measured = table.reindex(columns=["step", column]).dropna()
                x, y = offset + measured["step"], measured[column]
                hover = f"{stage.label}, step %{{customdata}}<br>{name} " + ("%{y:.0%}" if row == 1 else "%{y:.3f}") + "<extra></extra>"
                figure.add_trace(
                    go.Scatter(
                        x=x, y=y, mode="lines", line=dict(color=color, width=1), opacity=0.35,
                        showlegend=False, hoverinfo="skip",
                    ),
                    row=row, col=1,
                )  # fmt: skip
                figure.add_trace(
                    go.Scatter(
                        x=x, y=y.rolling(smooth, min_periods=1).mean(), mode="lines", name=name,
                        line=dict(color=color, width=2.6),
                        legendgroup=name, showlegend=number == 0, customdata=measured["step"], hovertemplate=hover,
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
        figure.add_trace(
            go.Scatter(
                x=[x for x, _, _ in checks], y=[check.value for _, _, check in checks], mode="markers+lines",
                name="validation, held-out boards",
                marker=dict(symbol="diamond", size=12, color=CHECK_COLOR, line=dict(width=1.5, color="white")),
                line=dict(color=CHECK_COLOR, width=1.2, dash="dot"),
                error_y=dict(
                    type="data", symmetric=False, array=[check.high - check.value for _, _, check in checks],
                    arrayminus=[check.value - check.low for _, _, check in checks], thickness=2, width=5, color=CHECK_COLOR,
                ),
                customdata=[[label, check.low, check.high, check.n] for _, label, check in checks],
                hovertemplate="%{customdata[0]}<br><b>%{y:.0%}</b> valid<br>95 % interval %{customdata[1]:.0%} to %{customdata[2]:.0%}"
                "<br>n = %{customdata[3]}<extra></extra>",
            ),
            row=1, col=1,
        )  # fmt: skip
    figure.update_xaxes(range=[-0.02 * max(offset, 1), max(offset, 1) * 1.02], showgrid=False)
    figure.update_xaxes(title_text="training step", row=2, col=1)
    known = [value for stage in stages if below in stage.metrics for value in stage.metrics[below].dropna()]
    figure.update_yaxes(title_text=below, row=2, col=1, **({} if known else {"range": [0, 1]}))
    percent_axis(figure, row=1, col=1)
    figure.update_yaxes(title_text="valid", row=1, col=1)
    common_layout(figure, height=430, top=58)
    rates_in_words = ", ".join(f"{label} {percent(check.value)} valid (n = {check.n})" for _, label, check in checks)
    return Chart(figure, f"Training curves over {offset} steps in {len(stages)} stages. Validation: {rates_in_words or 'none yet'}.")


def rates_over_stages(moments: Sequence[Series], metric: str = "valid") -> Chart:
    """Small multiples, one a map size, always in order of size: the rate at each moment of the session with its interval as a band."""
    sizes = sorted({int(size) for moment in moments for size in moment.validation["size"]})
    tables = [rates(moment.validation, by=["size"]).set_index("size") for moment in moments]
    columns = min(len(sizes), 8)
    rows = -(-len(sizes) // columns)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        shared_yaxes=True,
        shared_xaxes=True,
        horizontal_spacing=0.012,
        subplot_titles=[size_label(size) for size in sizes],
    )
    words = []
    for place, size in enumerate(sizes):
        present = [(i, table.loc[size]) for i, table in enumerate(tables) if size in table.index]
        x = [i for i, _ in present]
        at = dict(row=place // columns + 1, col=place % columns + 1)
        lows, highs, middle = ([float(line[f"{metric}{suffix}"]) for _, line in present] for suffix in ("_low", "_high", ""))
        figure.add_trace(
            go.Scatter(
                x=x + x[::-1], y=highs + lows[::-1], fill="toself", fillcolor=BAND_BLUE, mode="lines", line=dict(width=0), hoverinfo="skip"
            ),
            **at,
        )
        figure.add_trace(
            go.Scatter(
                x=x, y=middle, mode="lines+markers", line=dict(color=AFTER_COLOR, width=2.4), marker=dict(size=8),
                customdata=[[moments[i].label, int(line["n"]), line[f"{metric}_low"], line[f"{metric}_high"]] for i, line in present],
                hovertemplate=f"{size_label(size)}, %{{customdata[0]}}<br><b>%{{y:.0%}}</b> {metric}"
                "<br>95 % interval %{customdata[2]:.0%} to %{customdata[3]:.0%}<br>n = %{customdata[1]}<extra></extra>",
            ),
            **at,
        )  # fmt: skip
        words.append(f"{size_label(size)} {percent(middle[0])} to {percent(middle[-1])}")
    ticks = ["0"] + [str(i) for i in range(1, len(moments))]
    figure.update_xaxes(tickvals=list(range(len(moments))), ticktext=ticks, range=[-0.35, len(moments) - 0.65], showgrid=False)
    percent_axis(figure, lowest=min(float(table[f"{metric}_low"].min()) for table in tables))
    common_layout(figure, height=190 * rows + 20, top=30)
    figure.update_layout(showlegend=False)
    return Chart(figure, f"{metric} rate over the session by map size: " + ", ".join(words) + ".")


def valid_by_size(metrics: pd.DataFrame, steps: int, smooth: int = 5) -> Chart:
    """Small multiples, one a map size: the valid rate of one stage's sampled plans (columns ``valid_<size>``) over its ``steps``."""
    sizes = sorted(int(name.removeprefix("valid_")) for name in metrics.columns if name.startswith("valid_"))
    figure = make_subplots(
        rows=1, cols=max(len(sizes), 1), shared_yaxes=True, horizontal_spacing=0.012, subplot_titles=[size_label(size) for size in sizes]
    )
    words = []
    for column, size in enumerate(sizes, start=1):
        measured = metrics[["step", f"valid_{size}"]].dropna()
        rate = measured[f"valid_{size}"].rolling(smooth, min_periods=1).mean()
        figure.add_trace(
            go.Scatter(
                x=measured["step"], y=rate, mode="lines", line=dict(color=AFTER_COLOR, width=2.2),
                hovertemplate=f"{size_label(size)}, step %{{x}}<br><b>%{{y:.0%}}</b> of sampled plans valid<extra></extra>",
            ),
            row=1, col=column,
        )  # fmt: skip
        if len(rate):
            words.append(f"{size_label(size)} {percent(rate.iloc[0])} to {percent(rate.iloc[-1])}")
    figure.update_xaxes(range=[0, steps + 1], showgrid=False, nticks=3)
    percent_axis(figure)
    common_layout(figure, height=200, top=34)
    figure.update_layout(showlegend=False)
    return Chart(figure, "Valid rate of sampled plans by map size while training: " + ", ".join(words) + ".")


def _rates_in_words(before: Series | None, after: Series) -> str:
    parts = []
    for series in ([before] if before else []) + [after]:
        table = rates(series.validation, by=["size"])
        line = ", ".join(f"{size_label(int(size))} {percent(valid)}" for size, valid in zip(table["size"], table["valid"], strict=True))
        parts.append(f"{series.label}: valid {line} (n = {len(series.validation)}).")
    return " ".join(parts)


def percent_axis(figure: go.Figure, lowest: float = 0.0, **place: int) -> None:
    """A scale to 100 %, of all panels or of the one at ``row`` and ``col``.

    Args:
        lowest: what has to be on it; it begins at the quarter below.
    """
    begin = floor(4 * lowest) / 4
    step = 0.25 if begin < 0.5 else 0.1
    ticks = [round(1 - step * i, 2) for i in range(5) if 1 - step * i >= begin - 0.01]
    figure.update_yaxes(range=[begin - 0.02, 1.02], tickformat=".0%", tickvals=ticks, gridcolor=GRID_COLOR, zeroline=False, **place)


def common_layout(figure: go.Figure, height: int, top: int = 64) -> None:
    """What all figures share: legend above, little margin, no toolbar clutter, stable zoom."""
    figure.update_layout(
        height=height, margin=dict(l=8, r=8, t=top, b=8), hoverlabel=dict(align="left"), dragmode=False, uirevision="keep",
        legend=dict(orientation="h", yanchor="bottom", y=1.12, x=0, xanchor="left", traceorder="normal"),
    )  # fmt: skip
