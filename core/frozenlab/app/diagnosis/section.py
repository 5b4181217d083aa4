"""The first section of the Studies page: which engineer finds a planted weakness."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import streamlit as st

from frozenlab.app.diagnosis.figure import diagnosis_figure
from frozenlab.app.ui import markup, refusals, sessions, theme
from frozenlab.app.ui.components.live import keep_current
from frozenlab.app.ui.deleting import delete_button, undo_line
from frozenlab.base.errors import LabError
from frozenlab.experiments.diagnosis.report import DiagnosisReport, recorded, report_of, shown_words
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.diagnosis.task import task_for
from frozenlab.experiments.students.secret import candidates
from frozenlab.experiments.students.store import Student
from frozenlab.jobs import launcher

ERROR = "diagnosis_error"
HELP = (
    "Each student was made weak at known cells. An engineer sees its evidence and writes the next config; it has found the weakness if the "
    "share that grows most is that of a weak cell. Nothing is trained. Intervals are clustered by student."
)


def diagnosis_section() -> None:
    """The newest diagnosis, or the recorded one, and the button that starts one."""
    store = sessions.store()
    found, planted = Diagnosis.all(store), candidates(store)
    with st.container(key="diagnosis"):
        st.subheader("Who finds a planted weakness?", anchor=False, help=HELP)
        refusals.show_reason(ERROR)
        undo_line("diagnosis", ERROR, go_to)
        live = next((diagnosis for diagnosis in found if diagnosis.state().live), None)
        if live is not None:
            watch(live)
            return
        shown = choose(found) if found else None
        report = own_report(str(shown.dir), shown.state().progress) if shown else recorded()
        if report is not None:
            show(report)
        if not found:
            st.caption("Recorded. Students of your own, made with `frozenlab students make`, can be asked about here.")
        with st.container(horizontal=True, vertical_alignment="center"):
            if shown is not None and shown.state().status != "done":
                why = shown.state().error
                st.markdown(f"This diagnosis {shown.state().status}{f': {markup.plain(why)}' if why else '.'}")
                st.button(
                    "Go on", key="diagnosis-go-on", icon=":material/play_arrow:", on_click=resume, args=(shown,),
                    **refusals.for_operators("resumes diagnoses"),
                )  # fmt: skip
            if shown is not None:
                delete_button(shown, "diagnosis-delete", ERROR, lambda: go_to(None))
            if planted:
                st.button(
                    f"Ask engineers about {len(planted)} student{'s' if len(planted) > 1 else ''}", key="diagnosis-start",
                    icon=":material/troubleshoot:", on_click=start, args=(planted,), **refusals.for_operators("starts diagnoses"),
                )  # fmt: skip


def choose(found: list[Diagnosis]) -> Diagnosis:
    """The newest diagnosis, or the one that is picked if there are several."""
    if len(found) == 1:
        return found[0]
    by_id = {diagnosis.id: diagnosis for diagnosis in found}
    label = {name: f"{one.title} · {one.state().status} · {name}" for name, one in by_id.items()}
    return by_id[
        st.selectbox("Diagnosis", list(by_id), key="diagnosis-picker", format_func=label.__getitem__, label_visibility="collapsed")
    ]


@st.cache_data(max_entries=20, show_spinner=False)
def own_report(folder: str, progress: float) -> DiagnosisReport | None:
    """Counted once for each state of progress; None while no student has all its answers, or a student is gone."""
    try:
        return report_of(Diagnosis(Path(folder)))
    except LabError:
        return None


def show(report: DiagnosisReport) -> None:
    """The figure, and what it says."""
    left, right = st.columns([1.5, 1], gap="large")
    with left:
        size = 19 if st.session_state.get("presenter") else 14
        theme.chart(diagnosis_figure(report, theme.palette().text, size), "diagnosis-rates")
    with right:
        st.markdown("\n".join(f"- {markup.plain(sentence)}" for sentence in report.sentences))
        with st.expander("All rates"):
            st.dataframe(rates_table(report), hide_index=True, key="diagnosis-table")
            st.caption(
                "Aim: the part of the added share that goes to weak cells. The naive interval counts answers about the same student as "
                "independent."
            )
        with st.expander(f"The {len(report.students)} students"):
            st.markdown("\n".join(f"- {markup.plain(name)}" for name in report.students))
            st.caption("Their weaknesses were made. The command line makes them, and shows their certificates:")
            st.code(f"frozenlab students show {report.students[0]}", language="bash")


def rates_table(report: DiagnosisReport) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "engineer": found.engineer,
            "shown": shown_words(found.shown),
            "finds it": found.words,
            "naive": f"{100 * found.rate.naive_low:.0f} to {100 * found.rate.naive_high:.0f}",
            "aim": "" if found.aim is None else f"{100 * found.aim:.0f} %",
            "answers": found.rate.n,
            "unusable": found.unusable,
        }
        for found in report.found
    )


@st.fragment
def watch(diagnosis: Diagnosis) -> None:
    """The progress of a running diagnosis; draws the page again when it has ended."""
    keep_current(diagnosis)
    state = diagnosis.state()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.progress(min(max(state.progress, 0.0), 1.0), text=f"**{markup.plain(diagnosis.title)}**: engineers are asked")
        st.button(
            "Stop", key="diagnosis-stop", icon=":material/stop:", on_click=halt, args=(diagnosis,),
            **refusals.for_operators("stops diagnoses", "It can go on later."),
        )  # fmt: skip
    if not state.live:
        st.rerun()


def start(planted: list[Student]) -> None:
    with refusals.keeping_reason(ERROR, "Not started"):
        Diagnosis.start(task_for(planted), sessions.store())


def resume(diagnosis: Diagnosis) -> None:
    with refusals.keeping_reason(ERROR, "Not started"):
        diagnosis.resume()


def go_to(name: str | None) -> None:
    """Shows a diagnosis, the newest for None; for callbacks."""
    st.session_state.pop("diagnosis-picker", None)
    if name is not None:
        st.session_state["diagnosis-picker"] = name


def halt(diagnosis: Diagnosis) -> None:
    with refusals.keeping_reason(ERROR, "Not stopped"):
        launcher.stop(diagnosis)
