"""What came out of a study: the arms' rates over the stages, what makes them differ, and how sure that is; as tables and sentences."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from math import isnan, nan, sqrt
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
import pandas as pd
from pydantic import BaseModel, field_validator, model_validator

from core.lake.config import KNOBS, EnvironmentConfig, SizeConfig
from core.lake.files import write_text
from core.sessions.files import write_parquet
from core.sessions.ledger import Changed, Score, changes, predictions, scores
from core.sessions.studies.design import Design, Kind, design, sections_of
from core.sessions.studies.effects import (
    CLEAR,
    Effect,
    board_bootstrap,
    deviation,
    holm,
    interactions,
    margin_words,
    over_seeds,
    points,
    sentence,
    smaller_than,
    smallest_visible,
    without_contrast,
)
from core.sessions.studies.noise import told_beforehand
from core.sessions.studies.report_page import html_page
from core.sessions.studies.spec import StudySpec
from core.sessions.studies.store import Configs, Study, StudyError, outcomes

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
    board_low: float | None = None
    board_high: float | None = None
    """95 % interval over boards: other boards for the same training runs; None where each seed has boards of its own, so that the interval
    over seeds is for other boards too."""
    p_smaller: float | None = None
    p_smaller_holm: float | None = None
    """p value that the effect is not smaller than the smallest that matters (equivalence test), and Holm's correction for those of its
    kind."""
    dose: float | None = None
    """How far apart the two sides' configs were that they trained on: mean absolute difference of a knob (share, hole ratio, wait ratio) of
    a map size, over stages and seeds; None where it was not kept, and of an interaction."""
    alike: bool = False
    """Both sides trained on identical configs in all seeds: no comparison."""

    @property
    def clear(self) -> bool:
        """Of chance, as one of its kind: by Holm's correction."""
        return self.p_holm is not None and self.p_holm < CLEAR

    @property
    def smaller(self) -> bool:
        """Than the smallest effect that matters, as one of its kind."""
        return self.p_smaller_holm is not None and self.p_smaller_holm < CLEAR

    @property
    def effect(self) -> Effect:
        """As the statistics have it."""
        bounds = {key: nan if value is None else value for key in ("low", "high", "p", "p_holm") for value in [getattr(self, key)]}
        return Effect(self.mean, n=self.n, **bounds)


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
    margin: float = 0.01
    """The smallest effect that matters."""
    visible: float | None = None
    """The smallest effect that these seeds can see (80 % power), by the spread that they show; None where they show none."""
    sentences: tuple[str, ...] = ()
    curves: tuple[Curve, ...] = ()
    sizes: tuple[SizeRow, ...] = ()

    @property
    def verdict(self) -> str:
        """All comparisons in a sentence or three."""
        rows = [row for row in self.effects if not row.alike]
        clear, small, many = [row for row in rows if row.clear], [row for row in rows if row.smaller], len(rows)
        seeds = self.effects[0].n
        n = f"clear of chance (n = {seeds} seed{'s' if seeds > 1 else ''})"
        which = ", ".join(f"{row.name} {points(row.mean)} points" for row in clear)
        said = []
        if clear:
            said = [f"{len(clear)} of {many} comparison{'s' if many > 1 else ''} {'are' if len(clear) > 1 else 'is'} {n}: {which}."]
        elif rows:
            said = [f"None of {many} comparisons is {n}." if many > 1 else f"The one comparison is not {n}."]
        if small:
            said.append(f"Smaller than {margin_words(self.margin)}: {', '.join(row.name for row in small)}.")
        if alike := [row.name for row in self.effects if row.alike]:
            said.append(f"No contrast, as both sides trained on identical configs: {', '.join(alike)}.")
        return " ".join(said)


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
    beforehand: str = ""
    """What the study could see, as was known before it ran; empty in reports from before that was told."""
    predictions: tuple[Score, ...] = ()
    """How those of each arm fared."""
    changes: tuple[Changed, ...] = ()
    """Each predicted change beside the measured one."""

    @field_validator("predictions", mode="before")
    @classmethod
    def _scored_otherwise(cls, given: Any) -> Any:
        """Reports from before counted hits in an interval, which is no score of a prediction."""
        return [score for score in given if not isinstance(score, dict) or "skill" in score]

    @model_validator(mode="after")
    def _open_old(self) -> Self:
        """What can be reckoned from the figures of a report that was written before it was told."""
        if not self.beforehand:
            for measure in MEASURES:
                old: MeasureReport = getattr(self, measure)
                rows = judged(old.effects, old.margin)
                told = {"effects": rows, "visible": seen_by(rows), "sentences": sentences_of(rows, self.spec, measure, old.margin)}
                setattr(self, measure, old.model_copy(update=told))
            self.sentences = self.valid.sentences
        return self

    @property
    def results_from(self) -> str:
        """Which boards the rates are of."""
        if self.spec.session.test is None:
            return "validation boards, which the engineers saw too"
        return "test boards, which no engineer saw"

    @property
    def missing(self) -> tuple[str, ...]:
        """What the study, or this report, lacks that studies now have."""
        lacks = []
        if self.spec.session.test is None:
            lacks.append("its engineers read the same boards that its results are told from")
        if not self.spec.suite_by_seed:
            lacks.append("all its seeds have the same boards, so the interval over seeds says nothing of other boards")
        if not self.spec.session.ask_first:
            lacks.append("its engineers were asked after the first stage only, when most of what a session gains was gained")
        if not self.beforehand:
            lacks.append("how far apart the configs were was not kept, and its predictions were scored by hits in a wide interval")
        return tuple(lacks)


def report_of(study: Study) -> StudyReport:
    """Of the cells that are finished. Raises StudyError where they allow no comparison yet."""
    boards, learning, configs = study.boards(), study.learning(), study.configs()
    try:
        valid, optimal = (measured(boards, measure, study.spec, learning, configs) for measure in MEASURES)
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
        beforehand=told_beforehand(study.spec),
        predictions=tuple(scores(told, by="arm")),
        changes=changes(told, by="arm"),
    )


def ledger(study: Study) -> pd.DataFrame:
    """The tested predictions of all finished cells, with their ``arm``; those of one seed belong together."""
    tables = [predictions(session).assign(arm=cell.arm.name, cluster=f"seed {cell.seed}") for cell, session in study.finished()]
    return pd.concat(tables, ignore_index=True)


def measured(
    boards: pd.DataFrame, measure: Measure, spec: StudySpec, learning: pd.DataFrame | None = None, configs: Configs | None = None
) -> MeasureReport:
    """The report on one measure; without ``learning`` it has no curves, without ``configs`` no doses.

    Raises ValueError where the finished cells allow no comparison.
    """
    if boards.empty:
        raise ValueError("no cell is finished")
    table, answers, told = outcomes(boards, measure), boards.assign(valid=boards[measure]), design(spec)
    found = told.effects(table)
    if not found:
        raise ValueError(f"only the arm {told.reference} is finished")
    doses = {key: dose(told.pairs[key], configs, spec) for key in found} if configs else {}
    found = without_contrast(found, {key for key, how_far in doses.items() if how_far == 0})
    bounds = (lambda plus, minus: (None, None)) if spec.suite_by_seed else (lambda plus, minus: board_bootstrap(answers, plus, minus))
    rows = [
        row_of(told.kind, told.name(key), effect, bounds(*map(sorted, told.sides[key])), doses.get(key)) for key, effect in found.items()
    ]
    if told.kind == "main effect":
        sections = sections_of(spec)
        for (a, b), effect in interactions(table, sections).items():
            alike = {arm for arm, shown in sections.items() if (a in shown) == (b in shown)}
            rows.append(row_of("interaction", f"{a} and {b}", effect, bounds(sorted(alike), sorted({*sections} - alike))))
    effects = judged(rows, spec.smallest_effect)
    by_arm = [(arm.name, table[table["arm"] == arm.name]) for arm in spec.arms]
    arms = [ArmRates(arm=name, by_seed=by_seed(own), mean=own["value"].mean()) for name, own in by_arm if len(own)]
    return MeasureReport(
        arms=tuple(arms),
        effects=effects,
        margin=spec.smallest_effect,
        visible=seen_by(effects),
        sentences=sentences_of(effects, spec, measure, spec.smallest_effect),
        curves=() if learning is None else curves(learning, measure, spec),
        sizes=sizes(boards, measure, told, [key for key, how_far in doses.items() if how_far == 0]),
    )


def dose(pairs: list[tuple[str, str]], configs: Configs, spec: StudySpec) -> float | None:
    """How far apart the configs were that the two arms of each pair trained on, as :attr:`EffectRow.dose` says; exactly 0 only where they
    were identical in all seeds, and None where no seed has both."""
    both = [(configs[plus, seed], configs[minus, seed]) for plus, minus in pairs for seed in spec.seeds
            if (plus, seed) in configs and (minus, seed) in configs]  # fmt: skip
    if not both:
        return None
    if all(plus == minus for plus, minus in both):
        return 0.0
    return max(float(np.mean([apart(*stages) for plus, minus in both for stages in zip(plus, minus, strict=True)])), 1e-9)


def apart(plus: EnvironmentConfig, minus: EnvironmentConfig) -> float:
    """Mean absolute difference of a knob of a map size; a size that one config lacks has no share there."""
    nothing = SizeConfig(share=0.0)
    cells = [(plus.sizes.get(size, nothing), minus.sizes.get(size, nothing)) for size in {*plus.sizes, *minus.sizes}]
    return float(np.mean([abs(getattr(one, knob) - getattr(other, knob)) for one, other in cells for knob in KNOBS]))


def judged(rows: Sequence[EffectRow], margin: float) -> tuple[EffectRow, ...]:
    """The same rows with the p values that each is smaller than ``margin``, corrected for those of its kind."""
    done: list[EffectRow] = []
    for kind in dict.fromkeys(row.kind for row in rows):
        own = [row for row in rows if row.kind == kind]
        ps = [smaller_than(row.effect, margin) for row in own]
        done += [
            row.model_copy(update={"p_smaller": none(p), "p_smaller_holm": none(corrected)})
            for row, p, corrected in zip(own, ps, holm(ps), strict=True)
        ]
    return tuple(done)


def seen_by(rows: Sequence[EffectRow]) -> float | None:
    """The smallest effect that the study's seeds can see by the spread of its own comparisons, interactions left out; None without any."""
    spread = [deviation(row.effect) for row in rows if row.kind == rows[0].kind and row.p is not None]
    return smallest_visible(sqrt(np.mean(np.square(spread))), rows[0].n) if any(spread) else None


def sentences_of(rows: Sequence[EffectRow], spec: StudySpec, measure: Measure, margin: float) -> tuple[str, ...]:
    """Each comparison of the study but the interactions, in words."""
    told = design(spec)
    done = {told.name(key): told.done(key) for key in told.sides}
    return tuple(
        sentence(done[row.name], row.effect, measure, margin, nan if row.p_smaller_holm is None else row.p_smaller_holm, row.alike)
        for row in rows
        if row.kind == told.kind
    )


def row_of(kind: Kind, name: str, effect: Effect, boards: tuple[float | None, float | None], how_far: float | None = None) -> EffectRow:
    """One comparison; ``boards`` are its bounds over boards, ``how_far`` its dose."""
    low, high = boards
    return EffectRow(
        kind=kind,
        name=name,
        mean=effect.mean,
        n=effect.n,
        board_low=low,
        board_high=high,
        dose=how_far,
        alike=how_far == 0,
        **known(effect),
    )


def none(p: float) -> float | None:
    return None if isnan(p) else p


def known(effect: Effect) -> dict[str, float | None]:
    """Its bounds and p values, None where the seeds tell none."""
    return {key: none(getattr(effect, key)) for key in ("low", "high", "p", "p_holm")}


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


def sizes(boards: pd.DataFrame, measure: Measure, told: Design, alike: Collection[str] = ()) -> tuple[SizeRow, ...]:
    """The study's comparisons on each map size by itself, corrected for there being so many; those of ``alike`` are none."""
    found = [
        (key, int(size), effect)
        for size, own in boards.groupby("size")
        for key, effect in told.effects(outcomes(own, measure)).items()
        if key not in alike
    ]
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
