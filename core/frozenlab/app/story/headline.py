"""The answer at the top of the page: what the stage did, what was proposed after it, and whether that was right."""

from __future__ import annotations

from html import escape

import streamlit as st

from frozenlab.app.session.board_by_board import board_by_board
from frozenlab.app.session.claim_outcomes import boards_of, judgement, was_it_right
from frozenlab.app.session.config_rows import what_changed
from frozenlab.app.story.claims_figure import changes_figure, facts
from frozenlab.app.story.moment import Moment
from frozenlab.app.ui import theme
from frozenlab.app.ui.components.timeline import stage_name
from frozenlab.app.ui.figures import overall
from frozenlab.app.ui.glossary import explained
from frozenlab.app.ui.once import once
from frozenlab.base.numbers import percent
from frozenlab.engineer.engineers import who_is


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
