"""The views of a report: effects, learning curves, map sizes, predictions."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from frozenlab.app.session.ledger import HELP
from frozenlab.app.studies.figures import Ink, arms_figure, changes_figure, curves_figure, effects_figure, main_figure, sizes_figure
from frozenlab.app.ui import markup, nav, sessions, theme
from frozenlab.base.numbers import MANY, number, points
from frozenlab.experiments.headroom.report import Finding, measured_before
from frozenlab.experiments.studies.depths import depths_picture, depths_table, has_depths
from frozenlab.experiments.studies.effects import margin_words
from frozenlab.experiments.studies.grid import Measure
from frozenlab.experiments.studies.ladder import column_of, ladder_pictures, rungs_table, what_they_do
from frozenlab.experiments.studies.main_table import as_latex, by_arm
from frozenlab.experiments.studies.pictures import main_picture
from frozenlab.experiments.studies.report_page import (
    PREDICTIONS_NOTE,
    arms_table,
    curves_note,
    effects_table,
    headroom_note,
    headroom_table,
    main_note,
    sizes_note,
    students_table,
)
from frozenlab.experiments.studies.tables import EffectRow, MeasureReport, StudyReport
from frozenlab.session.ledger import scores_table, source

LADDER_HELP = (
    "Points of the rate that each engineer won over equal shares in one short stage, over 15 students that lost two cells each: small dots "
    "are students, large ones means with 95 % intervals, blue above 0 and orange below. The stage trains by imitation, in the last column "
    "by GRPO."
)
DEPTHS_HELP = (
    "Each primary comparison of the study over four groups of students, by the rate that they had left in what they lost, before the first "
    "stage: small dots are students, large ones means with 95 % intervals. A line has the name of the first arm of its comparison."
)
BETWEEN = " instead of "
"""In the name of a comparison of two arms; the other way round it is the same comparison."""
VIEW_WORDS = {
    "ladder": "The ladder",
    "depths": "What was left",
    "main": "Main table",
    "effects": "Effects",
    "arms": "Learning",
    "sizes": "By cell",
    "predictions": "Predictions",
}


def views(report: StudyReport) -> list[str]:
    """The views that the report has data for: older reports have no map sizes, and scripted engineers predict nothing."""
    has = {
        "ladder": bool(column_of(report.spec)),
        "depths": has_depths(report),
        "main": report.main is not None,
        "sizes": bool(report.valid.sizes),
        "predictions": bool(report.predictions),
    }
    return [view for view in VIEW_WORDS if has.get(view, True)]


def ink(usual: int = 14) -> Ink:
    return Ink(theme.palette().text, 19 if st.session_state.get("presenter") else usual)


def show_depths(report: StudyReport, measure: Measure) -> None:
    """What was won, by what the students had left of what they lost."""
    st.header(f"What is won where more was lost, {measure} plans", anchor=False, help=DEPTHS_HELP)
    markup.picture(depths_picture(report, measure), "study-depths-picture")
    markup.data_table("The same in figures", depths_table(report, measure))


def show_main(report: StudyReport, measure: Measure) -> None:
    """The last checkpoints on the study's final suite, as a table and a figure in the paper's shape."""
    assert report.main is not None  # else the view is not offered
    st.header(f"The last checkpoints, measured on the suite {report.main.suite}", anchor=False)
    markup.data_table("Rates of the last checkpoints", by_arm(report.main))
    st.caption(main_note(report.main))
    theme.chart(main_figure(report.main, measure, ink()), "study-main-figure")
    with st.container(horizontal=True):
        for label, data, name in (
            ("LaTeX", partial(as_latex, report.main), "main.tex"),
            ("SVG", partial(main_picture, report.main, measure), f"main-{measure}.svg"),
        ):
            st.download_button(label, data, f"{report.id}-{name}", on_click="ignore", key=f"study-main-{label}", icon=":material/download:")


def show_ladder(report: StudyReport, measure: Measure) -> None:
    """What engineers win with decoys and without; those of this study beside the lab's own."""
    st.header("The ladder of engineers", anchor=False, help=LADDER_HELP)
    table, known = rungs_table(report, measure), what_they_do(report)
    table.insert(1, "what it does", table["engineer"].map(known).fillna(""))
    picture, on_phone = ladder_pictures(report, measure)
    markup.picture(picture, "study-ladder-picture", on_phone=on_phone)
    markup.data_table("The same in figures", table)
    st.caption("Decoys are cells of which few tasks are solved by nature: an engineer that only looks for low rates falls for them.")


def show_effects(report: StudyReport, measure: Measure) -> None:
    """Every comparison once: name, change and verdict beside its interval. All that a specialist asks for is a table to open."""
    rows = report.of(measure)
    named = [row for row in report.confirmatory if row.measure == measure]
    told = {name for row in named for name in (row.name, BETWEEN.join(reversed(row.name.split(BETWEEN))))}
    drawn = (*named, *(row for row in rows.compared if row.name not in told))
    smallest = margin_words(rows.margin)
    if drawn:
        first = f" The first {len(named)} were named before it ran." if named else ""
        st.header(
            f"Change of the final {measure} rate, n = {drawn[0].units}", anchor=False,
            help="Mean change in points with its 95 % interval. Filled: clear of chance after Holm's correction. Undecided: neither that "
            f"nor shown to be smaller than {smallest}.{first}",
        )  # fmt: skip
        theme.chart(effects_figure(drawn, measure, rows.margin, ink(), theme.palette().ground), "study-effects")
    with st.expander("All figures of the comparisons: p values, and what the two sides trained on"):
        effects_details(report, rows, smallest)
    show_headroom(report, rows)


def effects_details(report: StudyReport, rows: MeasureReport, smallest: str) -> None:
    table = effects_table(rows.effects)
    markup.data_table("Every comparison", table)
    if report.spec.students:
        st.caption("Student by student: each one's own mean change with its 95 % interval over seeds.")
        markup.data_table("Every comparison, student by student", students_table(rows.effects))
    over = "other training runs on other boards" if report.spec.suite_by_seed else "other training runs on the same boards"
    units = "students" if len(report.spec.students) > 1 else "seeds"
    over = f"other students, with {over}" if units == "students" else over
    boards = "" if report.spec.suite_by_seed else ", the one over boards for other boards and the same runs"
    dose = " Dose: how far apart the configs were that the two sides trained on, points per setting." if "dose" in table else ""
    st.caption(
        f"Points are per cent of boards. The interval over {units} is for {over}{boards}. p smaller: a small one shows that the effect is "
        f"smaller than {smallest} (equivalence test, after Holm).{dose}"
    )


def show_headroom(report: StudyReport, rows: MeasureReport) -> None:
    """The effects as per cent of headroom: of the study's own, or else of one that was measured for its config and policies."""
    if (own := rows.headroom) is not None:
        st.header("Per cent of headroom", anchor=False, help="100 % is what the oracle gains over equal shares.")
        st.caption(headroom_note(own, report.spec))
        if own.shares:
            markup.data_table("Per cent of headroom", headroom_table(own))
        return
    measured = measured_before(report.spec.session, sessions.store(), report.spec.students)
    if measured is not None and rows is report.valid and report.spec.trains_alike:
        st.caption(f"{of_measured(measured, rows.compared)} Measured in: {markup.plain(measured.title)}")


def of_measured(measured: Finding, effects: tuple[EffectRow, ...]) -> str:
    """The effects as per cent of a headroom that was measured apart, or why that cannot be said."""
    room = measured.headroom
    bounds = room.bounds
    about = f"The headroom measured for this config is {points(room.value, MANY)} ({bounds}, n = {room.n:,} {room.unit}s)"
    if not room.low > 0:
        return f"{about}, which is not clear of zero, so the effects cannot be given as per cent of it."
    parts = "; ".join(f"{row.name} {number(100 * row.mean / room.value, 0, sign=True)} %" for row in effects)
    return f"{about}; of it the effects are {parts}."


def show_arms(report: StudyReport, measure: Measure) -> None:
    rows = report.of(measure)
    if rows.curves:
        st.header(f"How each arm learnt, {measure} plans", anchor=False)
        theme.chart(curves_figure(rows.curves, measure, ink()), "study-curves")
        st.caption(curves_note(report, rows))
    else:
        st.caption("This report is from before learning curves were kept.")
    left, right = st.columns(2, gap="large")
    with left:
        st.header(
            "Where it ended",
            anchor=False,
            help=f"Final {measure} rate: circles are seeds or students, joined from arm to arm, diamonds means.",
        )
        theme.chart(arms_figure(rows.arms, measure, ink()), "study-arms")
    with right:
        title = "Student by student" if report.spec.students else "Seed by seed"
        st.header(title, anchor=False, help=f"Final {measure} rate in per cent, mean over the suite's cells.")
        rates = arms_table(rows.arms)
        tenths = {name: st.column_config.NumberColumn(format="%.1f") for name in rates.columns[1:]}
        look: dict[str, Any] = dict(width="stretch", key="study-rates", column_config=tenths)
        if not (behind := stories(report)):
            markup.grid(rates, **look)
            return
        chosen = markup.grid(rates, on_select="rerun", selection_mode="single-cell", **look)["selection"]["cells"]
        st.caption("Click a rate to read the story of its session.")
        for row, column in chosen:
            if story := behind.get((str(rates["arm"].iloc[row]), column)):
                st.switch_page(nav.path("story"), query_params={"session": story})


def stories(report: StudyReport) -> dict[tuple[str, str], str]:
    """(Arm, column of the table of rates) -> the address of a session behind the rate; empty for a study that came without sessions."""
    found = {(cell.arm.name, cell.label or f"seed {cell.seed}"): f"{report.id}/{cell.id}" for cell in reversed(report.spec.cells)}
    return found if sessions.readable(next(iter(found.values())), sessions.store()) else {}


def show_sizes(report: StudyReport, measure: Measure) -> None:
    rows = report.of(measure)
    st.header(f"Where it makes a difference, {measure} plans", anchor=False)
    theme.chart(sizes_figure(rows.sizes, measure, ink()), "study-sizes")
    st.caption(f"{sizes_note(report, rows)} Blue is more, orange less; a number on hover has its interval.")


def show_predictions(report: StudyReport, measure: Measure) -> None:
    """The engineers' predicted changes of valid rates, compared with the guess that nothing changes."""
    left, right = st.columns([1.4, 1], gap="large")
    with left:
        st.header("Predictions", anchor=False, help=HELP)
        markup.data_table("Predictions", scores_table(report.predictions, "arm", "seeds"))
        st.caption(PREDICTIONS_NOTE)
        spec, predicting = report.spec, {row.engineer for row in report.predictions}
        st.caption(" ".join(dict.fromkeys(source(spec.spec_of(arm, spec.seeds[0])) for arm in spec.arms if arm.name in predicting)))
    with right:
        st.header("Changes", anchor=False, help="Predicted against measured; on the slanted line the engineers were right.")
        theme.chart(changes_figure(report.changes), "study-changes")


VIEWS = {
    "ladder": show_ladder,
    "depths": show_depths,
    "main": show_main,
    "effects": show_effects,
    "arms": show_arms,
    "sizes": show_sizes,
    "predictions": show_predictions,
}
