"""Choosing the suite, the results and the rate; every choice goes into the address."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from frozenlab.app.benchmark.lake.address import NOBODY, View, suites
from frozenlab.app.benchmark.lake.lines import METRICS, MOST_RESULTS, PAPER_SUITE, paper_models
from frozenlab.experiments.benchmark.lake.paper_results import PaperResults
from frozenlab.experiments.benchmark.lake.report import LakeReport
from frozenlab.tasks.lake.family import LAKE

Change = Callable[..., None]
"""Changes parts of the address, given by name; for callbacks."""
state = st.session_state


def choose_suite(view: View, reports: Sequence[LakeReport], change: Change) -> None:
    state["bench-suite"] = view.suite
    st.selectbox(
        "Suite", suites(reports), key="bench-suite", format_func=LAKE.suite_label,
        on_change=lambda: change(suite=[state["bench-suite"]], result=[]),
        help="A fixed set of held-out boards. Only results on the same suite are compared.",
    )  # fmt: skip


def choose_results(view: View, here: Mapping[str, LakeReport], paper: PaperResults, change: Change) -> None:
    """The results and rows of the paper to compare, and the rate."""
    rows = view.suite == PAPER_SUITE
    ours, theirs, rate = st.columns([1.9, 1.9, 1] if rows else [3.8, 0.01, 1], vertical_alignment="top")
    titles = {name: report.title for name, report in here.items()}
    double = {title for title in titles.values() if list(titles.values()).count(title) > 1}
    state["bench-results"] = list(view.results)
    ours.multiselect(
        "Results", list(titles), key="bench-results", max_selections=MOST_RESULTS, placeholder="choose checkpoints",
        format_func=lambda name: f"{titles[name]} ({name})" if titles[name] in double else titles[name],
        on_change=lambda: change(result=state["bench-results"] or [NOBODY]),
        help="Checkpoints that have been measured on this suite. Measure others with the button at the upper right.",
    )  # fmt: skip
    if rows:
        state["bench-paper"] = list(view.paper)
        theirs.multiselect(
            "Rows of the paper", paper_models(paper), key="bench-paper", placeholder="none",
            on_change=lambda: change(paper=state["bench-paper"] or [NOBODY]),
        )  # fmt: skip
    state["bench-metric"] = view.metric
    rate.segmented_control(
        "Rate", METRICS, key="bench-metric", required=True, on_change=lambda: change(metric=[state["bench-metric"]]),
        help="Valid: every agent arrives and no rule is broken. Optimal: that, in the fewest steps possible.",
    )  # fmt: skip
