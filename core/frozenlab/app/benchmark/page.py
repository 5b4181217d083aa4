"""Benchmark: how good is a checkpoint, compared with others and with the paper?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

import streamlit as st

from frozenlab.app.benchmark.lake.page import compare
from frozenlab.app.benchmark.measure import ERROR
from frozenlab.app.experiment import delete_button
from frozenlab.app.ui import markup, sessions
from frozenlab.base.cells import in_order
from frozenlab.experiments.benchmark.report import CellTally, PlainReport
from frozenlab.experiments.benchmark.results import Result, results
from frozenlab.tasks.families import cell_label


def page() -> None:
    """The results on boards; below them those of families that have no page of their own."""
    store = sessions.store()
    everything = [opened(str(result.dir), changed(result)) for result in results(store)]
    compare(everything, store)
    by_cell([result.report for result in everything if isinstance(result.report, PlainReport)])
    own_results({result.id: result for result in everything if not result.shipped})
    for problem in [problem for result in everything for problem in result.problems]:
        st.warning(f"A result is damaged; the rest is shown. {markup.plain(problem)}")


def own_results(own: Mapping[str, Result]) -> None:
    """Deleting results that were measured here."""
    if not own:
        return
    with st.popover(f"Your results ({len(own):,})", icon=":material/folder:"):
        chosen = own[st.selectbox("Result", list(own), key="own-result", format_func=lambda name: f"{own[name].title} · {name}")]
        delete_button(chosen, "result-delete", ERROR)


def changed(result: Result) -> tuple[int, ...]:
    """When the files of a result were written last."""
    files = (result.dir / name for name in ("report.json", "boards.parquet"))
    return tuple(file.stat().st_mtime_ns if file.exists() else 0 for file in files)


@st.cache_resource(max_entries=200, show_spinner=False)
def opened(folder: str, changed: tuple[int, ...]) -> Result:
    """A result that is read once for all readers, as long as its files are not ``changed``."""
    return Result(Path(folder))


def by_cell(reports: Sequence[PlainReport]) -> None:
    """A table for each suite that has results, which come in the order in which they were made."""
    for suite in dict.fromkeys(report.suite for report in reports):
        st.header(f"The suite {markup.plain(suite)}", anchor=False)
        own = sorted((report for report in reports if report.suite == suite), key=lambda report: report.created)
        cells = in_order({cell.cell for report in own for cell in report.cells})
        rows = [(escape(report.title), *rates(cells, report)) for report in own]
        head = [("result", ""), *((f"{cell_label(cell)}: {rate}", "") for cell in cells for rate in ("valid", "optimal"))]
        st.html(markup.table(f"Rates on the suite {suite}, with their 95 % intervals", head, rows))


def rates(cells: Sequence[str], report: PlainReport) -> list[str]:
    """Both rates of each cell, as cells of a table."""
    found = {cell.cell: cell for cell in report.cells}
    return [rate_of(found.get(name), rate) for name in cells for rate in ("valid", "optimal")]


def rate_of(cell: CellTally | None, name: str) -> str:
    """``88 % (7 of 8; 53 to 98 %)``; a dash for a cell that the result does not have."""
    if cell is None:
        return "–"
    rate = cell.rate(name)
    return f"{rate.percent} ({getattr(cell, name):,} of {cell.answers:,}; {rate.percents})"
