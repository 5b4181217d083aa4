"""What came out of a study: the arms' final rates, what makes them differ, and how sure that is; as tables, sentences and one HTML page."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from html import escape
from math import isnan
from pathlib import Path
from typing import Literal

import pandas as pd
from pydantic import BaseModel

from core.lake.files import write_text
from core.sessions.files import write_parquet
from core.sessions.ledger import Score, calibration, predictions, scores
from core.sessions.studies.effects import (
    Effect,
    against,
    arm_sentences,
    board_bootstrap,
    interactions,
    leave_one_out,
    main_effects,
    more_seeds,
    section_sentences,
)
from core.sessions.studies.spec import StudySpec
from core.sessions.studies.store import Study, StudyError, outcomes

Measure = Literal["valid", "optimal"]
Kind = Literal["main effect", "interaction", "left out", "arm"]


class ArmRates(BaseModel):
    """One arm: its final rate (mean over the suite's cells) with each seed, and their mean."""

    arm: str
    by_seed: dict[int, float]
    mean: float


class EffectRow(BaseModel):
    """One comparison. None where the seeds show no spread to judge by."""

    kind: Kind
    name: str
    mean: float
    low: float | None
    high: float | None
    """95 % interval over seeds: other training runs on the same boards."""
    p: float | None
    p_holm: float | None
    n: int
    board_low: float
    board_high: float
    """95 % interval over boards: other boards for the same training runs."""
    more_seeds: int | None
    """That would probably make it clear; 0 if it is, None if that cannot be told."""


class MeasureReport(BaseModel):
    arms: tuple[ArmRates, ...]
    effects: tuple[EffectRow, ...]


class Calibrated(BaseModel):
    """Predictions of one arm with expected rates of like size, and what came of them (means)."""

    arm: str
    expected: float
    measured: float
    n: int


class StudyReport(BaseModel):
    """``report.json``. Rates lie in 0..1."""

    schema_version: Literal[1] = 1
    id: str
    spec: StudySpec
    finished: int
    cells: int
    seconds: float | None
    """From the start of the study to the end of its last session; None while one is left."""
    created: float
    valid: MeasureReport
    optimal: MeasureReport
    sentences: tuple[str, ...]
    predictions: tuple[Score, ...] = ()
    """How those of each arm fared."""
    calibration: tuple[Calibrated, ...] = ()


def report_of(study: Study) -> StudyReport:
    """Of the cells that are finished. Raises StudyError where they allow no comparison yet."""
    boards = study.boards()
    try:
        valid, sentences = measured(boards, "valid", study.spec)
        optimal, _ = measured(boards, "optimal", study.spec)
    except ValueError as error:
        raise StudyError(f"study {study.id} cannot be told yet: {error}") from None
    told = ledger(study)
    ended = [session.state().finished or 0.0 for _, session in study.finished()]
    calibrated = [
        Calibrated(arm=str(arm), **row) for arm, own in told.groupby("arm", sort=False) for row in calibration(own).to_dict("records")
    ]
    return StudyReport(
        id=study.id,
        spec=study.spec,
        finished=len(ended),
        cells=len(study.cells),
        seconds=max(ended) - (study.state().started or 0.0) if len(ended) == len(study.cells) else None,
        created=time.time(),
        valid=valid,
        optimal=optimal,
        sentences=tuple(sentences),
        predictions=tuple(scores(told, by="arm")),
        calibration=tuple(calibrated),
    )


def ledger(study: Study) -> pd.DataFrame:
    """The tested predictions of all finished cells, with their ``arm``."""
    tables = [predictions(session).assign(arm=cell.arm.name) for cell, session in study.finished()]
    return pd.concat(tables, ignore_index=True)


def measured(boards: pd.DataFrame, measure: Measure, spec: StudySpec) -> tuple[MeasureReport, list[str]]:
    """The report on one measure, and its sentences. Raises ValueError where the finished cells allow no comparison."""
    if boards.empty:
        raise ValueError("no cell is finished")
    table, answers = outcomes(boards, measure), boards.assign(valid=boards[measure])
    sections: dict[str, frozenset[str]] = {arm: frozenset(shown) for arm, shown in spec.sections_of().items()}
    rows: list[EffectRow] = []
    if is_factorial(sections):
        found = main_effects(table, sections)
        for section, effect in found.items():
            rows.append(row_of("main effect", section, effect, answers, {arm for arm in sections if section in sections[arm]}, {*sections}))
        for (a, b), effect in interactions(table, sections).items():
            alike = {arm for arm, shown in sections.items() if (a in shown) == (b in shown)}
            rows.append(row_of("interaction", f"{a} and {b}", effect, answers, alike, {*sections}))
        sentences = section_sentences(found)
    elif is_leave_one_out(sections):
        arm_of = {shown: arm for arm, shown in sections.items()}
        everything = max(arm_of, key=len)
        found = leave_one_out(table, sections)
        for section, effect in found.items():
            whole = {arm_of[everything]}
            rows.append(row_of("left out", section, effect, answers, whole, whole | {arm_of[everything - {section}]}))
        sentences = section_sentences(found)
    else:
        reference = spec.arms[0].name
        found = against(table, reference)
        for arm, effect in found.items():
            rows.append(row_of("arm", f"{arm} instead of {reference}", effect, answers, {arm}, {arm, reference}))
        sentences = arm_sentences(found, reference)
    by_arm = [(arm.name, table[table["arm"] == arm.name]) for arm in spec.arms]
    arms = [
        ArmRates(arm=name, by_seed=dict(zip(own["seed"].astype(int), own["value"], strict=True)), mean=own["value"].mean())
        for name, own in by_arm
        if len(own)
    ]
    return MeasureReport(arms=tuple(arms), effects=tuple(rows)), sentences


def row_of(kind: Kind, name: str, effect: Effect, answers: pd.DataFrame, plus: set[str], arms: set[str]) -> EffectRow:
    """The comparison of the arms ``plus`` with the other ``arms``."""
    low, high = board_bootstrap(answers, sorted(plus), sorted(arms - plus))
    spread = {key: None if isnan(value := getattr(effect, key)) else value for key in ("low", "high", "p", "p_holm")}
    more = more_seeds(effect)
    return EffectRow(kind=kind, name=name, mean=effect.mean, n=effect.n, board_low=low, board_high=high, more_seeds=more, **spread)


def is_factorial(sections: Mapping[str, frozenset[str]]) -> bool:
    """Whether the arms are all combinations of the sections that vary."""
    varied = frozenset[str]().union(*sections.values()) - frozenset.intersection(*sections.values())
    return len(set(sections.values())) == len(sections) == 2 ** len(varied) > 1


def is_leave_one_out(sections: Mapping[str, frozenset[str]]) -> bool:
    """Whether one arm shows every section and each other lacks another one of them."""
    shown = sorted(set(sections.values()), key=len, reverse=True)
    return len(shown) == len(sections) and all(part < shown[0] and len(shown[0] - part) == 1 for part in shown[1:])


def save_report(folder: Path, report: StudyReport, boards: pd.DataFrame) -> None:
    """``report.json``, ``report.html``, ``arms.csv``, ``effects.csv``, and ``boards.parquet``, from which they can all be counted again."""
    folder.mkdir(parents=True, exist_ok=True)
    write_parquet(folder / "boards.parquet", boards)
    measures: tuple[Measure, ...] = ("valid", "optimal")
    arms = [
        {"measure": measure, "arm": arm.arm, "seed": seed, "rate": rate}
        for measure in measures
        for arm in getattr(report, measure).arms
        for seed, rate in arm.by_seed.items()
    ]
    effects = [{"measure": measure} | row.model_dump() for measure in measures for row in getattr(report, measure).effects]
    write_text(folder / "arms.csv", pd.DataFrame(arms).to_csv(index=False))
    write_text(folder / "effects.csv", pd.DataFrame(effects).to_csv(index=False))
    write_text(folder / "report.html", html_page(report))
    write_text(folder / "report.json", report.model_dump_json(indent=1))


# --- one page ---------------------------------------------------------------------------------------------------------

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #0b1f33; background: #fcfdff; }
table { border-collapse: collapse; margin: 1rem 0 2rem; }
td, th { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #cfdbe6; }
td:first-child, th:first-child { text-align: left; } small { color: #5a6b7b; } svg { width: 100%; height: auto; } h2 { margin-top: 2.5rem; }
"""


def html_page(report: StudyReport) -> str:
    """The report as one file that needs nothing else: sentences, intervals as a picture, and all figures."""
    spec = report.spec
    took = "" if report.seconds is None else f", {report.seconds / 60:.0f} minutes"
    head = f"{report.finished} of {report.cells} sessions: {len(spec.arms)} arms, seeds {', '.join(map(str, spec.seeds))}{took}"
    parts = [
        f"<h1>{escape(spec.title)}</h1><p><small>{escape(head)}. Each session: {spec.session.stages} stages of "
        f"{spec.session.training.steps} steps; arms of a seed share their first stage.</small></p>",
        "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in report.sentences) + "</ul>",
    ]
    if report.predictions:
        parts += ["<h2>Predictions</h2>", predictions_table(report.predictions)]
    for title, told in (("Valid plans", report.valid), ("Optimal plans", report.optimal)):
        parts += [f"<h2>{title}</h2>", picture(told.effects), effects_table(told.effects), arms_table(told.arms, spec.seeds)]
    return f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(spec.title)}</title><style>{STYLE}</style>{"".join(parts)}'


def picture(effects: tuple[EffectRow, ...]) -> str:
    """Each effect as a dot with its interval over seeds, in points, around a line at 0."""
    bounds = [bound for row in effects for bound in (row.low, row.high, row.mean) if bound is not None]
    reach = max(0.01, *(abs(bound) for bound in bounds))

    def x(change: float) -> float:
        return 460 + 300 * change / reach

    lines = [f'<line x1="460" x2="460" y1="4" y2="{30 * len(effects) + 6}" stroke="#8aa0b5"/>']
    for place, row in enumerate(effects):
        y = 22 + 30 * place
        lines.append(f'<text x="0" y="{y + 5}" font-size="15">{escape(row.name)}</text>')
        if row.low is not None and row.high is not None:
            lines.append(f'<line x1="{x(row.low):.1f}" x2="{x(row.high):.1f}" y1="{y}" y2="{y}" stroke="#0072b2" stroke-width="3"/>')
        lines.append(f'<circle cx="{x(row.mean):.1f}" cy="{y}" r="6" fill="#0072b2"/>')
    ends = f'<text x="{x(-reach):.0f}" y="{30 * len(effects) + 24}" font-size="13" text-anchor="middle">{-100 * reach:+.1f} points</text>'
    ends += f'<text x="{x(reach):.0f}" y="{30 * len(effects) + 24}" font-size="13" text-anchor="middle">{100 * reach:+.1f} points</text>'
    return f'<svg viewBox="0 0 840 {30 * len(effects) + 32}" role="img" aria-label="effects">{"".join(lines)}{ends}</svg>'


def effects_table(effects: tuple[EffectRow, ...]) -> str:
    heads = ("comparison", "change", "95 % over seeds", "p", "p (Holm)", "95 % over boards", "more seeds")
    rows = [
        (
            f"{row.name} ({row.kind})" if row.kind != "arm" else row.name,
            points(row.mean),
            "-" if row.low is None or row.high is None else f"{points(row.low)} to {points(row.high)}",
            number(row.p, "{:.3f}".format),
            number(row.p_holm, "{:.3f}".format),
            f"{points(row.board_low)} to {points(row.board_high)}",
            seeds_told(row.more_seeds),
        )
        for row in effects
    ]
    return table(heads, rows)


def predictions_table(told: tuple[Score, ...]) -> str:
    heads = ("arm", "predictions", "hits", "no effect", "mean error", "error of predicting no change")
    return table(
        heads,
        [
            (
                one.engineer,
                str(one.n),
                f"{one.hits} ({percent(one.hit_low)} to {percent(one.hit_high)})",
                str(one.no_effect),
                f"{100 * one.error:.1f} points",
                f"{100 * one.naive_error:.1f} points",
            )
            for one in told
        ],
    )


def arms_table(arms: tuple[ArmRates, ...], seeds: tuple[int, ...]) -> str:
    heads = ("arm", *(f"seed {seed}" for seed in seeds), "mean")
    return table(heads, [(arm.arm, *(number(arm.by_seed.get(seed), percent) for seed in seeds), percent(arm.mean)) for arm in arms])


def table(heads: Collection[str], rows: Collection[Collection[str]]) -> str:
    lines = ["<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    return "<table><tr>" + "".join(f"<th>{escape(head)}</th>" for head in heads) + "</tr>" + "".join(lines) + "</table>"


def seeds_told(more: int | None) -> str:
    """Beyond a thousand the guess is of no use."""
    return "-" if more is None else str(more) if more <= 1000 else "over 1000"


def points(change: float) -> str:
    return f"{round(100 * change, 1) + 0.0:+.1f}"  # no negative zero


def percent(rate: float) -> str:
    return f"{100 * rate:.1f} %"


def number(value: float | None, told: Callable[[float], str]) -> str:
    return "-" if value is None else told(value)
