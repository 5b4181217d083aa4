"""The answer at the top of Story: what the stage did, what was proposed after it, and whether that was right."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go
import streamlit as st

from frozenlab.app.session.claims import ClaimOutcome, boards_of, judgement, predictions_of, was_it_right
from frozenlab.app.session.curves import board_by_board
from frozenlab.app.session.proposals import what_changed
from frozenlab.app.story.moment import Moment
from frozenlab.app.ui import theme
from frozenlab.app.ui.components.timeline import stage_name
from frozenlab.app.ui.figures import (
    AFTER_COLOR,
    BEFORE_COLOR,
    GRID_COLOR,
    REWARD_COLOR,
    Chart,
    common_layout,
    overall,
    tick_label,
    whiskers,
)
from frozenlab.app.ui.glossary import explained
from frozenlab.app.ui.once import once
from frozenlab.base.numbers import decimals_of, number, percent, points, signed
from frozenlab.engineer.engineers import who_is
from frozenlab.session.ledger import Accuracy
from frozenlab.tasks.families import cell_label, cells_noun

SKILL_HELP = (
    "1 less the squared error of its predictions, divided by that of predicting that nothing changes. 1 is perfect, 0 is as good as "
    "predicting no change, below 0 is worse. One proposal has few predictions: the ledger below has those of the whole session."
)


def headline(moment: Moment) -> None:
    now, record = overall(moment.after), moment.record
    if moment.stage is None or moment.before is None:
        result = f"Before training, <b>{now.percent}</b> of its plans are valid."
        note = f"95 % interval {now.percents}, n = {now.n} held-out boards. {overall(moment.after, 'optimal').percent} are optimal."
    else:
        before, after = moment.before, moment.after
        change = once(lambda: board_by_board(before, after), "story headline", *moment.key)
        was, is_now = (percent(rate, change.n) for rate in (change.before, change.after))
        result = f"{stage_name(moment.stage)} took valid plans from {was} to <b>{is_now}</b>."
        note = f"{change.sentence} Now {now.percents} of all boards like these would be valid (95 % interval)."
    if record is None:
        answer(result, note)
    elif moment.is_last:
        answer(result, f"{note} It was the last stage: what {who_is(record.engineer)} proposed after it was never trained on.")
    else:
        said = f" Then {who_is(record.engineer)} {escape(what_changed(record))}."
        if moment.outcomes:
            said += f" <b>{was_it_right(moment.outcomes)}</b>"
        answer(result + said, note)


def answer(html: str, note: str) -> None:
    """The largest thing on the page. ``html`` is the page's own words, with nothing unescaped in it."""
    st.html(f'<p class="fl-answer">{html}</p><p class="fl-note">{explained(note)}</p>')


def was_right(moment: Moment) -> None:
    """Predicted and measured changes; nothing where no stage has tested the proposal."""
    accuracy = judgement(moment.outcomes)
    if accuracy is None:
        return
    st.subheader(
        "Was it right?", anchor=False,
        help="The predicted change of the valid rate on each cell, and the change that the next stage brought on the same boards.",
    )  # fmt: skip
    drawn, figures = st.columns([1.9, 1], gap="large", vertical_alignment="center")
    with drawn:
        theme.chart(once(lambda: changes_figure(moment.outcomes), "story changes", *moment.key), "changes")
    with figures:
        theme.facts(facts(accuracy, boards_of(moment.outcomes)))


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
            error_y=whiskers(came, AFTER_COLOR, scale=100),
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
