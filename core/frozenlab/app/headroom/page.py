"""Headroom: what can be won here?"""

from __future__ import annotations

from html import escape

import streamlit as st

from frozenlab.app import experiment
from frozenlab.app.headroom.form import start_form
from frozenlab.app.headroom.views import VIEW_WORDS, VIEWS, show_checks, views
from frozenlab.app.ui import markup, sessions
from frozenlab.app.ui.glossary import explained
from frozenlab.base.numbers import counted, typeset
from frozenlab.experiments.headroom.report import REPORT, read_report
from frozenlab.experiments.headroom.report_tables import HeadroomReport
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.jobs.kept import Kept

LEAD = "Before one asks who decides best what a model practises next: how much can such a decision change at all?"


def page() -> None:
    """One measurement: its progress if it runs, and its report."""
    experiment.page(Headroom, "What can be won here?", LEAD, "Measure", start_form, show, everything())


def show(measurement: Headroom) -> None:
    """The report, or what was expected before."""
    report = report_of(measurement)
    if report is not None:
        show_report(report)
    elif measurement.spec.prediction:
        st.caption(f"Prediction: {markup.plain(typeset(measurement.spec.prediction))}")


_read = Kept(lambda path: read_report(path.parent.parent), 20)


def everything() -> dict[str, Headroom]:
    """All measurements by the name in the address; of those that come with FrozenLab, the ones that were run."""
    return {
        name: measurement
        for name, measurement in experiment.everything(Headroom).items()
        if not name.startswith(experiment.RECORDED) or (measurement.dir / REPORT).exists()
    }


def report_of(measurement: Headroom) -> HeadroomReport | None:
    """None before all is measured. Raises HeadroomError if it cannot be read."""
    path = measurement.dir / REPORT
    return _read(path) if path.exists() else None


def show_report(report: HeadroomReport) -> None:
    """The verdict in words, the targets, and the chosen view."""
    spec = report.spec
    took = "" if report.seconds is None else f" · {sessions.duration(report.seconds)}"
    parts = [counted(len(report.students), "student")]
    if spec.forks:
        parts.append(f"{len(spec.forks.menu)} configs × {spec.forks.replicates} replicates")
    if spec.probes:
        parts.append(f"{len(spec.probes.configs)} cells × {spec.probes.batches * spec.probes.tasks} tasks")
    st.html(f'<p class="fl-answer">{explained(report.verdict)}</p><p class="fl-note">{escape(" · ".join(parts))}{took}</p>')
    if spec.prediction:
        st.caption(f"Prediction: {markup.plain(typeset(spec.prediction))}")
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
