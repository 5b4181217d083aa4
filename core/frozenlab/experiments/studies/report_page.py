"""The report of a study as one self-contained HTML file, without scripts, fonts or pictures from elsewhere."""

from __future__ import annotations

from collections.abc import Collection
from html import escape
from typing import Literal

from frozenlab.base.numbers import MANY, UNKNOWN, interval, number, percents, points, signed, typeset
from frozenlab.experiments.studies.main_table import MainTable, rows_by_arm
from frozenlab.experiments.studies.pictures import clear_in_words, curves_picture, effects_picture, main_picture, percent, sizes_picture
from frozenlab.experiments.studies.rows import ArmRates, EffectRow
from frozenlab.experiments.studies.tables import HeadroomShares, MeasureReport, ShareOfHeadroom, StudyReport
from frozenlab.models.folders import student_label
from frozenlab.session.ledger import Score

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #0b1f33; background: #fcfdff; }
table { border-collapse: collapse; margin: 1rem 0 2rem; }
td, th { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #cfdbe6; }
td:first-child, th:first-child { text-align: left; } small { color: #5a6b7b; } h2 { margin-top: 2.5rem; }
svg { width: 100%; height: auto; fill: currentColor; }
"""
CURVES_NOTE = (
    "Rate on {boards}, mean over the suite's cells, before training and after each stage. Thin lines are {units}, the band is the 95 % t "
    "interval of their mean, the grey line is the mean of {reference}. Arms are compared within seeds: the effects show "
    "the differences, not whether bands overlap."
)
SIZES_NOTE = "Mean change in points on the boards of each map size: {what}. {clear}"
CHANGES = {
    "main effect": "arms that show the section minus arms that do not",
    "leave-one-out": "all sections minus all but this one",
    "one-at-a-time": "this section alone minus none",
    "arm": "the arm minus {reference}",
}
"""Meaning of a difference on a map size, for each kind of comparison."""


def html_page(report: StudyReport) -> str:
    """The HTML page: verdict and sentences, scored predictions, and all pictures and figures of each measure."""
    spec = report.spec
    took = "" if report.seconds is None else f", {number(report.seconds / 60, 0)} minutes"
    students = f", students {', '.join(map(student_label, spec.students))}" if spec.students else ""
    head = f"{report.finished} of {report.cells} sessions: {len(spec.arms)} arms{students}, seeds {', '.join(map(str, spec.seeds))}{took}"
    shared = "their base" if spec.session.ask_first else "their first stage"
    parts = [
        f"<h1>{escape(spec.title)}</h1><p><small>{escape(head)}. Each session: {spec.session.stages} stages of "
        f"{spec.session.training.steps} steps; arms of a seed share {shared} and their boards. Rates are of "
        f"{escape(report.results_from)}.</small></p>",
        *(f"<p>{escape(line)}</p>" for line in before_results(report)),
        f"<p><em>{escape(report.standing)}</em></p>",
        *confirmatory_parts(report),
        "<h2>Exploratory comparisons</h2>" if report.confirmatory else "",
        "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in report.sentences) + "</ul>",
    ]
    if report.main is not None:
        parts += ["<h2>Main table</h2>", f"<p><small>{escape(main_note(report.main))}</small></p>", main_html(report.main)]
    if report.predictions:
        parts += ["<h2>Predictions</h2>", predictions_table(report.predictions)]
    parts += [*measure_parts(report, "valid"), *measure_parts(report, "optimal")]
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(spec.title)}</title><style>{STYLE}</style>{"".join(parts)}'


def before_results(report: StudyReport) -> list[str]:
    """What a reader has to know first: what the study could detect, what it lacks, what was expected."""
    lines = [report.beforehand] if report.beforehand else []
    lines += [f"This is an earlier study: {'; '.join(report.missing)}."] if report.missing else []
    return lines + written_before(report)


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
    return ["<h2>Confirmatory comparisons</h2>", f"<ul>{sentences}</ul>", effects_table(report.confirmatory)]


def measure_parts(report: StudyReport, measure: Literal["valid", "optimal"]) -> list[str]:
    """The parts of one measure: effects, arms, learning curves and map sizes, if the report has them."""
    figures = report.valid if measure == "valid" else report.optimal
    parts = [f"<h2>{measure.capitalize()} plans</h2>", f"<p><strong>{escape(figures.verdict)}</strong> {escape(detectable(figures))}</p>"]
    compared = tuple(row for row in figures.effects if not row.alike)
    parts += [effects_picture(compared)] if compared else []
    parts += [effects_table(figures.effects)]
    parts += [students_table(figures.effects)] if report.spec.students else []
    if figures.headroom is not None:
        parts += ["<h3>Per cent of headroom</h3>", f"<p>{escape(headroom_note(figures.headroom))}</p>", headroom_table(figures.headroom)]
    parts += [arms_table(figures.arms)]
    if figures.curves:
        note = curves_note(report, figures)
        parts += ["<h3>Learning</h3>", f"<p><small>{escape(note)}</small></p>", curves_picture(figures.curves)]
    if figures.sizes:
        parts += ["<h3>By cell</h3>", f"<p><small>{escape(sizes_note(report, measure))}</small></p>", sizes_picture(figures.sizes)]
    return parts


def curves_note(report: StudyReport, figures: MeasureReport) -> str:
    """What the learning curves show."""
    units = "students" if len(report.spec.students) > 1 else "seeds"
    return CURVES_NOTE.format(reference=figures.curves[0].arm, boards=report.results_from, units=units)


def detectable(figures: MeasureReport) -> str:
    """What the seeds that ran can detect, given their own spread."""
    return (
        ""
        if figures.visible is None
        else f"Given the spread of its own seeds, it detects effects of {number(100 * figures.visible, 1)} points or more."
    )


def sizes_note(report: StudyReport, measure: Literal["valid", "optimal"]) -> str:
    """What the differences by map size are, and how many of them there are."""
    figures = report.valid if measure == "valid" else report.optimal
    what = CHANGES[figures.effects[0].kind].format(reference=report.spec.arms[0].name)
    return SIZES_NOTE.format(what=what, clear=clear_in_words(figures.sizes))


def effects_table(effects: tuple[EffectRow, ...]) -> str:
    """The table of effects, without the columns that are empty in every row."""
    over = "students" if any(len(row.students) > 1 for row in effects) else "seeds"
    heads = ("comparison", "change", f"95 % over {over}", "p", "p (Holm)", "p (smaller)", "95 % over boards", "dose")
    rows = [
        (
            f"{row.name} ({row.kind})" if row.kind != "arm" else row.name,
            "no contrast" if row.alike else signed(row.mean, MANY),
            interval(row.low, row.high, MANY),
            decimal(row.p),
            decimal(row.p_holm),
            decimal(row.p_smaller_holm),
            interval(row.board_low, row.board_high, MANY),
            dose_points(row.dose),
        )
        for row in effects
    ]
    kept = [place for place in range(len(heads)) if any(row[place] != UNKNOWN for row in rows)]
    return table([heads[place] for place in kept], [[row[place] for place in kept] for row in rows])


def dose_points(dose: float | None) -> str:
    """The dose in points per knob."""
    return decimal(None if dose is None else 100 * dose, 1)


def predictions_table(scored: tuple[Score, ...]) -> str:
    heads = ("arm", "predictions", "seeds", "mean predicted change", "mean measured change", "error", "error of no change", "skill")
    return table(
        heads,
        [
            (
                one.engineer,
                str(one.n),
                str(one.clusters),
                signed(one.predicted, MANY),
                signed(one.measured, MANY),
                number(100 * one.error, 1),
                number(100 * one.naive_error, 1),
                one.skill_words,
            )
            for one in scored
        ],
    )


def main_note(main: MainTable) -> str:
    """What the main table shows."""
    n = max(one.n for one in main.rates)
    return (
        f"Per cent of boards of the suite {main.suite}, by the last checkpoint of each session: mean over sizes, then over n = {n} seeds "
        "(or students), \N{PLUS-MINUS SIGN} half the width of the 95 % t interval."
    )


def main_heads(main: MainTable) -> list[str]:
    return ["arm", *(f"{measure}, {group} {main.columns[0]}" for measure in ("valid", "optimal") for group in main.groups)]


def main_html(main: MainTable) -> str:
    """The main table and its two figures."""
    return table(main_heads(main), rows_by_arm(main)) + main_picture(main, "valid") + main_picture(main, "optimal")


def headroom_note(found: HeadroomShares) -> str:
    """What the shares are of, or why there are none."""
    if found.why:
        return found.why
    room = f"{points(found.headroom, MANY)} ({interval(found.low, found.high, MANY)})"
    return f"Headroom, oracle less uniform: {room}. Each arm's gain over uniform as a part of it, with Fieller's 95 % interval."


def headroom_table(found: HeadroomShares) -> str:
    rows = [(one.arm, share_words(one), share_interval(one), str(one.n)) for one in found.shares]
    return table(("arm", "per cent of headroom", "95 %", "n"), rows) if rows else ""


def share_words(one: ShareOfHeadroom) -> str:
    return percent(one.share)


def share_interval(one: ShareOfHeadroom) -> str:
    return percents(one.low, one.high)


def students_table(effects: tuple[EffectRow, ...]) -> str:
    """Each student's own change by every comparison."""
    rows = [
        (row.name, own.student, signed(own.mean, MANY), interval(own.low, own.high, MANY), str(own.n))
        for row in effects
        if not row.alike
        for own in row.students
    ]
    return table(("comparison", "student", "change", "95 % over seeds", "seeds"), rows)


def arms_table(arms: tuple[ArmRates, ...]) -> str:
    """The final rates of the arms by seed, or by student."""
    units = list(dict.fromkeys(unit for arm in arms for unit in arm.by_unit))
    return table(
        ("arm", *units, "mean"),
        [(arm.arm, *(in_percent(arm.by_unit.get(unit)) for unit in units), percent(arm.mean, MANY)) for arm in arms],
    )


def table(heads: Collection[str], rows: Collection[Collection[str]]) -> str:
    lines = ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    return "<table><tr>" + "".join(f"<th>{escape(head)}</th>" for head in heads) + "</tr>" + "".join(lines) + "</table>"


def decimal(value: float | None, decimals: int = 3) -> str:
    return UNKNOWN if value is None else number(value, decimals)


def in_percent(rate: float | None) -> str:
    return UNKNOWN if rate is None else percent(rate, MANY)
