"""Headroom: what can be won here?"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from frozenlab.app.headroom.form import start_form
from frozenlab.app.headroom.known import Shown, everything
from frozenlab.app.headroom.running import ERROR, go_on, watch
from frozenlab.app.headroom.views import VIEW_WORDS, VIEWS, show_checks, views
from frozenlab.app.ui import markup, nav, refusals, sessions, theme
from frozenlab.app.ui.deleting import delete_button, undo_line
from frozenlab.app.ui.glossary import explained
from frozenlab.experiments.headroom.report_tables import HeadroomReport

LEAD = "Before one asks who decides best what a model practises next: how much can such a decision change at all?"


def page() -> None:
    """One measurement: its progress if it runs, and its report."""
    head, picker, action = st.columns([2.1, 1.7, 0.6], vertical_alignment="bottom")
    with head:
        theme.question("What can be won here?")
    markup.styles()
    if action.button("Measure", type="primary", key="headroom-new", width="stretch"):
        start_form()
    theme.under_question(LEAD)
    refusals.show_reason(ERROR)
    undo_line("headroom", ERROR, partial(nav.put, "headroom"))
    found = everything()
    if not found:
        st.info("Nothing is measured yet.")
        return
    shown = choose(found, picker)
    if not shown.recorded and shown.measurement.state().live:
        watch(shown.measurement)
    elif not shown.recorded:
        go_on(shown.measurement)
    report = shown.report()
    if report is not None:
        show_report(report)
    elif shown.measurement.spec.prediction:
        st.caption(f"Prediction: {markup.plain(shown.measurement.spec.prediction)}")
    if not shown.recorded and not shown.measurement.state().live:
        delete_button(shown.measurement, "headroom-delete", ERROR, partial(nav.put, "headroom", None))


def choose(found: Mapping[str, Shown], picker: DeltaGenerator) -> Shown:
    """The measurement in the address, else the first one."""
    asked = st.query_params.get("headroom")
    if asked is not None and asked not in found:
        st.warning("There is no such measurement here. This is another one instead.")
    current = asked if asked is not None and asked in found else next(iter(found))
    st.session_state["headroom-picker"] = st.query_params["headroom"] = current

    def pick() -> None:
        st.query_params["headroom"] = st.session_state["headroom-picker"]

    picker.selectbox("Measurement", list(found), key="headroom-picker", format_func=lambda name: found[name].label, on_change=pick)
    return found[current]


def show_report(report: HeadroomReport) -> None:
    """The verdict in words, the targets, and the chosen view."""
    spec = report.spec
    took = "" if report.seconds is None else f" · {sessions.duration(report.seconds)}"
    parts = [f"{len(report.students)} student{'s' if len(report.students) > 1 else ''}"]
    if spec.forks:
        parts.append(f"{len(spec.forks.menu)} configs × {spec.forks.replicates} replicates")
    if spec.probes:
        parts.append(f"{len(spec.probes.configs)} cells × {spec.probes.batches * spec.probes.tasks} tasks")
    st.html(f'<p class="fl-answer">{explained(report.verdict)}</p><p class="fl-note">{escape(" · ".join(parts))}{took}</p>')
    if spec.prediction:
        st.caption(f"Prediction: {markup.plain(spec.prediction)}")
    if report.forks is not None:
        show_checks(report)
    offered = views(report)
    if len(offered) > 1:
        asked = st.query_params.get("view")
        if st.session_state.get("headroom-view") not in offered:
            st.session_state["headroom-view"] = asked if asked in offered else offered[0]
        view = st.segmented_control(
            "What to look at", offered, required=True, key="headroom-view", format_func=VIEW_WORDS.__getitem__, label_visibility="collapsed"
        )
    else:
        view = offered[0]
    assert view is not None  # it is required
    st.query_params["view"] = view
    VIEWS[view](report)
    if report.forks is None:
        show_checks(report)
