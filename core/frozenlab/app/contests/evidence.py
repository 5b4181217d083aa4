"""What the student does before training: how often it succeeds at each kind of task, tasks that it failed, and the evidence in lines."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.session import evidence
from frozenlab.app.ui import markup, theme
from frozenlab.app.ui.figures import Series, overall_by_cell, rates_by_cell
from frozenlab.app.ui.markup import cited
from frozenlab.app.views.view import Shown
from frozenlab.app.views.views import view_of
from frozenlab.base.cells import in_order
from frozenlab.experiments.contests.store import Contest
from frozenlab.tasks.families import cell_label


def what_it_does(contest: Contest) -> None:
    """The evidence of the student before training, on its validation boards."""
    base = contest.base
    table = None if base is None else base.validation(None)
    context = None if base is None else base.context(None)
    if base is None or table is None or context is None:
        return
    rates = overall_by_cell(table)
    theme.facts(
        [(rates[cell].percent, cell_label(cell), f"95 % interval {rates[cell].percents}, n = {rates[cell].n}") for cell in in_order(rates)]
    )
    st.caption(
        "How many of its answers are right before training, by kind of task: 2 on 9×9 are boards of 9×9 cells on which it plans for two "
        f"agents at once. {len(table)} tasks outside the training."
    )
    left, right = st.columns([1.2, 1], gap="large")
    failed = table[~table["valid"]]
    with left:
        if len(failed):
            worst = min(rates, key=lambda cell: rates[cell].value)
            names = [cell for cell in in_order(rates) if (failed["config_cell"] == cell).any()]
            of = st.segmented_control(
                "A task it failed, of", names, key=f"contest-failed-{contest.id}", default=worst if worst in names else names[0],
                required=True, format_func=cell_label,
            )  # fmt: skip
            row = failed[failed["config_cell"] == of].iloc[0]
            view_of(base.spec.tasks).show(Shown(row, "before training"), None, key="contest-failed-board", height=300)
    with right:
        st.markdown("**The evidence**, the same that the engineer reads. Click an id to see the tasks behind a line.")
        lines = markup.evidence_sections(context, ())
        with st.container(height=360, border=False):
            cited("".join(lines.values()), key="contest-evidence", on_pick=evidence.follow)
    with st.expander("The rates with their intervals"):
        theme.chart(rates_by_cell(None, Series("before training", table)), "contest-base-rates")
    evidence.open_boards(base, None, context)
