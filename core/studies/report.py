"""What came out of a study: the arms' rates over the stages, what makes them differ, and how sure that is; as tables and sentences."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pandas as pd

from frozenlab.files import write_parquet, write_text
from frozenlab.intervals import ComparisonError
from frozenlab.lake.config import KNOBS, EnvironmentConfig, SizeConfig
from frozenlab.loop.ledger import changes, predictions, scores
from frozenlab.studies.design import Design, Kind, design, sections_of
from frozenlab.studies.effects import Effect, board_bootstrap, holm, interactions, over_seeds, without_contrast
from frozenlab.studies.noise import told_beforehand
from frozenlab.studies.report_page import html_page
from frozenlab.studies.spec import StudySpec
from frozenlab.studies.store import Configs, Study, StudyError, outcomes
from frozenlab.studies.tables import (
    MEASURES,
    ArmRates,
    Curve,
    CurvePoint,
    EffectRow,
    Measure,
    MeasureReport,
    SizeRow,
    StudyReport,
    judged,
    none,
    seen_by,
    sentences_of,
)


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

    Raises ComparisonError where the finished cells allow no comparison.
    """
    if boards.empty:
        raise ComparisonError("no cell is finished")
    table, answers, told = outcomes(boards, measure), boards.assign(valid=boards[measure]), design(spec)
    found = told.effects(table)
    if not found:
        raise ComparisonError(f"only the arm {told.reference} is finished")
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
