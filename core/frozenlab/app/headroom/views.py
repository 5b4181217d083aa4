"""The views of a headroom report: skills, configs, repetition."""

from __future__ import annotations

import re
from html import escape

import pandas as pd
import streamlit as st

from frozenlab.app.headroom.figures import configs_figure, dose_figure, matrix_figure, replicates_figure
from frozenlab.app.studies.views import ink
from frozenlab.app.ui import markup, theme
from frozenlab.app.ui.glossary import explained, note
from frozenlab.base.numbers import MANY, MINUS, percent, signed, typeset
from frozenlab.experiments.headroom.alignment import SIGNAL
from frozenlab.experiments.headroom.report_tables import Check, ForksReport, HeadroomReport, Matrix
from frozenlab.experiments.headroom.spec import HeadroomSpec
from frozenlab.experiments.headroom.verdict import rank_words
from frozenlab.tasks.families import cell_label

VIEW_WORDS = {"skills": "Which skill teaches which", "configs": "What configs change", "noise": "Does it repeat?"}
CHECK_WORDS = {"noise (A/A)": "the same config twice: noise", "ICC of configs": "agreement of both measurements (ICC)"}
"""Checks whose recorded names are short, as people read them."""
MARKS = {"pass": "✓ pass", "fail": "✗ fail", "not measured": "not measured"}


def views(report: HeadroomReport) -> list[str]:
    """The views that the report has data for. Without forks there is always the first."""
    skills = report.forks is None or any(any(matrix.seen) for matrix in report.matrices)
    return [view for view in VIEW_WORDS if (skills if view == "skills" else report.forks is not None)]


def show_checks(report: HeadroomReport) -> None:
    """The targets and the prediction, which were written down before, and what was found."""
    measured, prediction = [check for check in report.checks if check.passed != "not measured"], prediction_of(report.spec)
    expected = [predicted(prediction, check.name, check.target) for check in measured]
    rows = [
        (explained(words_of(check)), escape(words or "–"), escape(check.found), escape(check.target), MARKS[check.passed])
        for check, words in zip(measured, expected, strict=True)
    ]
    head = (("", ""), ("predicted", "Before it ran."), ("found", ""), ("target", "Written down before any gate ran."), ("", ""))
    st.html(markup.table("Targets", head, rows, "fl-cards"))
    if left := [words_of(check) for check in report.checks if check.passed == "not measured"]:
        st.caption(f"Not measured here: {', '.join(left)}.")
    if prediction:
        with st.expander("The prediction in full"):
            st.markdown(markup.plain(prediction))


def words_of(check: Check) -> str:
    return CHECK_WORDS.get(check.name, check.name)


def prediction_of(spec: HeadroomSpec) -> str:
    """What was expected, as people read it."""
    return typeset(spec.prediction).replace(" - ", f" {MINUS} ")


def predicted(prediction: str, check: str, target: str) -> str:
    """What a prediction says of a check: the rest of the part that names it, in the points of its target.

    >>> predicted("Best − worst +9 points (6 to 12), A/A noise 2.0, ICC .70.", "noise (A/A)", "at most 2.5 points")
    '2.0 points'
    """
    name = re.escape(re.split(r" \(| of configs", check)[0])
    found = re.search(rf"\b{name} ([^,;]+?)(?=[,;]|\.(?!\d)|$)", prediction, re.IGNORECASE)
    said = re.sub(r"(?<!\d)\.(?=\d)", "0.", found[1]) if found else ""
    return re.sub(r"^([+−]?[\d.]+)(?![\d.]| points)", r"\1 points", said) if "points" in target else said


def show_skills(report: HeadroomReport) -> None:
    matrix = report.matrices[0]
    if len(report.matrices) > 1:
        matrix = st.selectbox("Student", report.matrices, format_func=lambda matrix: matrix.student, key="headroom-student", width=380)
    left, right = st.columns([1.5, 1], gap="large")
    with left:
        st.header(
            f"Which skill teaches which, to {matrix.student}", anchor=False,
            help="Cosine of the policy gradients of two cells, corrected for noise: 1 means that practice in one improves the other as "
            "practice in itself would, 0 that they are separate skills, below 0 that one harms the other.",
        )  # fmt: skip
        if any(matrix.seen):
            theme.chart(matrix_figure(matrix, ink(13)), "headroom-matrix")
            st.caption(
                "The larger and fuller a square, the more two cells are one skill. A hollow one would mean that they harm each other."
            )
        else:
            st.info("No cell has a gradient that is distinguishable from noise.")
    with right:
        st.header("In words", anchor=False)
        known = (("Participation ratio", matrix.participation), ("Entropy rank", matrix.entropy))
        ranks = [f"**{name}**: {rank_words(rank)}" for name, rank in known if rank is not None]
        st.markdown("\n".join(f"- {line}" for line in [*ranks, *map(markup.plain, report.sentences)]))
        markup.data_table("The cells", cells_table(matrix), decimals={"p": 3})
        st.caption(
            f"{matrix.tasks} tasks a cell in {matrix.participation.n if matrix.participation else 'several'} batches. Valid and mixed: of "
            "sampled answers the valid rate, and the share of groups whose rewards differ. p: that the cell's gradient is zero; "
            f"below {SIGNAL} it counts as seen, and only seen cells are in the ranks."
        )


def show_configs(report: HeadroomReport) -> None:
    forks = report.forks
    assert forks is not None, "the view is offered only with forks"
    students = ["all", *report.students] if len(report.students) > 1 else list(report.students)
    student = st.selectbox("Student", students, key="headroom-of", width=380) if len(students) > 1 else students[0]
    place = None if student == "all" else report.students.index(student)
    left, right = st.columns([1, 1], gap="large")
    with left:
        st.header("Points gained, by config and cell", anchor=False, help="Change of the valid rate on held-out tasks, mean of replicates.")
        theme.chart(configs_figure(forks, place, ink(13)), "headroom-configs")
    with right:
        st.header("Best for each student", anchor=False)
        st.html(students_table(report, forks))
        note("The mean gain of the best config is too high by chance: it was chosen for it. The oracle above is scored elsewhere.")
        if forks.doses:
            st.header("Dose", anchor=False, help="The best config of each student, approached in steps, with draws of its own.")
            theme.chart(dose_figure(forks.doses), "headroom-dose")
            first = forks.doses[0].gain
            st.caption(f"Intervals over {first.n} {first.unit}s.")


def show_noise(report: HeadroomReport) -> None:
    forks = report.forks
    assert forks is not None, "the view is offered only with forks"
    left, right = st.columns([1, 1], gap="large")
    with left:
        st.header("Replicate 1 against replicate 2", anchor=False, help="Each config twice, with other training draws and other tasks.")
        theme.chart(replicates_figure(report, forks), "headroom-replicates")
    with right:
        st.header("In words", anchor=False)
        st.markdown("\n".join(f"- {markup.plain(sentence)}" for sentence in report.sentences))


def cells_table(matrix: Matrix) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "cell": [cell_label(cell) for cell in matrix.cells],
            "valid %": [round(100 * rate) for rate in matrix.valid],
            "mixed %": [round(100 * rate) for rate in matrix.mixed],
            "p": [round(p, 3) for p in matrix.p],
            "gradient": ["seen" if seen else "noise" for seen in matrix.seen],
        }
    )


def students_table(report: HeadroomReport, forks: ForksReport) -> str:
    head = (("student", ""), ("before", "Its valid rate."), ("best config", ""), ("gain", "Points of the valid rate."))
    both = [of_student[forks.configs.index(config)] for of_student, config in zip(forks.gains, forks.best, strict=True)]
    gains = [sum(own) / len(own) for own in both]
    longest = max(*gains, 0.001)
    rows = (
        (escape(student), percent(before, MANY), escape(config), markup.bar(gain / longest) + signed(gain, MANY))
        for student, before, config, gain in zip(report.students, forks.before, forks.best, gains, strict=True)
    )
    return markup.table("Best for each student", head, rows, "fl-bars fl-cards is-folding", ("before", "gain"))


VIEWS = {"skills": show_skills, "configs": show_configs, "noise": show_noise}
