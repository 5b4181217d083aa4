"""A report as files, and choices that stand in the address."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import pandas as pd
import streamlit as st

from frozenlab.app.studies.views import VIEW_WORDS, of_measure
from frozenlab.experiments.studies.main_table import as_frame
from frozenlab.experiments.studies.report_page import html_page
from frozenlab.experiments.studies.rows import Difference
from frozenlab.experiments.studies.tables import MEASURES, StudyReport

Choice = TypeVar("Choice", bound=str)


def downloads(report: StudyReport, view: str) -> None:
    """The report in whole, and the figures of this view."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for label, data, kind in (
            ("HTML report", lambda: html_page(report), "html"),
            ("JSON", lambda: report.model_dump_json(indent=1), "json"),
            (f"CSV of {VIEW_WORDS[view].lower()}", lambda: rows_of(report, view).to_csv(index=False), "csv"),
        ):
            name = f"{report.id}-{view}.csv" if kind == "csv" else f"{report.id}.{kind}"
            st.download_button(label, data, name, on_click="ignore", key=f"study-{kind}", icon=":material/download:")


def rows_of(report: StudyReport, view: str) -> pd.DataFrame:
    """What a view shows, for both measures, as one table."""
    if view == "main" and report.main is not None:
        return as_frame(report.main)
    if view == "predictions":
        return pd.DataFrame([row.model_dump() for row in report.changes])
    rows: list[dict[str, Any]] = []
    for measure in MEASURES:
        found, of = of_measure(report, measure), {"measure": measure}
        if view == "arms":
            moments = [(curve.arm, point.trained, point.rows) for curve in found.curves for point in curve.points]
            moments = moments or [(arm.arm, report.spec.session.stages, arm.rows) for arm in found.arms]
            rows += [of | {"arm": arm, "trained": trained} | row for arm, trained, own in moments for row in own]
        else:
            shown: Sequence[Difference] = found.effects if view == "effects" else found.sizes
            rows += [of | flat for row in shown for flat in row.rows]
    return pd.DataFrame(rows)


def chosen(name: str, options: Sequence[Choice], label: str, words: dict[str, str]) -> Choice:
    """A choice that stands in the address."""
    key, asked = f"study-{name}", st.query_params.get(name)
    if st.session_state.get(key) not in options:  # another study had other options
        st.session_state[key] = asked if asked in options else options[0]
    choice = st.segmented_control(
        label, options, required=True, key=key, format_func=lambda option: words.get(option, option), label_visibility="collapsed",
    )  # fmt: skip
    assert choice is not None  # it is required
    st.query_params[name] = choice
    return choice
