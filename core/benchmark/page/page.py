"""Benchmark: how good is a checkpoint, compared with others and with the paper?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from frozenlab.benchmark.page import boards, measure
from frozenlab.benchmark.page.address import View, asked_now, go, leave, read, write
from frozenlab.benchmark.page.choose import Change, choose_results, choose_suite
from frozenlab.benchmark.page.comparison import in_order, line_of, looks, paper_line
from frozenlab.benchmark.page.results import show_results
from frozenlab.benchmark.paper_results import PaperResults, paper_results
from frozenlab.benchmark.report import Report, Result, results
from frozenlab.loop.store import SessionStore
from frozenlab.ui import markup, sessions, theme


def page() -> None:
    """Figures of the chosen results, or the boards behind one figure."""
    store, paper = sessions.store(), paper_results()
    everything = [opened(str(result.dir), changed(result)) for result in results(store)]
    found = {result.id: result for result in everything if result.report is not None}
    reports = in_order([result.report for result in found.values() if result.report is not None])
    view = read(reports, paper, asked_now()) if reports else None
    if view is not None and view.boards is not None:
        show_boards(view, found, reports)
    else:
        show_figures(view, found, reports, paper, store)
    for problem in [problem for result in everything for problem in result.problems]:
        st.warning(f"A result is damaged; the rest is shown. {markup.plain(problem)}")


def changed(result: Result) -> tuple[int, ...]:
    """When the files of a result were written last."""
    files = (result.dir / name for name in ("report.json", "boards.parquet"))
    return tuple(file.stat().st_mtime_ns if file.exists() else 0 for file in files)


@st.cache_resource(max_entries=200, show_spinner=False)
def opened(folder: str, changed: tuple[int, ...]) -> Result:
    """A result that is read once for all readers, as long as its files are not ``changed``."""
    return Result(Path(folder))


def show_boards(view: View, found: Mapping[str, Result], reports: Sequence[Report]) -> None:
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
    lines = {name: line_of(report, look[name]) for name in here if (report := here[name].report)}
    assert view.boards is not None
    boards.show(view.boards, lines, here, view.metric)


def show_figures(
    view: View | None, found: Mapping[str, Result], reports: Sequence[Report], paper: PaperResults, store: SessionStore
) -> None:
    """The results that the reader compares; ``view`` is None while nothing has been measured."""
    head, picker, action = st.columns([2.4, 1.3, 0.6], vertical_alignment="bottom")
    with head:
        theme.question("How good is a checkpoint?")
    markup.styles()
    with action:
        measure.button(store, reports)
    measure.under_way(store)
    if view is None:
        measure.nothing_yet(store)
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
