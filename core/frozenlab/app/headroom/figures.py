"""The figures of the Headroom page: which skill teaches which, what each config changes, and how far measurements repeat."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from frozenlab.app.studies.figures import Ink, cell_shape, in_lines, map_of_numbers
from frozenlab.app.ui.figures import (
    AFTER_COLOR,
    ARM_COLORS,
    BEFORE_COLOR,
    GRID_COLOR,
    REWARD_COLOR,
    SYMBOLS,
    Chart,
    common_layout,
    whiskers,
)
from frozenlab.base.numbers import MANY, UNKNOWN, number, points, signed
from frozenlab.experiments.headroom.report_tables import DosePoint, ForksReport, HeadroomReport, Matrix
from frozenlab.experiments.headroom.spec import ONLY
from frozenlab.experiments.studies.pictures import shade
from frozenlab.tasks.families import cell_label

NAME_LETTERS = 18
"""Of a config's name in a line, so that a phone has room for its numbers."""
SEEN_FROM = 0.1
"""A cosine whose square is large enough to be seen around its number; a smaller one would only cover it."""


def matrix_figure(matrix: Matrix, ink: Ink) -> Chart:
    """A square for each two cells, as large as the cosine of their gradients.

    Positive ones are full and blue, negative ones hollow and orange. Cells whose gradient is not distinguishable from noise are left out.
    """
    seen = [place for place, visible in enumerate(matrix.seen) if visible]
    labels = [cell_label(matrix.cells[place]) for place in seen]
    shapes = []
    for x, column in enumerate(seen):
        for y, row in enumerate(seen):
            value = matrix.cosine[row][column]
            assert value is not None
            if x == y or abs(value) < SEEN_FROM:
                continue
            half = 0.46 * min(abs(value), 1)
            look: dict[str, Any] = {"fillcolor": shade(1, 1.6), "line": {"width": 0}}
            if value < 0:
                look = {"fillcolor": "rgba(0, 0, 0, 0)", "line": {"width": 2.5, "color": REWARD_COLOR}}
            shapes.append({"type": "rect", "x0": x - half, "x1": x + half, "y0": y - half, "y1": y + half, "layer": "below", **look})
    spots = [
        (x, y, short(matrix.cosine[seen[y]][seen[x]]), pair_words(matrix, seen[y], seen[x]))
        for y in range(len(seen))
        for x in range(len(seen))
        if x != y
    ]
    figure = map_of_numbers(labels, labels, spots, shapes, Ink(ink.color, ink.size - 1), names_size=ink.size, tickangle=-45)
    common_layout(figure, height=max(48 * len(seen), 220) + 110, top=90)
    figure.update_layout(margin_r=50)  # the last slanted name reaches beyond its column
    said = "; ".join(f"{labels[y]} and {labels[x]} {short(matrix.cosine[seen[y]][seen[x]])}" for y in range(len(seen)) for x in range(y))
    return Chart(figure, f"Cosines of the policy gradients of {matrix.student}, corrected for noise: {said or 'fewer than two cells'}.")


def short(value: float | None) -> str:
    """``.83``, ``−.12``, ``1.0``"""
    if value is None:
        return UNKNOWN
    text = number(value)
    return text.replace("0.", ".", 1) if abs(value) < 0.995 else number(value, 1)


def pair_words(matrix: Matrix, row: int, column: int) -> str:
    value, error = matrix.cosine[row][column], matrix.error[row][column]
    assert value is not None and error is not None
    return (
        f"{cell_label(matrix.cells[row])} and {cell_label(matrix.cells[column])}<br>cosine <b>{number(value)}</b>, "
        f"standard error {number(error)}<br>{matrix.tasks} tasks each"
    )


def configs_figure(forks: ForksReport, student: int | None, ink: Ink) -> Chart:
    """A number for each config and cell of the held-out tasks: the change of the valid rate, in points; a student's, or the mean of all."""
    students = range(len(forks.before)) if student is None else [student]
    configs, cells = list(forks.configs), list(forks.cells)
    changes = [
        [sum(forks.cell_gains[one][config][cell] for one in students) / len(students) for cell in range(len(cells))]
        for config in range(len(configs))
    ]
    means = [sum(row) / len(row) for row in changes]
    order = sorted(range(len(configs)), key=lambda config: (own_column(forks, config), -means[config]))
    reach = max(0.02, *(abs(value) for row in changes for value in row))
    columns = [*map(cell_label, cells), "<b>mean</b>"]
    spots, shapes = [], []
    for y, config in enumerate(order):
        for x, value in enumerate([*changes[config], means[config]]):
            shown = f"<b>{signed(value, MANY)}</b>" if x == len(cells) else signed(value, MANY)
            spots.append((x, y, shown, f"{configs[config]}, {columns[x]}<br><b>{points(value, MANY)}</b>"))
            shapes.append(cell_shape(x, y, shade(value, reach)))
    rows = ["<br>".join(textwrap.wrap(configs[config], NAME_LETTERS)) for config in order]
    figure = map_of_numbers(list(map(in_lines, columns)), rows, spots, shapes, Ink(ink.color, ink.size - 1), names_size=ink.size)
    common_layout(figure, height=56 * len(configs) + 136, top=120)  # on a phone the names of the columns stand upright
    said = "; ".join(f"{configs[config]} {signed(means[config], MANY)}" for config in order)
    return Chart(figure, f"Change of the valid rate by config, in points, mean over cells: {said}.")


def own_column(forks: ForksReport, config: int) -> int:
    """The cell that gains most from a config for one part of the tasks, over all students; -1 for a config for all. In this order such
    configs gain along the diagonal."""
    if not forks.configs[config].startswith(ONLY):
        return -1
    gains = [sum(one[config][cell] for one in forks.cell_gains) for cell in range(len(forks.cells))]
    return gains.index(max(gains))


def replicates_figure(report: HeadroomReport, forks: ForksReport) -> Chart:
    """The first measurement of every config against the second, in points, less the mean over the configs of a student and replicate: what
    is the config's lies along the slanted line."""
    figure = go.Figure()
    centred = [[[row[replicate] for row in of_student] for replicate in (0, 1)] for of_student in forks.gains]
    pairs = [[[100 * (value - sum(values) / len(values)) for value in values] for values in both] for both in centred]
    reach = 1.15 * max(1.0, *(abs(value) for both in pairs for values in both for value in values))
    figure.add_trace(
        go.Scatter(x=[-reach, reach], y=[-reach, reach], mode="lines", line={"width": 2, "color": GRID_COLOR}, hoverinfo="skip")
    )
    for place, (student, (first, second)) in enumerate(zip(report.students, pairs, strict=True)):
        figure.add_scatter(
            x=first, y=second, mode="markers", name=student, showlegend=len(pairs) > 1,
            marker={"size": 11, "symbol": SYMBOLS[place % len(SYMBOLS)], "color": ARM_COLORS[place % len(ARM_COLORS)], "opacity": 0.85},
            text=[f"{student}, {config}" for config in forks.configs],
            customdata=[[number(value, 1, sign=True) for value in both] for both in zip(first, second, strict=True)],
            hovertemplate="%{text}<br>replicate 1 <b>%{customdata[0]}</b>, replicate 2 <b>%{customdata[1]}</b> points<extra></extra>",
        )  # fmt: skip
    figure.data[0].showlegend = False
    common_layout(figure, height=360)
    figure.update_xaxes(title="replicate 1, points", range=[-reach, reach], gridcolor=GRID_COLOR, zerolinecolor=BEFORE_COLOR)
    figure.update_yaxes(title="replicate 2, points", range=[-reach, reach], gridcolor=GRID_COLOR, zerolinecolor=BEFORE_COLOR)
    alike = "no intraclass correlation" if forks.icc is None else f"intraclass correlation {number(forks.icc.value)}"
    return Chart(figure, f"Gains of {len(forks.configs)} configs in two replicates, {len(pairs)} students: {alike}.")


def dose_figure(doses: Sequence[DosePoint]) -> Chart:
    """The gain against the distance from the kept config in the direction of the best one, with 95 % intervals."""
    figure = go.Figure()
    gains = [point.gain for point in doses]
    figure.add_scatter(
        x=[point.dose for point in doses], y=[100 * gain.value for gain in gains], mode="lines+markers", marker={"size": 10},
        line={"color": AFTER_COLOR, "width": 2.6}, error_y=whiskers(gains, scale=100, thickness=2, width=0), showlegend=False,
        customdata=[points(gain.value, MANY) for gain in gains], hovertemplate="dose %{x:g}<br><b>%{customdata}</b><extra></extra>",
    )  # fmt: skip
    common_layout(figure, height=300, top=20)
    figure.update_xaxes(title="dose: 0 is the kept config, 1 the best", tickvals=[point.dose for point in doses], gridcolor=GRID_COLOR)
    figure.update_yaxes(title="gain, points", gridcolor=GRID_COLOR, zerolinecolor=BEFORE_COLOR)
    said = "; ".join(f"dose {point.dose:g} {signed(point.gain.value, MANY)}" for point in doses)
    return Chart(figure, f"Gain by dose, in points: {said}.")
