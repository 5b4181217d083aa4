"""What came out of a study: the arms' rates over the stages, what makes them differ, and how sure that is; as tables and sentences."""

from __future__ import annotations

import time
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Literal, get_args

import pandas as pd
from pydantic import BaseModel

from core.lake.files import write_text
from core.sessions.files import write_parquet
from core.sessions.ledger import Calibrated, Score, calibration, predictions, scores
from core.sessions.studies.design import Design, Kind, design, sections_of
from core.sessions.studies.effects import (
    CLEAR,
    MOST_SEEDS,
    Effect,
    board_bootstrap,
    holm,
    interactions,
    more_seeds,
    over_seeds,
    points,
    sentence,
)
from core.sessions.studies.report_page import html_page
from core.sessions.studies.spec import StudySpec
from core.sessions.studies.store import Study, StudyError, outcomes

Measure = Literal["valid", "optimal"]
MEASURES: tuple[Measure, ...] = get_args(Measure)


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
    """That would probably make it clear; 0 if it is, None if that cannot be told. Above MOST_SEEDS it only says: more than MOST_SEEDS."""

    @property
    def clear(self) -> bool:
        """Of chance, as one of its kind: by Holm's correction."""
        return self.p_holm is not None and self.p_holm < CLEAR


class CurvePoint(BaseModel):
    """The held-out rate of one arm after so many stages (mean over the suite's cells) with each seed, and their mean."""

    trained: int
    """Stages before it; 0 is the base."""
    by_seed: dict[int, float]
    mean: float
    low: float | None
    high: float | None
    """95 % t interval over seeds, within 0..1; None where they show no spread, as before any training."""

    @property
    def band(self) -> tuple[float, float]:
        """The interval, or the mean alone where there is none."""
        return (self.mean, self.mean) if self.low is None or self.high is None else (self.low, self.high)


class Curve(BaseModel):
    arm: str
    points: tuple[CurvePoint, ...]


class SizeRow(BaseModel):
    """One of the study's comparisons (no interaction), on the boards of one map size alone; see EffectRow."""

    name: str
    """Of the section or the arm."""
    size: int
    mean: float
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    """Corrected for all comparisons on all sizes."""
    n: int

    @property
    def clear(self) -> bool:
        return self.p_holm is not None and self.p_holm < CLEAR


class MeasureReport(BaseModel):
    """Older reports have no sentences, curves and sizes here."""

    arms: tuple[ArmRates, ...]
    effects: tuple[EffectRow, ...]
    sentences: tuple[str, ...] = ()
    curves: tuple[Curve, ...] = ()
    sizes: tuple[SizeRow, ...] = ()

    @property
    def verdict(self) -> str:
        """All comparisons in one sentence."""
        clear, many, seeds = [row for row in self.effects if row.clear], len(self.effects), self.effects[0].n
        n = f"clear of chance (n = {seeds} seed{'s' if seeds > 1 else ''})"
        if not clear:
            return f"None of {many} comparisons is {n}." if many > 1 else f"The one comparison is not {n}."
        which = ", ".join(f"{row.name} {points(row.mean)} points" for row in clear)
        return f"{len(clear)} of {many} comparison{'s' if many > 1 else ''} {'are' if len(clear) > 1 else 'is'} {n}: {which}."


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
    """About the valid rate."""
    predictions: tuple[Score, ...] = ()
    """How those of each arm fared."""
    calibration: tuple[Calibrated, ...] = ()


def report_of(study: Study) -> StudyReport:
    """Of the cells that are finished. Raises StudyError where they allow no comparison yet."""
    boards, learning = study.boards(), study.learning()
    try:
        valid, optimal = (measured(boards, measure, study.spec, learning) for measure in MEASURES)
    except ValueError as error:
        raise StudyError(f"study {study.id} cannot be told yet: {error}") from None
    told = ledger(study)
    ended = [session.state().finished or 0.0 for _, session in study.finished()]
    return StudyReport(
        id=study.id,
        spec=study.spec,
        finished=len(ended),
        cells=len(study.cells),
        seconds=max(ended) - (study.state().started or 0.0) if len(ended) == len(study.cells) else None,
        created=time.time(),
        valid=valid,
        optimal=optimal,
        sentences=valid.sentences,
        predictions=tuple(scores(told, by="arm")),
        calibration=calibration(told, by="arm"),
    )


def ledger(study: Study) -> pd.DataFrame:
    """The tested predictions of all finished cells, with their ``arm``."""
    tables = [predictions(session).assign(arm=cell.arm.name) for cell, session in study.finished()]
    return pd.concat(tables, ignore_index=True)


def measured(boards: pd.DataFrame, measure: Measure, spec: StudySpec, learning: pd.DataFrame | None = None) -> MeasureReport:
    """The report on one measure; without ``learning`` it has no curves. Raises ValueError where the finished cells allow no comparison."""
    if boards.empty:
        raise ValueError("no cell is finished")
    table, answers, told = outcomes(boards, measure), boards.assign(valid=boards[measure]), design(spec)
    found = told.effects(table)
    if not found:
        raise ValueError(f"only the arm {told.reference} is finished")
    rows = [row_of(told.kind, told.name(key), effect, answers, *told.sides[key]) for key, effect in found.items()]
    if told.kind == "main effect":
        sections = sections_of(spec)
        for (a, b), effect in interactions(table, sections).items():
            alike = {arm for arm, shown in sections.items() if (a in shown) == (b in shown)}
            rows.append(row_of("interaction", f"{a} and {b}", effect, answers, alike, {*sections} - alike))
    by_arm = [(arm.name, table[table["arm"] == arm.name]) for arm in spec.arms]
    arms = [ArmRates(arm=name, by_seed=by_seed(own), mean=own["value"].mean()) for name, own in by_arm if len(own)]
    return MeasureReport(
        arms=tuple(arms),
        effects=tuple(rows),
        sentences=tuple(sentence(told.done(key), effect, measure) for key, effect in found.items()),
        curves=() if learning is None else curves(learning, measure, spec),
        sizes=sizes(boards, measure, told),
    )


def row_of(kind: Kind, name: str, effect: Effect, answers: pd.DataFrame, plus: set[str], minus: set[str]) -> EffectRow:
    """The comparison of the arms ``plus`` with the arms ``minus``."""
    low, high = board_bootstrap(answers, sorted(plus), sorted(minus))
    more = more_seeds(effect)
    return EffectRow(
        kind=kind,
        name=name,
        mean=effect.mean,
        n=effect.n,
        board_low=low,
        board_high=high,
        more_seeds=None if more is None else min(more, MOST_SEEDS + 1),
        **known(effect),
    )


def known(effect: Effect) -> dict[str, float | None]:
    """Its bounds and p values, None where the seeds tell none."""
    return {key: None if isnan(value := getattr(effect, key)) else value for key in ("low", "high", "p", "p_holm")}


def by_seed(table: pd.DataFrame) -> dict[int, float]:
    return dict(zip(table["seed"].astype(int), table["value"], strict=True))


def curves(learning: pd.DataFrame, measure: Measure, spec: StudySpec) -> tuple[Curve, ...]:
    """How each arm learnt. All arms of a seed have their first stage in common."""
    after = {int(trained): outcomes(own, measure) for trained, own in learning.groupby("trained")}
    told = []
    for arm in spec.arms:
        drawn = []
        for trained, table in after.items():
            own = table[table["arm"] == arm.name]
            if len(own):
                low, high = (None if isnan(bound) else min(max(bound, 0.0), 1.0) for bound in over_seeds(own["value"].tolist()))
                drawn.append(CurvePoint(trained=trained, by_seed=by_seed(own), mean=own["value"].mean(), low=low, high=high))
        if drawn:
            told.append(Curve(arm=arm.name, points=tuple(drawn)))
    return tuple(told)


def sizes(boards: pd.DataFrame, measure: Measure, told: Design) -> tuple[SizeRow, ...]:
    """The study's comparisons on each map size by itself, corrected for there being so many."""
    found = [
        (key, int(size), effect)
        for size, own in boards.groupby("size")
        for key, effect in told.effects(outcomes(own, measure)).items()
    ]  # fmt: skip
    corrected = holm([effect.p for _, _, effect in found])
    return tuple(
        SizeRow(name=key, size=size, mean=effect.mean, n=effect.n, **known(replace(effect, p_holm=p)))
        for (key, size, effect), p in zip(found, corrected, strict=True)
    )


def save_report(folder: Path, report: StudyReport, boards: pd.DataFrame) -> None:
    """``report.json``, ``report.html``, ``arms.csv``, ``effects.csv``, and ``boards.parquet``, from which all can be counted again but the
    learning curves: these are in ``report.json`` alone."""
    folder.mkdir(parents=True, exist_ok=True)
    write_parquet(folder / "boards.parquet", boards)
    arms = [
        {"measure": measure, "arm": arm.arm, "seed": seed, "rate": rate}
        for measure in MEASURES
        for arm in getattr(report, measure).arms
        for seed, rate in arm.by_seed.items()
    ]
    effects = [{"measure": measure} | row.model_dump() for measure in MEASURES for row in getattr(report, measure).effects]
    write_text(folder / "arms.csv", pd.DataFrame(arms).to_csv(index=False))
    write_text(folder / "effects.csv", pd.DataFrame(effects).to_csv(index=False))
    write_text(folder / "report.html", html_page(report))
    write_text(folder / "report.json", report.model_dump_json(indent=1))
