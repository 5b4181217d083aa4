"""Studies: what makes a good engineer?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from frozenlab.app import experiment
from frozenlab.app.bundles import export_button, imported_note
from frozenlab.app.studies.form import KIND_WORDS, begin_like, start_form
from frozenlab.app.studies.views import BETWEEN, VIEW_WORDS, VIEWS, views
from frozenlab.app.ui import markup, sessions
from frozenlab.base.files import as_csv
from frozenlab.base.numbers import MANY, interval, listed, number
from frozenlab.base.places import ASSETS
from frozenlab.engineer.engineers.curricula import LowestEngineer
from frozenlab.experiments.bundles.found import Found
from frozenlab.experiments.studies.depths import depths_table
from frozenlab.experiments.studies.design import arm_titles, confounded
from frozenlab.experiments.studies.grid import MEASURES, Measure
from frozenlab.experiments.studies.ladder import rungs_table
from frozenlab.experiments.studies.main_table import as_frame
from frozenlab.experiments.studies.report import report_of
from frozenlab.experiments.studies.report_page import detectable, html_page, written_before
from frozenlab.experiments.studies.store import REPORT, Study, StudyError
from frozenlab.experiments.studies.tables import Difference, PrimaryRow, StudyReport, recorded_report

IN_WORDS = {"taught": "the taught engineer", LowestEngineer.title: "giving all boards to the lowest rate"}
"""Arms whose names are short for something, as sentences call them."""
FINDINGS = ASSETS / "findings.md"
"""README holds the same table, with links that work there."""
ALL_FOUND = "What all studies found"
LEAD = "An engineer decides what a model practises next. A study compares several of them, or several settings, on the same model."


def page() -> None:
    """One study: its progress if it runs, and its report; below it, what other studies found. ``?new=sweep`` opens the form for a kind."""
    if st.query_params.get("new") in KIND_WORDS:
        st.session_state["study-kind"] = st.query_params["new"]
    experiment.page(
        Study, "What makes a good engineer?", LEAD, "New study", start_form, show,
        beside=beside,
        look=look,
        servers=lambda study: study.spec.servers,
    )  # fmt: skip
    findings()


def beside(study: Study) -> None:
    """What can be done with a study, whoever it is from."""
    if (report := read(study)) is not None:
        downloads(report, st.query_params["view"])
    if st.button(
        "Run again with changes", key="study-again", icon=":material/restart_alt:", help="Opens the form with the arms of this study."
    ):
        begin_like(study.spec)
        start_form()
    if not study.recorded:
        export_button([Found("study", study.dir)], key="study-export")


def show(study: Study) -> None:
    """The report, once something can be compared."""
    imported_note("study", study.dir)
    for arm in recorded_report(study).unusable if study.recorded else study.unusable():
        titled = arm.model_copy(update={"arm": arm_titles(study.spec)[arm.arm]})
        st.warning(markup.plain(titled.sentence), icon=":material/warning:")
    report = read(study)
    if report is None:
        st.info("Nothing can be compared yet: a comparison needs a seed with all its arms finished.")
    else:
        show_report(report)


def read(study: Study) -> StudyReport | None:
    """Its report; None while nothing can be compared."""
    if study.recorded:
        return recorded_report(study)
    return own_report(str(study.dir), sum(1 for _ in study.finished()), study.state().status)


def findings() -> None:
    """The findings with their intervals, and what is not answered."""
    with st.expander(ALL_FOUND):
        st.markdown(re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", FINDINGS.read_text(encoding="utf-8")))


def look(study: Study) -> experiment.Look:
    """The page is drawn again when another session is done."""
    drawn, titles = sum(1 for _ in study.finished()), arm_titles(study.spec)

    def now(_: float) -> tuple[str, bool]:
        status = [(cell, session.state().status) for cell in study.cells if (session := study.session(cell)) is not None]
        running = [f"{titles[cell.arm.name]} ({cell.unit})" for cell, found in status if found == "running"]
        done = sum(found == "done" for _, found in status)
        at_work = f" · now {', '.join(running)}" if running else ""
        return f"**{done} of {len(study.cells)} sessions done**{at_work}", done != drawn

    return now


def show_report(report: StudyReport) -> None:
    """The verdict, and the chosen view of one measure."""
    answer, controls, body, foot = st.container(), st.container(horizontal=True), st.container(), st.container()
    with controls:
        view = experiment.chosen(Study, "view", views(report), "What to look at", VIEW_WORDS)
        measure = experiment.chosen(Study, "measure", MEASURES, "Rate", {})
    mixed = confounded(report.spec)
    with foot:
        if mixed:
            st.warning("  \n".join(map(markup.plain, mixed)), icon=":material/call_split:")
        show_plan(report)
    report = report.for_people
    with answer:
        show_verdict(report, measure, bool(mixed))
    with body:
        VIEWS[view](report, measure)


def confirmed(rows: Sequence[PrimaryRow]) -> str:
    """Which of the confirmatory comparisons are clear of chance, and how many are not."""
    found, last, clear = [], None, [row for row in rows if row.clear]
    for row in clear:
        arm, than = (IN_WORDS.get(name, name) for name in row.name.split(BETWEEN))
        does, over = ("gains", "over") if row.mean > 0 else ("loses", "against")
        much, told = number(100 * abs(row.mean), 1), (arm, does, row.measure)
        found.append(f"{much} {over} {than}" if told == last else f"{arm} {does} {much} points of {row.measure} plans {over} {than}")
        last = told
    sentences = [found[0][0].upper() + listed(found)[1:]] if clear else []
    if others := len(rows) - len(clear):
        which = "comparison named beforehand is" if others == 1 else f"{others} comparisons named beforehand are"
        sentences.append(f"The {'other ' * bool(clear)}{which} not clear of chance")
    return f"{'. '.join(sentences)}."


def show_verdict(report: StudyReport, measure: Measure, mixed: bool) -> None:
    """The answer first, with its numbers; then what it is measured on, what could be detected, and whether arms are ``mixed``."""
    took = "" if report.seconds is None else f" · {sessions.duration(report.seconds)}"
    facts = f"{report.finished} of {report.cells} sessions, alike but for their arms: {sessions.set_up(report.spec.session)}{took}"
    rates = report.of(measure)
    answer = rates.verdict
    if report.confirmatory:
        answer = confirmed(report.confirmatory)
        bounds = [interval(row.low, row.high, MANY) for row in report.confirmatory if row.clear]
        facts = f"{f'95 % intervals {listed(bounds)}, ' if bounds else ''}n = {report.confirmatory[0].units}. {facts}"
    warned = " Some arms differ in more than one thing: see below the figure." if mixed else ""
    also = f"{facts} · {report.results_from}. {detectable(rates)}{warned}"
    markup.answer(escape(answer), escape(also))
    if report.missing:
        st.caption(f"An early study, which could see less than later ones: their answers are in *{ALL_FOUND}*, at the end of this page.")


def show_plan(report: StudyReport) -> None:
    """What was written before the study ran, and what it lacks."""
    before = [f"Before it ran, the lab said: {report.beforehand}"] if report.beforehand else []
    missing = [f"This is an earlier study: {'; '.join(report.missing)}."] if report.missing else []
    with st.expander("How it was planned"):
        st.caption("  \n".join(map(markup.plain, (*written_before(report), *before, report.standing, *missing))))


@st.cache_resource(max_entries=50, show_spinner="Counting")
def own_report(folder: str, finished: int, status: str) -> StudyReport | None:
    """Counted once for each number of finished cells, and shared by all who read it; at the end its runner has written it. None while
    nothing can be compared."""
    if status == "done":
        with suppress(OSError, ValueError):  # it is not there, or cannot be read
            return StudyReport.model_validate_json((Path(folder) / "report" / REPORT).read_bytes())
    try:
        return report_of(Study(Path(folder)))
    except StudyError:
        return None


def downloads(report: StudyReport, view: str) -> None:
    """The report in whole, and the figures of this view."""
    for label, data, kind in (
        ("HTML report", lambda: html_page(report), "html"),
        ("JSON", lambda: report.model_dump_json(indent=1), "json"),
        (f"CSV of {'cells' if view == 'sizes' else VIEW_WORDS[view].lower()}", lambda: as_csv(rows_of(report, view)), "csv"),
    ):
        name = f"{report.id}-{view}.csv" if kind == "csv" else f"{report.id}.{kind}"
        st.download_button(label, data, name, on_click="ignore", key=f"study-{kind}", icon=":material/download:")


def rows_of(report: StudyReport, view: str) -> pd.DataFrame:
    """What a view shows, for both measures, as one table."""
    if view == "main" and report.main is not None:
        return as_frame(report.main)
    if view == "predictions":
        return pd.DataFrame([row.model_dump() for row in report.changes])
    if table := {"ladder": rungs_table, "depths": depths_table}.get(view):
        return pd.concat(table(report, measure).assign(measure=measure) for measure in MEASURES)
    rows: list[dict[str, Any]] = []
    for measure in MEASURES:
        found, of = report.of(measure), {"measure": measure}
        if view == "arms":
            moments = [(curve.arm, point.trained, point.rows) for curve in found.curves for point in curve.points]
            moments = moments or [(arm.arm, report.spec.session.stages, arm.rows) for arm in found.arms]
            rows += [of | {"arm": arm, "trained": trained} | row for arm, trained, own in moments for row in own]
        else:
            shown: Sequence[Difference] = found.effects if view == "effects" else found.sizes
            rows += [of | flat for row in shown for flat in row.rows]
    return pd.DataFrame(rows)
