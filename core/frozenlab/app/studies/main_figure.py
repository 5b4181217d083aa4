"""The figure of the study ``main``, in the shape of the paper's."""

from __future__ import annotations

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from frozenlab.app.studies.figures import Ink
from frozenlab.app.ui.figures import ARM_COLORS, GRID_COLOR, Chart, common_layout
from frozenlab.base.cells import in_order
from frozenlab.experiments.studies.grid import Measure
from frozenlab.experiments.studies.main_table import MainTable, in_words


def main_figure(table: MainTable, measure: Measure, ink: Ink) -> Chart:
    """A panel for each team: the rate by map size, a line for each arm with its 95 % t interval as whiskers."""
    groups, rates = table.groups, table.of(measure, None) or table.of(measure)
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
            whiskers = dict(
                type="data",
                symmetric=False,
                array=[one.high - one.mean if one.high is not None else 0 for one in own],
                arrayminus=[one.mean - one.low if one.low is not None else 0 for one in own],
                thickness=1,
                width=0,
            )
            figure.add_trace(
                go.Scatter(
                    x=[one.place or one.group for one in own],
                    y=[one.mean for one in own],
                    mode="lines+markers",
                    name=arm,
                    legendgroup=arm,
                    showlegend=column == 1,
                    error_y=whiskers,
                    line=dict(color=color, width=2.4),
                    marker=dict(size=8, color=color, symbol=place),
                    customdata=[in_words(one) for one in own],
                    hovertemplate=f"{arm}, {group} {table.columns[0]}, %{{x}}<br><b>%{{customdata}} %</b> {measure}<extra></extra>",
                ),
                row=1,
                col=column,
            )
    common_layout(figure, height=340, top=34)
    names = in_order(one.place or one.group for one in rates)
    figure.update_xaxes(type="category", categoryorder="array", categoryarray=names, title=(*table.columns, "")[1], showgrid=False)
    figure.update_yaxes(range=[-0.02, 1.02], tickformat=".0%", gridcolor=GRID_COLOR, zeroline=False)
    figure.update_annotations(font=dict(size=ink.size, color=ink.color))
    said = "; ".join(f"{one.arm}, {one.group} {table.columns[0]}: {in_words(one)} per cent" for one in table.of(measure))
    return Chart(figure, f"{measure.capitalize()} rate on the suite {table.suite}. {said}.")
