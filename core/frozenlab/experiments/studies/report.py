"""The report of a study: the arms' rates over the stages, the effects and their uncertainty, as tables and sentences."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import replace
from math import isnan, nan
from pathlib import Path

import numpy as np
import pandas as pd

from frozenlab.base.cells import Config, in_order
from frozenlab.base.files import write_parquet, write_text
from frozenlab.base.numbers import MANY, ComparisonError, interval, points
from frozenlab.engineer.measurements import of_cell
from frozenlab.experiments.studies.design import Design, Kind, design, sections_of
from frozenlab.experiments.studies.effect_words import sentence
from frozenlab.experiments.studies.effects import Effect, board_bootstrap, contrast, interactions, smaller_than, units, without_contrast
from frozenlab.experiments.studies.finals import finals_of
from frozenlab.experiments.studies.grid import Measure, Primary
from frozenlab.experiments.studies.main_table import as_frame, as_latex
from frozenlab.experiments.studies.noise import detectable_effect
from frozenlab.experiments.studies.pictures import main_picture
from frozenlab.experiments.studies.registration import is_registered
from frozenlab.experiments.studies.report_page import html_page
from frozenlab.experiments.studies.rows import ArmRates, CellRow, Curve, CurvePoint, EffectRow, OfStudent, PrimaryRow
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.statistics import Mean, clustered, holm, over_seeds, ratio_of_means
from frozenlab.experiments.studies.store import Configs, Study, StudyError, outcomes
from frozenlab.experiments.studies.tables import (
    MEASURES,
    HeadroomShares,
    MeasureReport,
    ShareOfHeadroom,
    StudyReport,
    judged,
    none,
    seen_by,
    sentences_of,
)
from frozenlab.session.ledger import changes, predictions, scores
from frozenlab.tasks.families import family_of

UNIFORM, ORACLE = "uniform", "oracle"
"""The names of the arms that are the ends of the scale."""


def report_of(study: Study) -> StudyReport:
    """The report on all finished cells. Raises StudyError if they allow no comparison yet."""
    boards, learning, configs = study.boards(), study.learning(), study.configs()
    try:
        valid, optimal = (measured(boards, measure, study.spec, learning, configs) for measure in MEASURES)
    except ValueError as error:
        raise StudyError(f"study {study.id} has no report yet: {error}") from None
    tested = ledger(study)
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
        beforehand=detectable_effect(study.spec),
        main=finals_of(study),
        registered=is_registered(study),
        confirmatory=confirmatory(boards, study.spec, configs) if is_registered(study) else (),
        predictions=tuple(scores(tested, by="arm")),
        changes=changes(tested, by="arm"),
    )


def ledger(study: Study) -> pd.DataFrame:
    """The tested predictions of all finished cells, with their ``arm``; predictions of one seed (of one student) form a cluster."""
    tables = [
        predictions(session).assign(arm=cell.arm.name, cluster=f"{cell.label} seed {cell.seed}".strip())
        for cell, session in study.finished()
    ]
    return pd.concat(tables, ignore_index=True)


def measured(
    boards: pd.DataFrame, measure: Measure, spec: StudySpec, learning: pd.DataFrame | None = None, configs: Configs | None = None
) -> MeasureReport:
    """The report on one measure. Without ``learning`` it has no curves, without ``configs`` no doses.

    Raises ComparisonError where the finished cells allow no comparison.
    """
    if boards.empty:
        raise ComparisonError("no cell is finished")
    table, answers, comparisons = outcomes(boards, measure), boards.assign(valid=boards[measure]), design(spec)
    contrasts = comparisons.effects(table)
    if not contrasts:
        raise ComparisonError(f"only the arm {comparisons.reference} is finished")
    doses = {key: dose(comparisons.pairs[key], configs) for key in contrasts} if configs else {}
    contrasts = without_contrast(contrasts, {key for key, how_far in doses.items() if how_far == 0})
    bounds = (lambda plus, minus: (None, None)) if spec.suite_by_seed else (lambda plus, minus: board_bootstrap(answers, plus, minus))
    rows = [
        row_of(comparisons.kind, comparisons.name(key), effect, bounds(*map(sorted, comparisons.sides[key])), doses.get(key))
        for key, effect in contrasts.items()
    ]
    if comparisons.kind == "main effect":
        sections = sections_of(spec)
        for (a, b), effect in interactions(table, sections).items():
            alike = {arm for arm, shown in sections.items() if (a in shown) == (b in shown)}
            rows.append(row_of("interaction", f"{a} and {b}", effect, bounds(sorted(alike), sorted({*sections} - alike))))
    effects = judged(rows, spec.smallest_effect)
    by_arm = [(arm.name, table[table["arm"] == arm.name]) for arm in spec.arms]
    arms = [
        ArmRates(arm=name, mean=mean_over(own).mean, by_seed=by_seed(own), by_student=by_student(own)) for name, own in by_arm if len(own)
    ]
    return MeasureReport(
        arms=tuple(arms),
        effects=effects,
        margin=spec.smallest_effect,
        visible=seen_by(effects),
        sentences=sentences_of(effects, spec, measure, spec.smallest_effect),
        curves=() if learning is None else curves(learning, measure, spec),
        headroom=shares_of_headroom(table),
        sizes=sizes(boards, measure, comparisons, [key for key, how_far in doses.items() if how_far == 0]),
    )


def confirmatory(boards: pd.DataFrame, spec: StudySpec, configs: Configs | None = None) -> tuple[PrimaryRow, ...]:
    """The primary comparisons of a study that can be made already, corrected for their number."""
    found: list[tuple[Primary, Effect, float | None]] = []
    for primary in spec.primary:
        how_far = dose([(primary.arm, primary.than)], configs) if configs else None
        try:
            effect = contrast(outcomes(boards, primary.outcome), [primary.arm], [primary.than])
        except ComparisonError:  # an arm of it is not finished
            continue
        found.append((primary, replace(effect, low=nan, high=nan, p=nan) if how_far == 0 else effect, how_far))
    corrected = holm([effect.p for _, effect, _ in found])
    smaller = [smaller_than(effect, spec.smallest_effect) for _, effect, _ in found]
    rows = []
    for (primary, effect, how_far), p_holm, p_smaller, p_smaller_holm in zip(found, corrected, smaller, holm(smaller), strict=True):
        effect = replace(effect, p_holm=p_holm)
        words = sentence(primary.name, effect, primary.outcome, spec.smallest_effect, p_smaller_holm, how_far == 0)
        row = row_of("arm", primary.name, effect, (None, None), how_far).model_dump()
        row |= {"p_smaller": none(p_smaller), "p_smaller_holm": none(p_smaller_holm), "measure": primary.outcome, "sentence": words}
        rows.append(PrimaryRow.model_validate(row))
    return tuple(rows)


def dose(pairs: list[tuple[str, str]], configs: Configs) -> float | None:
    """How far apart the configs were that the two arms of each pair trained on (:attr:`EffectRow.dose`). Exactly 0 only if they
    were identical in all units; None if no unit has both."""
    units = dict.fromkeys(key[1:] for key in configs)
    both = [(configs[plus, *unit], configs[minus, *unit]) for plus, minus in pairs for unit in units
            if (plus, *unit) in configs and (minus, *unit) in configs]  # fmt: skip
    if not both:
        return None
    if all(plus == minus for plus, minus in both):
        return 0.0
    return max(float(np.mean([apart(*stages) for plus, minus in both for stages in zip(plus, minus, strict=True)])), 1e-9)


def apart(plus: Config, minus: Config) -> float:
    """Mean absolute difference per knob and cell. A cell that a config lacks counts with share 0 and the other's ratios."""
    knobs = family_of(plus.family).knobs

    def settings(config: Config, name: str, other: Config) -> dict[str, float]:
        return config.cells[name].settings() if name in config.cells else other.cells[name].settings() | {"share": 0.0}

    cells = [(settings(plus, name, minus), settings(minus, name, plus)) for name in {*plus.cells, *minus.cells}]
    return float(np.mean([abs(one[knob] - other[knob]) for one, other in cells for knob in knobs if knob in one]))


def row_of(kind: Kind, name: str, effect: Effect, boards: tuple[float | None, float | None], how_far: float | None = None) -> EffectRow:
    """The row of one comparison, with its bounds over ``boards`` and its dose ``how_far``."""
    low, high = boards
    return EffectRow(
        kind=kind,
        name=name,
        mean=effect.mean,
        n=effect.n,
        students=of_students(effect),
        board_low=low,
        board_high=high,
        dose=how_far,
        alike=how_far == 0,
        **bounds_of(effect),
    )


def bounds_of(effect: Effect) -> dict[str, float | None]:
    """The bounds and p values of an effect; None if the seeds give none."""
    return {key: none(getattr(effect, key)) for key in ("low", "high", "p", "p_holm")}


def of_students(effect: Effect) -> tuple[OfStudent, ...]:
    return tuple(OfStudent(student=one.student, mean=one.mean, low=none(one.low), high=none(one.high), n=one.n) for one in effect.students)


def mean_over(table: pd.DataFrame) -> Mean:
    """The mean of outcomes, with its interval over students if there are several, else over seeds."""
    if "student" not in table:
        low, high = over_seeds(table["value"].tolist())
        return Mean(float(table["value"].mean()), low, high, nan, len(table))
    return clustered([own["value"].round(12).tolist() for _, own in table.groupby("student", sort=False)])


def by_seed(table: pd.DataFrame) -> dict[int, float]:
    """Seed -> value; with students the mean over them."""
    of_seeds = table.groupby("seed", sort=False)["value"].mean()
    return {int(str(seed)): float(value) for seed, value in of_seeds.items()}


def by_student(table: pd.DataFrame) -> dict[str, dict[int, float]]:
    """Student -> seed -> value; empty without students."""
    if "student" not in table:
        return {}
    return {str(student): by_seed(own) for student, own in table.groupby("student", sort=False)}


def curves(learning: pd.DataFrame, measure: Measure, spec: StudySpec) -> tuple[Curve, ...]:
    """The learning curve of each arm. All arms of a seed share everything before the first proposal."""
    after = {int(trained): outcomes(own, measure) for trained, own in learning.groupby("trained")}
    drawn_arms = []
    for arm in spec.arms:
        drawn = []
        for trained, table in after.items():
            own = table[table["arm"] == arm.name]
            if len(own):
                found = mean_over(own)
                low, high = (None if isnan(bound) else min(max(bound, 0.0), 1.0) for bound in (found.low, found.high))
                drawn.append(
                    CurvePoint(trained=trained, by_seed=by_seed(own), by_student=by_student(own), mean=found.mean, low=low, high=high)
                )
        if drawn:
            drawn_arms.append(Curve(arm=arm.name, points=tuple(drawn)))
    return tuple(drawn_arms)


def sizes(boards: pd.DataFrame, measure: Measure, comparisons: Design, alike: Collection[str] = ()) -> tuple[CellRow, ...]:
    """The study's comparisons on each cell separately, corrected for their number, without the keys in ``alike``."""
    contrasts = [
        (key, cell, effect)
        for cell in in_order(boards["config_cell"].dropna())
        for own in [of_cell(boards, cell)]
        for key, effect in comparisons.effects(outcomes(own, measure)).items()
        if key not in alike
    ]
    corrected = holm([effect.p for _, _, effect in contrasts])
    return tuple(
        CellRow(name=key, cell=cell, mean=effect.mean, n=effect.n, students=of_students(effect), **bounds_of(replace(effect, p_holm=p)))
        for (key, cell, effect), p in zip(contrasts, corrected, strict=True)
    )


def save_report(folder: Path, report: StudyReport, boards: pd.DataFrame) -> None:
    """Write ``report.json``, ``report.html``, ``arms.csv``, ``effects.csv``, with shares of headroom ``headroom.csv``, with
    a main table ``main.csv``, ``main.tex`` and ``main-*.svg``, and
    ``boards.parquet``. Everything can be computed again from
    ``boards.parquet`` except the learning curves, which are in ``report.json`` only."""
    folder.mkdir(parents=True, exist_ok=True)
    write_parquet(folder / "boards.parquet", boards)
    arms = [{"measure": measure, "arm": arm.arm} | row for measure in MEASURES for arm in getattr(report, measure).arms for row in arm.rows]
    effects = [
        {"measure": measure, "kind": row.kind} | flat
        for measure in MEASURES
        for row in getattr(report, measure).effects
        for flat in row.rows
    ]
    write_text(folder / "arms.csv", pd.DataFrame(arms).to_csv(index=False))
    write_text(folder / "effects.csv", pd.DataFrame(effects).to_csv(index=False))
    shares = [
        {"measure": measure} | one.model_dump()
        for measure in MEASURES
        if (found := getattr(report, measure).headroom) is not None
        for one in found.shares
    ]
    if shares:
        write_text(folder / "headroom.csv", pd.DataFrame(shares).to_csv(index=False))
    if report.main is not None:
        write_text(folder / "main.csv", as_frame(report.main).to_csv(index=False))
        write_text(folder / "main.tex", as_latex(report.main))
        for measure in MEASURES:
            write_text(folder / f"main-{measure}.svg", main_picture(report.main, measure))
    write_text(folder / "report.html", html_page(report))
    write_text(folder / "report.json", report.model_dump_json(indent=1))


def shares_of_headroom(outcomes: pd.DataFrame) -> HeadroomShares | None:
    """(arm - uniform) / (oracle - uniform) for every other arm, as a ratio of means over units with Fieller's interval.

    Units are seeds, or students if there are several. Only units with both ends and the arm count.

    Args:
        outcomes: as in :mod:`frozenlab.experiments.studies.effects`.

    Returns:
        None without an arm ``uniform`` or ``oracle``, or before a unit has both. If the interval of the headroom does not lie above 0, no
        share is defined, and ``why`` says so.
    """
    table = outcomes[outcomes["value"].notna()].pivot(index=units(outcomes), columns="arm", values="value")
    if not {UNIFORM, ORACLE} <= {*table.columns} or table[[UNIFORM, ORACLE]].dropna().empty:
        return None
    room = contrast(outcomes, [ORACLE], [UNIFORM])
    defined = room.low > 0
    bounds = "no interval" if isnan(room.low) else interval(room.low, room.high, MANY)
    why = f"The headroom of {points(room.mean, MANY)} ({bounds}) is not clear of zero, so no share of it is defined."
    shares = []
    for arm in table.columns.drop([UNIFORM, ORACLE]) if defined else ():
        own = table[[arm, UNIFORM, ORACLE]].dropna()
        gained, possible = own[arm] - own[UNIFORM], own[ORACLE] - own[UNIFORM]
        if "student" in outcomes and own.index.get_level_values("student").nunique() > 1:
            gained, possible = (values.groupby(level="student").mean() for values in (gained, possible))
        share, low, high = ratio_of_means(gained.tolist(), possible.tolist())
        if not isnan(share):
            shares.append(ShareOfHeadroom(arm=str(arm), share=share, low=low, high=high, n=len(gained)))
    shares.sort(key=lambda one: -one.share)
    return HeadroomShares(headroom=room.mean, low=none(room.low), high=none(room.high), shares=tuple(shares), why="" if defined else why)
