"""The form of a new measurement."""

from __future__ import annotations

import streamlit as st

from frozenlab.app import experiment
from frozenlab.app.ui import markup, refusals, sessions
from frozenlab.base.errors import one_line
from frozenlab.experiments.headroom.spec import HeadroomSpec
from frozenlab.experiments.headroom.store import Headroom
from frozenlab.experiments.students.store import Student


@st.dialog("Measure headroom", width="medium")
def start_form() -> None:
    presets = {measurement.id: measurement.spec for measurement in Headroom.shipped()}
    name = st.selectbox("What is measured", list(presets), format_func=lambda one: f"{one} · {presets[one].title}", key="headroom-preset")
    made = [student.name for student in Student.all(sessions.store()) if student.ready]
    offered = list(dict.fromkeys([*presets[name].students, "lab-model", *made]))
    chosen = st.multiselect(
        "Students", offered, ["lab-model"], key="headroom-students",
        help="Whose training is tried. With two or more, the value of information is measured too.",
    )  # fmt: skip
    if not chosen:
        st.info("Choose a student or more.")
        return
    prediction = st.text_area(
        "What do you expect?", key="headroom-prediction", max_chars=4000, help="Appears in the report above the result."
    )
    try:
        changes = {"students": tuple(chosen), "prediction": prediction}
        spec = HeadroomSpec.model_validate(presets[name].model_dump() | changes)
    except ValueError as error:
        st.error(f"This cannot be measured: {markup.plain(one_line(error))}.")
        return
    forks = f": {len(spec.forks.menu)} configs × {spec.forks.replicates} replicates a student" if spec.forks else ""
    st.markdown(f"**{spec.units} parts**{forks}. It runs in the background and can be stopped and resumed.")
    asked = st.button(
        "Start", type="primary", key="headroom-start", icon=":material/play_arrow:", width="stretch", on_click=experiment.start,
        args=(Headroom, spec),
        **refusals.changes(),
    )  # fmt: skip
    if asked and experiment.error_of("headroom") not in st.session_state:
        st.rerun()
    refusals.show_reason(experiment.error_of("headroom"))
    students_option = "" if tuple(chosen) == presets[name].students else f" --students {','.join(chosen)}"
    st.caption("The same from the command line:")
    st.code(f"frozenlab headroom --preset {name}{students_option}", language="bash")
