"""The tables of a study's report, the notes on them, and the report as one self-contained HTML file, without scripts, fonts or pictures
from elsewhere."""

from __future__ import annotations

from html import escape
from math import nan

import pandas as pd

from frozenlab.base.files import as_html
from frozenlab.base.numbers import MANY, UNKNOWN, interval, number, percent, percents, points, signed, typeset
from frozenlab.experiments.studies.arms import still_shown
from frozenlab.experiments.studies.design import arm_titles, confounded
from frozenlab.experiments.studies.grid import MEASURES, Measure
from frozenlab.experiments.studies.main_table import MainTable, by_arm
from frozenlab.experiments.studies.pictures import clear_in_words, curves_picture, effects_picture, main_picture, sizes_picture
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.tables import ArmRates, EffectRow, HeadroomShares, MeasureReport, StudyReport
from frozenlab.models.folders import student_label
from frozenlab.session.ledger import scores_table

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #0b1f33; background: #fcfdff; }
table { border-collapse: collapse; margin: 1rem 0 2rem; }
td, th { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #cfdbe6; }
td:first-child, th:first-child { text-align: left; } small { color: #5a6b7b; } h2 { margin-top: 2.5rem; }
svg { width: 100%; height: auto; fill: currentColor; }
"""
CHANGES = {
    "main effect": "arms that show the section minus arms that do not",
    "leave-one-out": "all sections minus all but this one",
    "one-at-a-time": "this section alone minus none",
    "setting": "the one value minus the other",
    "arm": "the arm minus {reference}",
}
"""Meaning of a difference on a map size, for each kind of comparison."""
PREDICTIONS_NOTE = (
    "Mean predicted and mean measured change of a map size's valid rate over the next stage, in points; error: root mean square of their "
    "difference, and of the measured change alone, which is the error of guessing that nothing changes. Skill: 1 less the ratio of their "
    "squares; its interval resamples whole seeds."
)


def html_page(report: StudyReport) -> str:
    """The HTML page: verdict and sentences, scored predictions, and all pictures and figures of each measure."""
    report = report.for_people
    spec = report.spec
    took = "" if report.seconds is None else f", {number(report.seconds / 60, 0)} minutes"
    students = f", students {', '.join(map(student_label, spec.students))}" if spec.students else ""
    head = f"{report.finished} of {report.cells} sessions: {len(spec.arms)} arms{students}, seeds {', '.join(map(str, spec.seeds))}{took}"
    shared = "their first stage" if all(map(spec.forks, spec.arms)) else "their base"
    parts = [
        f"<h1>{escape(spec.title)}</h1><p><small>{escape(head)}. Each session, but for its arm: {spec.session.stages} stages of "
        f"{spec.session.training.steps} steps; arms of a seed share {shared} and their boards. Rates are of "
        f"{escape(report.results_from)}.</small></p>",
        *(f"<p>{escape(line)}</p>" for line in before_results(report)),
        f"<p><em>{escape(report.standing)}</em></p>",
        *confirmatory_parts(report),
        "<h2>Exploratory comparisons</h2>" if report.confirmatory else "",
        "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in report.sentences) + "</ul>",
    ]
    if report.main is not None:
        parts += ["<h2>Main table</h2>", small(main_note(report.main)), table(by_arm(report.main))]
        parts += [main_picture(report.main, measure) for measure in MEASURES]
    if report.predictions:
        parts += ["<h2>Predictions</h2>", small(PREDICTIONS_NOTE), table(scores_table(report.predictions, "arm", "seeds"))]
    parts += [part for measure in MEASURES for part in measure_parts(report, measure)]
    return as_html(spec.title, STYLE, "".join(parts))


def before_results(report: StudyReport) -> list[str]:
    """What a reader has to know first: what the study could detect, what it lacks, what was expected."""
    lines = [report.beforehand] if report.beforehand else []
    lines += [f"This is an earlier study: {'; '.join(report.missing)}."] if report.missing else []
    lines += [*(arm.sentence for arm in report.unusable), *confounded(report.spec)]
    return [*lines, *filter(None, [still_shown(report.spec.arms)]), *written_before(report)]


def written_before(report: StudyReport) -> list[str]:
    """What the study's file says about what it tests."""
    spec = report.spec
    when = "Written before it ran" if report.registered or not spec.primary else "Written in its file"
    texts = {"Hypothesis": spec.hypothesis, when: typeset(spec.prediction), "Stopping rule": spec.stopping_rule}
    return [f"{what}: {text}" for what, text in texts.items() if text]


def confirmatory_parts(report: StudyReport) -> list[str]:
    """The confirmatory comparisons in words and as a table, if there are any."""
    if not report.confirmatory:
        return []
    sentences = "".join(f"<li>{escape(row.sentence)}</li>" for row in report.confirmatory)
    return ["<h2>Confirmatory comparisons</h2>", f"<ul>{sentences}</ul>", table(effects_table(report.confirmatory), 3)]


def measure_parts(report: StudyReport, measure: Measure) -> list[str]:
    """The parts of one measure: effects, arms, learning curves and map sizes, if the report has them."""
    figures = report.of(measure)
    parts = [f"<h2>{measure.capitalize()} plans</h2>", f"<p><strong>{escape(figures.verdict)}</strong> {escape(detectable(figures))}</p>"]
    if compared := figures.compared:
        parts += [effects_picture(compared)]
    parts += [table(effects_table(figures.effects), 3)]
    if report.spec.students:
        parts += [table(students_table(figures.effects))]
    if figures.headroom is not None:
        parts += ["<h3>Per cent of headroom</h3>", f"<p>{escape(headroom_note(figures.headroom, report.spec))}</p>"]
        parts += [table(headroom_table(figures.headroom))] if figures.headroom.shares else []
    parts += ["<h3>Final rates, per cent</h3>", table(arms_table(figures.arms))]
    if figures.curves:
        parts += ["<h3>Learning</h3>", small(curves_note(report, figures)), curves_picture(figures.curves)]
    if figures.sizes:
        parts += ["<h3>By cell</h3>", small(sizes_note(report, figures)), sizes_picture(figures.sizes)]
    return parts


def small(note: str) -> str:
    return f"<p><small>{escape(note)}</small></p>"


def table(rows: pd.DataFrame, decimals: int = 1) -> str:
    """The HTML of a table; its fractions are rounded to so many decimals."""
    cells = rows.map(lambda value: number(value, decimals) if isinstance(value, float) else str(value))
    lines = ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in cells.to_numpy()]
    return "<table><tr>" + "".join(f"<th>{escape(head)}</th>" for head in rows) + "</tr>" + "".join(lines) + "</table>"


# --- notes -----------------------------------------------------------------------------------------------------------


def curves_note(report: StudyReport, figures: MeasureReport) -> str:
    """What the learning curves show."""
    units = "students" if len(report.spec.students) > 1 else "seeds"
    return (
        f"Rate on {report.results_from}, mean over the suite's cells, before training and after each stage. Thin lines are {units}, the "
        f"band is the 95 % t interval of their mean, the grey line is the mean of {figures.curves[0].arm}. Arms are compared within seeds: "
        "the effects show the differences, not whether bands overlap."
    )


def detectable(figures: MeasureReport) -> str:
    """What the seeds that ran can detect, given their own spread."""
    if figures.visible is None:
        return ""
    return f"Given the spread of its own seeds, it detects effects of {number(100 * figures.visible, 1)} points or more."


def sizes_note(report: StudyReport, figures: MeasureReport) -> str:
    """What the differences by map size are, and how many of them there are."""
    what = CHANGES[figures.effects[0].kind].format(reference=report.spec.arms[0].name)
    return f"Mean change in points on the boards of each map size: {what}. {clear_in_words(figures.sizes)}"


def main_note(main: MainTable) -> str:
    """What the main table shows."""
    n = max(one.n for one in main.rates)
    return (
        f"Per cent of boards of the suite {main.suite}, by the last checkpoint of each session: mean over sizes, then over n = {n} seeds "
        "(or students), \N{PLUS-MINUS SIGN} half the width of the 95 % t interval."
    )


def headroom_note(found: HeadroomShares, spec: StudySpec) -> str:
    """What the shares are of, or why there are none."""
    if found.why:
        return found.why
    room = f"{points(found.headroom, MANY)} ({interval(found.low, found.high, MANY)})"
    low = arm_titles(spec)[found.over]
    return f"Headroom, oracle less {low}: {room}. Each arm's gain over {low} as a part of it, with Fieller's 95 % interval."


# --- tables ----------------------------------------------------------------------------------------------------------


def effects_table(effects: tuple[EffectRow, ...]) -> pd.DataFrame:
    """Every comparison, without the columns that are empty in every row."""
    over = "students" if any(len(row.students) > 1 for row in effects) else "seeds"
    rows = pd.DataFrame(
        {
            "comparison": row.name,
            "kind": row.kind,
            "change, points": "no contrast" if row.alike else signed(row.mean, MANY),
            f"95 % over {over}": interval(row.low, row.high, MANY),
            "95 % over boards": interval(row.board_low, row.board_high, MANY),
            "p": row.p,
            "p after Holm": row.p_holm,
            "p smaller": row.p_smaller_holm,
            "dose": number(nan if row.dose is None else 100 * row.dose, 1),
            over: row.n,
        }
        for row in effects
    ).round(3)
    return rows.loc[:, rows.replace(UNKNOWN, nan).notna().any()]


def students_table(effects: tuple[EffectRow, ...]) -> pd.DataFrame:
    """Each student's own change by every comparison."""
    return pd.DataFrame(
        {
            "comparison": row.name,
            "student": own.student,
            "change, points": signed(own.mean, MANY),
            "95 % over seeds": interval(own.low, own.high, MANY),
            "seeds": own.n,
        }
        for row in effects
        if not row.alike
        for own in row.students
    )


def headroom_table(found: HeadroomShares) -> pd.DataFrame:
    return pd.DataFrame(
        {"arm": one.arm, "per cent of headroom": percent(one.share), "95 %": percents(one.low, one.high), "n": one.n}
        for one in found.shares
    )


def arms_table(arms: tuple[ArmRates, ...]) -> pd.DataFrame:
    """The final rates of the arms by seed, or by student, in per cent."""
    rates = [arm.by_unit | {"mean": arm.mean} for arm in arms]
    return pd.DataFrame({"arm": arm.arm} | {unit: 100 * rate for unit, rate in own.items()} for arm, own in zip(arms, rates, strict=True))
