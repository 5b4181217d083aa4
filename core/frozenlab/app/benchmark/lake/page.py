"""How good is a checkpoint at the lake, compared with others and with the paper?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from frozenlab.app.benchmark import measure
from frozenlab.app.benchmark.lake import boards
from frozenlab.app.benchmark.lake.address import Change, View, add, asked_now, choose_results, choose_suite, go, leave, read, write
from frozenlab.app.benchmark.lake.lines import in_order, line_of, looks, paper_line
from frozenlab.app.benchmark.lake.results import show_results
from frozenlab.app.ui import markup, refusals, theme
from frozenlab.experiments.benchmark.lake.paper_results import PaperResults, paper_results
from frozenlab.experiments.benchmark.lake.report import LakeReport
from frozenlab.experiments.benchmark.results import Result
from frozenlab.session.store import SessionStore

LEAD = "Models lead a team over the same frozen lakes, which none of them has practised on. How many of their plans work?"


def compare(opened: Sequence[Result], store: SessionStore) -> None:
    """Figures of the chosen results, or the boards behind one figure."""
    paper = paper_results()
    by_id = {result.id: result for result in opened}
    reports = in_order([result.report for result in opened if isinstance(result.report, LakeReport)])
    view = read(reports, paper, asked_now()) if reports else None
    if view is not None and view.boards is not None:
        show_boards(view, by_id, reports)
    else:
        show_figures(view, by_id, reports, paper, store)


def show_boards(view: View, found: Mapping[str, Result], reports: Sequence[LakeReport]) -> None:
    """The boards behind a figure of the view."""
    head, action = st.columns([3.7, 0.6], vertical_alignment="bottom")
    with head:
        theme.question("Which boards are behind the figure?")
    markup.styles()
    action.button("All figures", key="bench-back", icon=":material/arrow_back:", on_click=leave, width="stretch")
    write(view)
    here = {report.id: found[report.id] for report in reports if report.suite == view.suite}
    ink = theme.palette().text
    shown = [report for report in reports if report.id in view.results]
    look = looks([report for report in reports if report.id in here and report not in shown], ink) | looks(shown, ink)
    lines = {report.id: line_of(report, look[report.id]) for report in reports if report.id in here}
    assert view.boards is not None
    boards.show(view.boards, lines, here, view.metric)


def show_figures(
    view: View | None, found: Mapping[str, Result], reports: Sequence[LakeReport], paper: PaperResults, store: SessionStore
) -> None:
    """The results that the reader compares; ``view`` is None while nothing has been measured."""
    head, picker, action = st.columns([2.4, 1.3, 0.6], vertical_alignment="bottom")
    with head:
        theme.question("How good is a checkpoint?")
    markup.styles()
    with action:
        measure.button(store, reports)
    theme.under_question(LEAD)
    measure.under_way(store, add)
    if view is None:
        nothing_yet(store)
        return
    write(view)
    change: Change = partial(go, reports, paper)
    with picker:
        choose_suite(view, reports, change)
    offered = {report.id: report for report in reports if report.suite == view.suite}
    choose_results(view, offered, paper, change)
    look = looks([offered[name] for name in view.results], theme.palette().text)
    lines = [*(line_of(offered[name], look[name]) for name in view.results), *(paper_line(name, paper) for name in view.paper)]
    if view.unknown:
        st.warning("Not on this machine, and so not shown: " + ", ".join(markup.plain(name) for name in view.unknown))
    if lines:
        show_results(view, lines, found, paper, change)
    else:
        st.info("Choose a result above.")


def nothing_yet(store: SessionStore) -> None:
    """The empty state: what to do, and the button that does it."""
    st.info("No checkpoint has been measured yet. The lab model on the suite *quick* takes under a minute and fills this page.")
    st.button(
        "Measure the lab model", type="primary", key="measure-first", on_click=measure.start, args=("lab-model", "quick", store),
        **refusals.changes(),
    )  # fmt: skip
