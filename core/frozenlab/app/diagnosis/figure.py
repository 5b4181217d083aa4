"""The picture of a diagnosis: how often each engineer finds the planted weakness, with chance as a line."""

from __future__ import annotations

import plotly.graph_objects as go

from frozenlab.app.ui.figures import ARM_COLORS, BEFORE_COLOR, GRID_COLOR, Chart, common_layout, whiskers
from frozenlab.base.numbers import Interval, percent
from frozenlab.experiments.diagnosis.report import DiagnosisReport, shown_words

SYMBOLS = ("circle", "circle-open", "square-open", "diamond-open", "triangle-up-open")
LANE, FEW = 18, 4
"""Pixels of one dot's lane; lanes of an engineer at the least."""


def diagnosis_figure(report: DiagnosisReport, color: str, size: int) -> Chart:
    """A group of dots for each engineer, one for each choice of sections, with intervals clustered by student.

    Args:
        color, size: of names and numbers.
    """
    engineers, choices = report.engineers, report.choices
    figure = go.Figure()
    for lane, choice in enumerate(choices):
        own = [found for found in report.found if found.shown == choice]
        rates = [Interval(rate.mean, rate.low, rate.high, rate.n) for rate in (found.rate for found in own)]
        offset = (lane - (len(choices) - 1) / 2) * 0.7 / max(len(choices), 1)
        ink = ARM_COLORS[lane % len(ARM_COLORS)] if lane < len(choices) - 1 or len(choices) == 1 else BEFORE_COLOR
        figure.add_trace(
            go.Scatter(
                x=[found.rate.mean for found in own],
                y=[engineers.index(found.engineer) + offset for found in own],
                mode="markers",
                name=shown_words(choice),
                marker=dict(size=10, color=ink, symbol=SYMBOLS[lane % len(SYMBOLS)], line=dict(width=2, color=ink)),
                error_x=whiskers(rates, ink, thickness=1.5, width=0),
                customdata=[[found.engineer, found.words, found.rate.students, found.rate.n] for found in own],
                hovertemplate="%{customdata[0]}, "
                + shown_words(choice)
                + "<br><b>%{customdata[1]}</b><br>%{customdata[2]} students, %{customdata[3]} answers<extra></extra>",
            )
        )
    figure.add_vline(
        x=report.chance, line=dict(dash="dash", width=1.5, color=BEFORE_COLOR), annotation_text=f"chance {percent(report.chance)}",
        annotation_position="bottom right", annotation_font=dict(size=size - 1, color=color),
    )  # fmt: skip
    common_layout(figure, height=LANE * max(FEW, len(choices)) * len(engineers) + 90, top=46)
    figure.update_layout(legend=dict(y=1.02, font=dict(size=size - 1, color=color)))
    figure.update_xaxes(range=[-0.02, 1.02], tickformat=".0~%", gridcolor=GRID_COLOR, zeroline=False, tickfont=dict(size=size, color=color))
    figure.update_yaxes(
        tickvals=list(range(len(engineers))), ticktext=engineers, range=[len(engineers) - 0.1, -0.5], showgrid=False, zeroline=False,
        ticklabelstandoff=8, tickfont=dict(size=size, color=color),
    )  # fmt: skip
    said = "; ".join(f"{found.engineer}, {shown_words(found.shown)}, {found.words}" for found in report.found)
    return Chart(figure, f"How often engineers find the planted weakness; chance is {percent(report.chance)}: {said}.")
