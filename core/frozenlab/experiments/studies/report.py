"""The report of a study: the arms' rates over the stages, the effects and their uncertainty, as tables and sentences."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from frozenlab.base.cells import Config, in_order
from frozenlab.base.files import as_csv, write_parquet, write_text
from frozenlab.base.numbers import MANY, ComparisonError, interval, points
from frozenlab.engineer.measurements import of_cell
from frozenlab.experiments.studies.design import ORACLE, Design, Kind, design, lower_end
from frozenlab.experiments.studies.effects import (
    Effect,
    Sides,
    board_bootstrap,
    compare,
    contrast,
    contrast_so_far,
    mean_over,
    sentence,
    tried,
    units,
    without_contrast,
)
from frozenlab.experiments.studies.grid import MEASURES, Measure, Primary
from frozenlab.experiments.studies.main_table import as_frame, as_latex, finals_of
from frozenlab.experiments.studies.noise import detectable_effect
from frozenlab.experiments.studies.pictures import main_picture
from frozenlab.experiments.studies.report_page import html_page
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.statistics import holm, ratio_of_means
from frozenlab.experiments.studies.store import Configs, Study, StudyError, outcomes
from frozenlab.experiments.studies.tables import (
    ArmRates,
    CellRow,
    Curve,
    CurvePoint,
    EffectRow,
    HeadroomShares,
    MeasureReport,
    PrimaryRow,
    ShareOfHeadroom,
    StudyReport,
    judged,
    seen_by,
    sentences_of,
)
from frozenlab.models.folders import student_label
from frozenlab.session.ledger import changes, predictions, scores
from frozenlab.tasks.families import family_of


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
        registered=study.registered,
        confirmatory=confirmatory(boards, study.spec, configs) if study.registered else (),
        predictions=tuple(scores(tested, by="arm")),
        changes=changes(tested, by="arm"),
        left=what_was_left(study.spec, learning),
        unusable=study.unusable(),
    )


def what_was_left(spec: StudySpec, learning: pd.DataFrame) -> dict[str, float]:
    """Student -> its valid rate, before the first stage, in the cells that it lost, the lowest first: an arm with a config for each student
    gives most tasks to them. Empty without one, and without students.

    Args:
        learning: as :meth:`Study.learning` gives it.
    """
    knowing = next((arm.configs for arm in spec.arms if arm.configs and spec.students), {})
    before, found = learning[learning["trained"] == 0], dict[str, float]()
    for name, config in knowing.items():
        student, most = student_label(name), max(own.share for own in config.cells.values())
        lost = [cell for cell, own in config.cells.items() if own.share == most]
        rates = before[(before["student"] == student) & before["config_cell"].isin(lost)].groupby("config_cell")["valid"].mean()
        if len(rates):
            found[student] = float(rates.mean())
    return dict(sorted(found.items(), key=lambda one: one[1]))


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
    doses = {key: dose(comparisons.pairs[key], configs, spec) for key in contrasts} if configs else {}
    alike = {key for key, how_far in doses.items() if how_far == 0}

    def row_of(kind: Kind, name: str, sides: Sides, effect: Effect, how_far: float | None = None) -> EffectRow:
        low, high = (nan, nan) if spec.suite_by_seed else board_bootstrap(answers, *map(sorted, sides))
        return EffectRow(kind=kind, name=name, board_low=low, board_high=high, dose=how_far, alike=how_far == 0, **dict(effect))

    rows = [
        row_of(comparisons.kind, comparisons.name(key), comparisons.sides[key], effect, doses.get(key))
        for key, effect in without_contrast(contrasts, alike).items()
    ]
    both = compare(table, comparisons.interactions)
    rows += [row_of("interaction", name, comparisons.interactions[name], effect) for name, effect in both.items()]
    effects = judged(rows, spec.smallest_effect)
    by_arm = {arm.name: own for arm in spec.arms if len(own := table[table["arm"] == arm.name])}
    return MeasureReport(
        arms=tuple(ArmRates(arm=name, mean=mean_over(own).mean, **by_unit(own)) for name, own in by_arm.items()),
        effects=effects,
        margin=spec.smallest_effect,
        visible=seen_by(effects),
        sentences=sentences_of(effects, spec, measure, spec.smallest_effect),
        curves=() if learning is None else curves(learning, measure, spec),
        headroom=shares_of_headroom(table),
        sizes=sizes(boards, measure, comparisons, alike),
    )


def confirmatory(boards: pd.DataFrame, spec: StudySpec, configs: Configs | None = None) -> tuple[PrimaryRow, ...]:
    """The primary comparisons of a study that can be made already, corrected for their number."""
    found: dict[Primary, Effect] = {}
    for primary in spec.primary:
        if made := contrast_so_far(outcomes(boards, primary.outcome), [primary.arm], [primary.than]):
            found[primary] = made
    doses = {primary: dose([(primary.arm, primary.than)], configs, spec) if configs else None for primary in found}
    found = without_contrast(found, {primary for primary, how_far in doses.items() if how_far == 0})
    rows = [
        PrimaryRow(
            kind="arm", name=primary.name, measure=primary.outcome, sentence="", dose=doses[primary], alike=doses[primary] == 0,
            **dict(effect),
        )
        for primary, effect in found.items()
    ]  # fmt: skip
    margin = spec.smallest_effect
    return tuple(
        row.model_copy(update={"sentence": sentence(row.name, row, row.measure, margin, row.p_smaller_holm, row.alike) + tried(row.dose)})
        for row in judged(rows, margin)
    )


def dose(pairs: list[tuple[str, str]], configs: Configs, spec: StudySpec) -> float | None:
    """How far apart the configs were that the two arms of each pair trained on (:attr:`EffectRow.dose`). Exactly 0 only if they
    were identical in all units; None if no unit has both, and for arms that train differently on whatever configs."""
    training = {arm.name: spec.training_of(arm) for arm in spec.arms}
    if any(training[plus] != training[minus] for plus, minus in pairs):
        return None
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


def by_unit(table: pd.DataFrame) -> dict[str, Any]:
    """The values by seed, and by student and seed, as fields of :class:`Rates`."""
    students = table.groupby("student", sort=False) if "student" in table else ()
    return {"by_seed": by_seed(table), "by_student": {str(student): by_seed(own) for student, own in students}}


def by_seed(table: pd.DataFrame) -> dict[int, float]:
    """Seed -> value; with students the mean over them."""
    of_seeds = table.groupby("seed", sort=False)["value"].mean()
    return {int(str(seed)): float(value) for seed, value in of_seeds.items()}


def curves(learning: pd.DataFrame, measure: Measure, spec: StudySpec) -> tuple[Curve, ...]:
    """The learning curve of each arm. All arms of a seed share everything before the first proposal."""
    drawn: dict[str, list[CurvePoint]] = {arm.name: [] for arm in spec.arms}
    for trained, answers in learning.groupby("trained"):
        for arm, own in outcomes(answers, measure).groupby("arm"):
            found = mean_over(own)
            drawn[arm].append(CurvePoint(trained=trained, mean=found.mean, low=found.low, high=found.high, **by_unit(own)))
    return tuple(Curve(arm=arm, points=tuple(points)) for arm, points in drawn.items() if points)


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
        CellRow(name=key, cell=cell, **dict(effect) | {"p_holm": p}) for (key, cell, effect), p in zip(contrasts, corrected, strict=True)
    )


def save_report(folder: Path, report: StudyReport, boards: pd.DataFrame) -> None:
    """Write ``report.json``, ``report.html``, ``arms.csv``, ``effects.csv``, with shares of headroom ``headroom.csv``, with a main table
    ``main.csv``, ``main.tex`` and ``main-*.svg``, and ``boards.parquet``. Everything can be computed again from ``boards.parquet`` except
    the learning curves, which are in ``report.json`` only."""
    folder.mkdir(parents=True, exist_ok=True)
    write_parquet(folder / "boards.parquet", boards)
    tables: dict[str, Callable[[MeasureReport], list[dict[str, Any]]]] = {
        "arms": lambda found: [{"arm": arm.arm} | row for arm in found.arms for row in arm.rows],
        "effects": lambda found: [{"kind": row.kind} | flat for row in found.effects for flat in row.rows],
        "headroom": lambda found: [one.model_dump() for one in found.headroom.shares] if found.headroom else [],
    }
    for name, rows_of in tables.items():
        rows = [{"measure": measure} | row for measure in MEASURES for row in rows_of(report.of(measure))]
        if rows:
            write_text(folder / f"{name}.csv", as_csv(pd.DataFrame(rows)))
    if report.main is not None:
        write_text(folder / "main.csv", as_csv(as_frame(report.main)))
        write_text(folder / "main.tex", as_latex(report.main))
        for measure in MEASURES:
            write_text(folder / f"main-{measure}.svg", main_picture(report.main, measure))
    write_text(folder / "report.html", html_page(report))
    write_text(folder / "report.json", report.model_dump_json(indent=1))


def shares_of_headroom(outcomes: pd.DataFrame) -> HeadroomShares | None:
    """(arm - low) / (oracle - low) for every other arm, low being ``equal`` or, without it, ``uniform``; a ratio of means over
    units with Fieller's interval.

    Units are seeds, or students if there are several. Only units with both ends and the arm count.

    Args:
        outcomes: as in :mod:`frozenlab.experiments.studies.effects`.

    Returns:
        None without both ends, or before a unit has both. If the interval of the headroom does not lie above 0, no
        share is defined, and ``why`` says so.
    """
    table = outcomes[outcomes["value"].notna()].pivot(index=units(outcomes), columns="arm", values="value")
    low = lower_end({*table.columns})
    if low is None or ORACLE not in table or table[[low, ORACLE]].dropna().empty:
        return None
    room = contrast(outcomes, [ORACLE], [low])
    defined = room.low > 0
    bounds = "no interval" if isnan(room.low) else interval(room.low, room.high, MANY)
    why = f"The headroom of {points(room.mean, MANY)} ({bounds}) is not clear of zero, so no share of it is defined."
    shares = []
    for arm in table.columns.drop([low, ORACLE]) if defined else ():
        own = table[[arm, low, ORACLE]].dropna()
        gained, possible = own[arm] - own[low], own[ORACLE] - own[low]
        if "student" in outcomes and own.index.get_level_values("student").nunique() > 1:
            gained, possible = (values.groupby(level="student").mean() for values in (gained, possible))
        share, lowest, highest = ratio_of_means(gained.tolist(), possible.tolist())
        if not isnan(share):
            shares.append(ShareOfHeadroom(arm=str(arm), share=share, low=lowest, high=highest, n=len(gained)))
    shares.sort(key=lambda one: -one.share)
    return HeadroomShares(headroom=room.mean, low=room.low, high=room.high, shares=tuple(shares), over=low, why="" if defined else why)
