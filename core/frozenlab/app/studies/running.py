"""Starting, watching and stopping a study."""

from __future__ import annotations

import streamlit as st

from frozenlab.app.ui import api_form, markup, refusals, sessions
from frozenlab.app.ui.components.live import keep_current
from frozenlab.experiments.experiment import RunSettings
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study
from frozenlab.jobs import launcher
from frozenlab.jobs.share import cores

ERROR = "study_error"
"""Session-state entry: why the last thing that was asked for could not be done."""


def start(spec: StudySpec, jobs: int) -> None:
    """Starts a study and goes to it, or keeps the reason why not."""
    with refusals.keeping_reason(ERROR, "Not started"):
        st.query_params["study"] = Study.start(spec, sessions.store(), run=RunSettings(jobs=jobs)).id


def resume(study: Study) -> None:
    with refusals.keeping_reason(ERROR, "Not started"):
        study.resume(run=RunSettings(jobs=cores()))


def halt(study: Study) -> None:
    with refusals.keeping_reason(ERROR, "Not stopped"):
        launcher.stop(study)


@st.fragment
def watch(study: Study, drawn: int) -> None:
    """The progress of a running study. Draws the page again when another session is done."""
    keep_current(study)
    state = study.state()
    done = sum(1 for _ in study.finished())
    running = [cell.id for cell in study.cells if (session := study.session(cell)) is not None and session.state().status == "running"]
    now = f" · now {', '.join(running)}" if running else ""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.container(key="study-progress"):
            st.progress(min(max(state.progress, 0.0), 1.0), text=f"**{done} of {len(study.cells)} sessions done**{now}")
        st.button(
            "Stop", key="study-stop", icon=":material/stop:", on_click=halt, args=(study,),
            **refusals.for_operators("stops studies", "It can go on later."),
        )  # fmt: skip
    if done != drawn or not state.live:
        st.rerun()


def go_on(study: Study) -> None:
    """What can be done with a study that does not run."""
    state = study.state()
    if state.status == "done":
        return
    may = api_form.may_ask(study.spec.servers, "study-go-on")
    with st.container(horizontal=True, vertical_alignment="center"):
        why = f": {markup.plain(state.error)}" if state.error else "."
        st.markdown(f"This study {state.status if state.status != 'queued' else 'waits'}{why}")
        st.button(
            "Go on", key="study-go-on", icon=":material/play_arrow:", on_click=resume, args=(study,),
            **refusals.for_operators("resumes studies", disabled=not may),
        )  # fmt: skip
