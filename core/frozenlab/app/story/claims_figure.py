"""Whether a proposal was right: predicted and measured changes of each cell."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from frozenlab.app.session.claim_outcomes import ClaimOutcome, predictions_of
from frozenlab.app.ui.chart import Chart
from frozenlab.app.ui.figures import AFTER_COLOR, BEFORE_COLOR, GRID_COLOR, REWARD_COLOR, common_layout, tick_label
from frozenlab.base.numbers import decimals_of, number, points, signed
from frozenlab.session.ledger import Accuracy
from frozenlab.tasks.labels import cell_label, cells_noun

SKILL_HELP = (
    "1 less the squared error of its predictions, divided by that of predicting that nothing changes. 1 is perfect, 0 is as good as "
    "predicting no change, below 0 is worse. One proposal has few predictions: the ledger below has those of the whole session."
)


def facts(accuracy: Accuracy, n: int) -> list[tuple[str, str, str]]:
    """Its figures, of ``n`` boards, for :func:`frozenlab.app.ui.theme.facts`: value, name, help."""
    skill = "–" if accuracy.skill is None else number(accuracy.skill, sign=True)
    return [
        (signed(accuracy.predicted, n), "points predicted", "Mean change of the valid rate over the cells that its claims name."),
        (signed(accuracy.measured, n), "points measured", "Mean over the same cells, on the held-out boards after the next stage."),
        (number(100 * accuracy.error, decimals_of(n)), "points off", "Root mean square of predicted less measured change."),
        (
            number(100 * accuracy.naive_error, decimals_of(n)),
            "points off by predicting no change",
            "The prediction that any other has to beat.",
        ),
        (skill, "skill, 0 is no better than no change", SKILL_HELP),
    ]


def changes_figure(outcomes: Sequence[ClaimOutcome]) -> Chart:
    """Predicted and measured change of the valid rate by cell; the line at 0 is the prediction that nothing changes."""
    tested = predictions_of(outcomes)
    cells = [cell_label(outcome.claim.cell) for outcome in tested]
    places = [tick_label(outcome.claim.cell) for outcome in tested]
    came = [outcome.measured for outcome in tested if outcome.measured is not None]
    said = [outcome.predicted for outcome in tested if outcome.predicted is not None]
    figure = go.Figure()
    figure.add_trace(
        go.Scatter(
            x=places, y=[100 * change.value for change in came], mode="markers", name="measured",
            error_y=dict(
                type="data", symmetric=False, array=[100 * (change.high - change.value) for change in came],
                arrayminus=[100 * (change.value - change.low) for change in came], thickness=1.6, width=4, color=AFTER_COLOR,
            ),
            marker=dict(color=AFTER_COLOR, size=10),
            customdata=[(change.bounds, change.n, points(change.value, change.n)) for change in came],
            hovertemplate="%{x}, measured <b>%{customdata[2]}</b><br>95 % interval %{customdata[0]}, n = %{customdata[1]}<extra></extra>",
        )
    )  # fmt: skip
    figure.add_trace(
        go.Scatter(
            x=places, y=[100 * change for change in said], mode="markers", name="predicted",
            marker=dict(color=REWARD_COLOR, size=13, symbol="line-ew", line=dict(color=REWARD_COLOR, width=4)),
            customdata=[outcome.said for outcome in tested],
            hovertemplate="%{x}, predicted <b>%{customdata} points</b><extra></extra>",
        )
    )  # fmt: skip
    figure.add_hline(y=0, line=dict(color=BEFORE_COLOR, width=1.5, dash="dot"))
    figure.update_xaxes(showgrid=False, type="category")
    figure.update_yaxes(title_text="change, points", gridcolor=GRID_COLOR, zeroline=False)
    common_layout(figure, height=260, top=40)
    words = "; ".join(
        f"{cell} predicted {one.said}, measured {c.signed} ({c.bounds})" for cell, one, c in zip(cells, tested, came, strict=True)
    )
    noun = cells_noun(outcome.claim.cell for outcome in tested)
    return Chart(figure, f"Change of the valid rate by {noun}, in points: {words}.")
