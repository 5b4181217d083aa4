"""Headroom: what can be won here?"""

from __future__ import annotations

import shlex
from html import escape

import streamlit as st

from frozenlab.app import experiment
from frozenlab.app.headroom.views import VIEW_WORDS, VIEWS, prediction_of, show_checks, views
from frozenlab.app.ui import markup, nav, sessions
from frozenlab.app.ui.components.draft import KEPT
from frozenlab.app.ui.glossary import explained
from frozenlab.base.errors import one_line
from frozenlab.base.files import Kept
from frozenlab.base.numbers import counted
from frozenlab.experiments.headroom.report_tables import HeadroomReport
from frozenlab.experiments.headroom.spec import HeadroomSpec
from frozenlab.experiments.headroom.store import REPORT, Headroom
from frozenlab.experiments.students.menu import student_words
from frozenlab.experiments.students.store import Student

LEAD = "Before one asks who decides best what a model practises next: how much can such a decision change at all?"


def page() -> None:
    """One measurement: its progress if it runs, and its report."""
    experiment.page(Headroom, "What can be won here?", LEAD, "Measure", start_form, show, everything())


@nav.dialog("Measure headroom", width="medium")
def start_form() -> None:
    presets = {measurement.id: measurement.spec for measurement in Headroom.shipped()}
    name = st.selectbox(
        "What is measured", list(presets), format_func=lambda one: f"{one} · {presets[one].title}", key="headroom-preset", **KEPT,
    )  # fmt: skip
    made = [student.name for student in Student.all(sessions.store()) if student.ready]
    offered = list(dict.fromkeys([*presets[name].students, "lab-model", *made]))
    chosen = st.multiselect(
        "Students", offered, ["lab-model"], key="headroom-students", **KEPT,
        help="Whose training is tried. With two or more, the value of information is measured too.",
    )  # fmt: skip
    if not chosen:
        st.info("Choose a student or more.")
        return
    prediction = st.text_area(
        "What do you expect?", key="headroom-prediction", **KEPT, max_chars=4000, help="Appears in the report above the result.",
    )  # fmt: skip
    try:
        changes = {"students": tuple(chosen), "prediction": prediction}
        spec = HeadroomSpec.model_validate(presets[name].model_dump() | changes)
    except ValueError as error:
        st.error(f"This cannot be measured: {markup.plain(one_line(error))}.")
        return
    forks = f": {len(spec.forks.menu)} configs × {spec.forks.replicates} replicates a student" if spec.forks else ""
    took = time_of(spec, presets[name])
    lasts = f" About {sessions.duration(took)}, as long as the recorded one for each part." if took else ""
    st.markdown(f"**{counted(spec.total, 'part')}**{forks}.{lasts} It runs in the background and can be stopped and resumed.")
    experiment.start_button(Headroom, spec)
    line = ["frozenlab", "headroom", "--preset", name]
    line += [] if spec.students == presets[name].students else ["--students", ",".join(chosen)]
    line += [] if spec.prediction == presets[name].prediction else ["--prediction", prediction]
    st.code(shlex.join(line), language="bash")


def time_of(spec: HeadroomSpec, preset: HeadroomSpec) -> float | None:
    """Seconds, by the recorded measurement of the preset; None if it was not timed."""
    timed = (report for one in Headroom.shipped() if one.spec == preset and (report := report_of(one)) is not None)
    return next((report.seconds / preset.total * spec.total for report in timed if report.seconds), None)


def show(measurement: Headroom) -> None:
    """The report, or what was expected before."""
    report = report_of(measurement)
    if report is not None:
        show_report(report)
    elif measurement.spec.prediction:
        st.caption(f"Prediction: {markup.plain(prediction_of(measurement.spec))}")


_read = Kept(lambda path: Headroom(path.parents[1]).report, 20)


def everything() -> dict[str, Headroom]:
    """All measurements by the name in the address; of those that come with FrozenLab, the ones that were run, and first of these the ones
    that measured headroom."""
    found = {
        name: measurement
        for name, measurement in experiment.everything(Headroom).items()
        if not name.startswith(experiment.RECORDED) or (measurement.dir / REPORT).exists()
    }
    return dict(sorted(found.items(), key=lambda item: item[0].startswith(experiment.RECORDED) and item[1].spec.forks is None))


def report_of(measurement: Headroom) -> HeadroomReport | None:
    """None before all is measured. Raises HeadroomError if it cannot be read."""
    path = measurement.dir / REPORT
    return _read(path) if path.exists() else None


def show_report(report: HeadroomReport) -> None:
    """The verdict in words, the targets, and the chosen view."""
    report = report.for_people
    matrices = tuple(matrix.model_copy(update={"student": student_words(matrix.student)}) for matrix in report.matrices)
    report = report.model_copy(update={"students": tuple(map(student_words, report.students)), "matrices": matrices})
    spec = report.spec
    took = "" if report.seconds is None else f" · {sessions.duration(report.seconds)}"
    parts = [counted(len(report.students), "student")]
    if spec.forks:
        parts.append(f"{len(spec.forks.menu)} configs × {spec.forks.replicates} replicates")
    if spec.probes:
        parts.append(f"{len(spec.probes.configs)} cells × {spec.probes.batches * spec.probes.tasks} tasks")
    markup.answer(explained(report.verdict), f"{escape(' · '.join(parts))}{took}")
    if report.forks is not None:
        show_checks(report)
    view = experiment.chosen(Headroom, "view", views(report), "What to look at", VIEW_WORDS)
    VIEWS[view](report)
    if report.forks is None:
        show_checks(report)
