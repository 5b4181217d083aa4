"""Results of a family that has no page of its own, as tables: the rates in each cell of the suite."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from frozenlab.app.ui import markup
from frozenlab.base.cells import in_order
from frozenlab.base.numbers import Interval
from frozenlab.experiments.benchmark.report import CellTally, PlainReport
from frozenlab.tasks.labels import cell_label


def by_cell(reports: Sequence[PlainReport]) -> None:
    """A table for each suite that has results, which come in the order in which they were made."""
    for suite in dict.fromkeys(report.suite for report in reports):
        st.subheader(f"The suite {markup.plain(suite)}", anchor=False)
        own = sorted((report for report in reports if report.suite == suite), key=lambda report: report.created)
        cells = in_order({cell.cell for report in own for cell in report.cells})
        rows = [f'<tr><th scope="row">{escape(report.title)}</th>{"".join(rates(cells, report))}</tr>' for report in own]
        head = [("result", ""), *((f"{cell_label(cell)}: {rate}", "") for cell in cells for rate in ("valid", "optimal"))]
        st.html(markup.table(f"Rates on the suite {suite}, with their 95 % intervals", head, rows))


def rates(cells: Sequence[str], report: PlainReport) -> list[str]:
    """Both rates of each cell, as cells of a table."""
    found = {cell.cell: cell for cell in report.cells}
    return [f"<td>{rate_of(found.get(name), rate)}</td>" for name in cells for rate in ("valid", "optimal")]


def rate_of(cell: CellTally | None, name: str) -> str:
    """``88 % (7 of 8; 53 to 98 %)``; a dash for a cell that the result does not have."""
    if cell is None:
        return "–"
    rate = Interval(*cell.bounds(name))
    return f"{rate.percent} ({getattr(cell, name):,} of {cell.answers:,}; {rate.percents})"
