"""The plots of the Benchmark page: rates by map size, ours and the paper's, and the outcomes of all boards."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from frozenlab.app.benchmark.lake.lines import Line, Metric, ranked, teams
from frozenlab.app.benchmark.lake.tables import lead_to, team_title
from frozenlab.app.ui.figures import GRID_COLOR, OUTCOME_PATTERNS, SEAM_COLOR, Chart, common_layout, percent_axis, size_label
from frozenlab.base.numbers import percent
from frozenlab.tasks.lake.words import OUTCOMES

APART, SPREAD = 0.1, 0.5
"""How far lines stand apart at one map size, and all of them together at most; of the distance of two sizes."""


def rates_figure(lines: Sequence[Line], metric: Metric) -> Chart:
    """The rate by map size with its interval, a panel a team size: ours solid and filled, the paper's hollow and dashed.

    ``customdata`` of each point begins with the way to its boards, empty for the paper.
    """
    panels = teams(lines)
    figure = make_subplots(
        rows=1, cols=len(panels), shared_yaxes=True, horizontal_spacing=0.03, subplot_titles=[team_title(agents) for agents in panels]
    )
    named: set[str] = set()
    for column, agents in enumerate(panels, start=1):
        sizes = sorted({size for line in lines for size in line.sizes(agents)})
        shown = [line for line in lines if line.sizes(agents)]
        for place, line in enumerate(shown):
            shift = min(APART, SPREAD / len(shown)) * (place - (len(shown) - 1) / 2)
            rates = {size: line.cells[agents, size, metric] for size in line.sizes(agents)}
            figure.add_trace(
                go.Scatter(
                    x=[sizes.index(size) + shift for size in rates],
                    y=[rate.value for rate in rates.values()],
                    error_y=dict(
                        type="data", symmetric=False, array=[rate.high - rate.value for rate in rates.values()],
                        arrayminus=[rate.value - rate.low for rate in rates.values()], thickness=1.3, width=0, color=line.color,
                    ),
                    mode="lines+markers",
                    line=dict(color=line.color, width=2 if line.ours else 1.4, dash=line.dash),
                    marker=dict(color=line.color, size=9, symbol=line.symbol, line=dict(width=1.6, color=line.color)),
                    name=line.name,
                    legendgroup=line.id,
                    showlegend=line.id not in named,
                    customdata=[
                        [lead_to(line, agents, size), size_label(size), rate.percents, rate.n, rate.percent]
                        for size, rate in rates.items()
                    ],
                    hovertemplate=f"{line.name} ({line.method})<br>{team_title(agents)}, %{{customdata[1]}}<br>"
                    f"<b>%{{customdata[4]}}</b> {metric}"
                    "<br>95 % interval %{customdata[2]}<br>n = %{customdata[3]}<extra></extra>",
                ),
                row=1, col=column,
            )  # fmt: skip
            named.add(line.id)
        figure.update_xaxes(
            tickvals=list(range(len(sizes))), ticktext=[size_label(size) for size in sizes], range=[-0.6, len(sizes) - 0.4],
            showgrid=False, zeroline=False, row=1, col=column,
        )  # fmt: skip
    percent_axis(figure)
    common_layout(figure, height=290)
    means = "; ".join(f"{line.name}: " + ", ".join(_mean(line, agents, metric) for agents in panels) for line in lines)
    return Chart(figure, f"{metric} rate by map size, a panel a team size. Means: {means}.")


def _mean(line: Line, agents: int, metric: Metric) -> str:
    rate = line.means.get((agents, metric))
    return f"{team_title(agents)} {rate.percent if rate else 'not measured'}"


def outcomes_figure(lines: Sequence[Line], agents: int, metric: Metric) -> Chart:
    """What became of all boards of one team size, a stacked bar a result; ``customdata`` begins with the way to the boards it counts."""
    shown = [line for line in ranked(lines, agents, metric) if line.ours]
    counts = {line.id: _outcomes(line, agents) for line in shown}
    figure = go.Figure()
    for outcome in (name for name in OUTCOMES if any(name in counted for counted in counts.values())):
        words = OUTCOMES[outcome].label
        boards = [counts[line.id].get(outcome, 0) for line in shown]
        n = [sum(counts[line.id].values()) for line in shown]
        figure.add_trace(
            go.Bar(
                y=[f"{line.sign} {line.name}" for line in shown],
                x=[had / of for had, of in zip(boards, n, strict=True)],
                orientation="h",
                name=words,
                marker=dict(
                    color=OUTCOMES[outcome].color, line=dict(width=0.5, color=SEAM_COLOR),
                    pattern=dict(shape=OUTCOME_PATTERNS.get(outcome, ""), fillmode="overlay", fgcolor=SEAM_COLOR, size=7, solidity=0.25),
                ),
                customdata=[
                    [lead_to(line, agents, outcome=outcome), had, of, percent(had / of, of)]
                    for line, had, of in zip(shown, boards, n, strict=True)
                ],
                hovertemplate=f"%{{y}}<br><b>{words}</b>: %{{customdata[1]:,}} of %{{customdata[2]:,}} boards "
                "(%{customdata[3]})<extra></extra>",
            )
        )  # fmt: skip
    figure.update_layout(barmode="stack", bargap=0.3)
    figure.update_xaxes(range=[0, 1], tickformat=".0%", gridcolor=GRID_COLOR, zeroline=False)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    common_layout(figure, height=134 + 38 * len(shown), top=104)
    figure.update_layout(
        legend=dict(
            xref="container", yref="container", y=1, yanchor="top", maxheight=1, entrywidth=0.5, entrywidthmode="fraction", font_size=10
        )
    )
    shares = "; ".join(
        f"{line.name}: " + ", ".join(f"{OUTCOMES[name].label} {boards}" for name, boards in counts[line.id].items()) for line in shown
    )
    return Chart(figure, f"What became of the boards with {team_title(agents)}. {shares}.")


def _outcomes(line: Line, agents: int) -> dict[str, int]:
    team = line.team(agents)
    if team is None:
        return {}
    return {"optimal": team.optimal, "suboptimal": team.valid - team.optimal} | team.faults
