"""Diagnosis: which engineer finds a planted weakness."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from frozenlab.app import experiment
from frozenlab.app.studies.figures import Ink
from frozenlab.app.studies.views import ink
from frozenlab.app.ui import markup, nav, sessions, theme
from frozenlab.app.ui.figures import ARM_COLORS, BEFORE_COLOR, GRID_COLOR, Chart, common_layout, whiskers
from frozenlab.base.errors import LabError
from frozenlab.base.numbers import counted, percent, unbroken
from frozenlab.engineer.engineers import name_of
from frozenlab.experiments.diagnosis.report import DiagnosisReport, recorded, report_of, shown_words
from frozenlab.experiments.diagnosis.store import Diagnosis
from frozenlab.experiments.diagnosis.task import task_for
from frozenlab.experiments.students.store import Student, candidates

LEAD = (
    "Each student was made weak at known cells. An engineer sees its evidence and writes the next config; it has found the weakness if the "
    "share that grows most is that of a weak cell. Nothing is trained."
)
SYMBOLS = ("circle", "circle-open", "square-open", "diamond-open", "triangle-up-open")
LANE, FEW = 18, 4
"""Pixels of one dot's lane; lanes of an engineer at the least."""


def page() -> None:
    """One diagnosis; the recorded one where there is none of one's own."""
    experiment.page(Diagnosis, "Who finds a planted weakness?", LEAD, "Ask engineers", start_form, show_own, none_yet=show_recorded)


@nav.dialog("Ask engineers about students")
def start_form() -> None:
    planted = candidates(sessions.store())
    if not planted:
        unfit = "No student here came out as planned; `frozenlab students list` says why." if Student.all(sessions.store()) else ""
        st.info(f"{unfit or 'There is no student yet.'} Students are made on the command line:")
        st.code("frozenlab students make", language="bash")
        return
    task = task_for(planted)
    st.markdown(
        f"**{counted(task.total, 'answer')}** about {counted(len(planted), 'student')}: "
        f"{counted(len(task.engineers), 'engineer')} × {counted(len(task.shown), 'choice')} of sections × {task.samples} answers. "
        "It runs in the background and can be stopped and resumed."
    )
    experiment.start_button(Diagnosis, task)
    st.code("frozenlab diagnose", language="bash")


def show_own(diagnosis: Diagnosis) -> None:
    report = own_report(str(diagnosis.dir), diagnosis.state().progress)
    if report is None:
        st.info("Nothing can be counted yet: no student has all its answers.")
    else:
        show(report)


def show_recorded() -> None:
    if (report := recorded()) is not None:
        show(report)
    st.caption("Recorded. Students of your own, made with `frozenlab students make`, can be asked about here.")


@st.cache_data(max_entries=20, show_spinner=False)
def own_report(folder: str, progress: float) -> DiagnosisReport | None:
    """Counted once for each state of progress; None while no student has all its answers, or a student is gone."""
    try:
        return report_of(Diagnosis(Path(folder)))
    except LabError:
        return None


def show(report: DiagnosisReport) -> None:
    """What it says, and the figure."""
    answer, figures, *more = report.sentences
    markup.answer(escape(answer), escape(figures))
    st.header("How often each finds it", anchor=False)
    theme.chart(diagnosis_figure(report, ink()), "diagnosis-rates")
    st.markdown("\n\n".join(markup.plain(unbroken(words)) for words in more))
    with st.expander("All rates"):
        markup.data_table("All rates", rates_table(report))
        st.caption(
            "Intervals are clustered by student; the naive one counts answers about the same student as independent. Aim: the part of "
            "the added share that goes to weak cells."
        )
    with st.expander(f"The {len(report.students)} students"):
        st.markdown("\n".join(f"- {markup.plain(name)}" for name in report.students))
        st.caption("Their weaknesses were made. The command line lists all that it can make, and shows the certificates of those made:")
        st.code("frozenlab students list", language="bash")


def rates_table(report: DiagnosisReport) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "engineer": name_of(found.engineer),
            "shown": shown_words(found.shown),
            "finds it": found.words,
            "naive": found.rate.naive.percents,
            "aim": "" if found.aim is None else percent(found.aim),
            "answers": found.rate.n,
            "unusable": found.unusable,
        }
        for found in report.found
    )


def diagnosis_figure(report: DiagnosisReport, ink: Ink) -> Chart:
    """A group of dots for each engineer, one for each choice of sections, with intervals clustered by student."""
    engineers, choices = report.engineers, report.choices
    names, smaller = dict(size=ink.size, color=ink.color), dict(size=ink.size - 1, color=ink.color)
    figure = go.Figure()
    for lane, choice in enumerate(choices):
        own = [found for found in report.found if found.shown == choice]
        offset = (lane - (len(choices) - 1) / 2) * 0.7 / max(len(choices), 1)
        color = ARM_COLORS[lane % len(ARM_COLORS)] if lane < len(choices) - 1 or len(choices) == 1 else BEFORE_COLOR
        figure.add_scatter(
            x=[found.rate.mean for found in own], y=[engineers.index(found.engineer) + offset for found in own],
            mode="markers", cliponaxis=False, name=shown_words(choice), meta=["", "", "students", "answers"],
            marker=dict(size=10, color=color, symbol=SYMBOLS[lane % len(SYMBOLS)], line=dict(width=2, color=color)),
            error_x=whiskers([found.rate.interval for found in own], color, thickness=2.5, width=0),
            customdata=[[name_of(found.engineer), found.words, found.rate.students, found.rate.n] for found in own],
            hovertemplate=f"%{{customdata[0]}}, {shown_words(choice)}<br><b>%{{customdata[1]}}</b><br>"
            "%{customdata[2]} students, %{customdata[3]} answers<extra></extra>",
        )  # fmt: skip
    figure.add_vline(
        x=report.chance, line=dict(dash="dash", width=2, color=BEFORE_COLOR), layer="below",
        annotation_text=f"chance {percent(report.chance)}", annotation_position="bottom right", annotation_xshift=6,
        annotation_font=smaller,
    )  # fmt: skip
    common_layout(figure, height=LANE * max(FEW, len(choices)) * len(engineers) + 70)
    figure.update_layout(margin_r=24)
    figure.update_xaxes(
        range=[-0.02, 1.02], dtick=0.25, tickformat=".0~%", gridcolor=GRID_COLOR, zeroline=False, tickfont=names,
        title="answers that find it",
    )  # fmt: skip
    figure.update_yaxes(
        tickvals=list(range(len(engineers))), ticktext=[*map(name_of, engineers)],
        range=[len(engineers) - 0.1, -0.5], showgrid=False, zeroline=False,
        ticklabelstandoff=8, tickfont=names,
    )  # fmt: skip
    said = "; ".join(f"{name_of(found.engineer)}, {shown_words(found.shown)}, {found.words}" for found in report.found)
    return Chart(figure, f"How often engineers find the planted weakness; chance is {percent(report.chance)}: {said}.")
