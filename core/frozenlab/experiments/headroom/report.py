"""The report of a measurement: from its files to tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import isfinite, sqrt
from typing import NamedTuple

import numpy as np
import pandas as pd

from frozenlab.base.cells import with_shares
from frozenlab.base.numbers import Interval
from frozenlab.experiments.headroom.alignment import alignment, value_of_mixture
from frozenlab.experiments.headroom.gains import (
    Floats,
    best_less_worst,
    clustered,
    headroom,
    information_value,
    pairs_needed,
    rank_correlation,
    spread,
)
from frozenlab.experiments.headroom.plan import cell_gains, cells_of, dose_gains, menu_names
from frozenlab.experiments.headroom.report_tables import DosePoint, ForksReport, HeadroomReport, Matrix
from frozenlab.experiments.headroom.spec import EQUAL, KEPT, HeadroomError, HeadroomSpec
from frozenlab.experiments.headroom.store import Headroom, Influence
from frozenlab.experiments.headroom.verdict import checks_of, sentences_of, verdict_of
from frozenlab.models.folders import student_label
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore


def report_of(measurement: Headroom) -> HeadroomReport:
    """The report of what is measured so far. Raises HeadroomError if nothing is, or a file is damaged."""
    spec = measurement.spec
    found = [(student, influence) for student in range(len(spec.students)) if (influence := measurement.influence(student)) is not None]
    matrices = tuple(matrix_of(spec, student, influence) for student, influence in found)
    forks = forks_of(measurement, matrices)
    if not matrices and forks is None:
        raise HeadroomError(f"{measurement.id}: nothing is measured yet")
    baseline = spec.forks.baseline if spec.forks else EQUAL
    checks = checks_of(matrices, forks, baseline)
    state = measurement.state()
    return HeadroomReport(
        spec=spec,
        students=tuple(map(student_label, spec.students)),
        matrices=matrices,
        forks=forks,
        checks=checks,
        verdict=verdict_of(matrices, forks, spec.smallest_effect, baseline),
        sentences=sentences_of(matrices, forks),
        seconds=state.heartbeat - state.started if state.heartbeat and state.started else None,
    )


def matrix_of(spec: HeadroomSpec, student: int, measured: Influence) -> Matrix:
    assert spec.probes is not None
    found = alignment(measured.products)
    valid, mixed, tokens = (tuple(measured.figures[name].mean(axis=1).tolist()) for name in ("valid", "mixed", "tokens"))
    return Matrix(
        student=student_label(spec.students[student]),
        cells=tuple(spec.probes.configs),
        influence=rows(found.influence),
        cosine=gaps(found.cosine),
        error=gaps(found.error),
        p=tuple(found.p.tolist()),
        seen=tuple(found.seen.tolist()),
        participation=if_known(found.participation),
        entropy=if_known(found.entropy),
        naive=naive_rank(measured.products[found.seen][:, :, found.seen]),
        valid=valid,
        mixed=mixed,
        tokens=tokens,
        tasks=measured.products.shape[1] * spec.probes.tasks,
    )


def if_known(found: Interval) -> Interval | None:
    return found if isfinite(found.value) else None


def naive_rank(products: Floats) -> float | None:
    """The participation ratio without any correction for noise."""
    means = products.mean(axis=(1, 3))
    lengths = np.sqrt(means.diagonal())
    return float(len(means) ** 2 / ((means / np.outer(lengths, lengths)) ** 2).sum()) if len(means) else None


def forks_of(measurement: Headroom, matrices: Sequence[Matrix]) -> ForksReport | None:
    """None until every config of the menu has been measured for every student and replicate."""
    spec, table = measurement.spec, measurement.outcomes()
    if spec.forks is None or table is None:
        return None
    by_cell = cell_gains(spec, table)
    if np.isnan(by_cell).any():
        return None
    gains, names = by_cell.mean(axis=3), menu_names(spec)
    found, baseline = spread(gains), names.index(spec.forks.baseline)
    sampled = cell_gains(spec, table, "plans_valid").mean(axis=3) if spec.forks.plans else None
    room = clustered(headroom(gains, baseline))
    information = clustered(information_value(gains)) if len(gains) > 1 else None
    means = gains.mean(axis=2)
    before = table[table["part"] == "before"]
    pair = sqrt(2) * found.noise
    return ForksReport(
        configs=tuple(names),
        cells=tuple(cells_of(table)),
        before=tuple((before["valid"] / before["n"]).groupby(before["student"]).mean().tolist()),
        gains=tuple(rows(of_student) for of_student in gains),
        cell_gains=tuple(rows(of_student) for of_student in by_cell.mean(axis=2)),
        optimal_gains=tuple(rows(of_student) for of_student in cell_gains(spec, table, "optimal").mean(axis=3)),
        noise=found.noise,
        noise_sampled=None if sampled is None else spread(sampled).noise,
        config_sd=found.configs,
        icc=if_known(found.icc),
        headroom=room,
        headroom_sampled=None if sampled is None else clustered(headroom(sampled, baseline)),
        information=information,
        best_less_worst=clustered(best_less_worst(gains)),
        best=tuple(names[choice] for choice in means.argmax(axis=1)),
        worst=tuple(names[choice] for choice in means.argmin(axis=1)),
        pairs_for_headroom=pairs_needed(room.value / 3, pair),
        pairs_for_information=pairs_needed(information.value / 3, pair) if information else None,
        doses=dose_curve(table),
        predicted=tuple(predicted(spec, matrix, means[student]) for student, matrix in enumerate(matrices)),
        boards=int(before.groupby(["student", "replicate"])["n"].sum().iloc[0]),
    )


def dose_curve(outcomes: pd.DataFrame) -> tuple[DosePoint, ...]:
    points = []
    for dose, gains in dose_gains(outcomes).groupby("dose"):
        whole = gains.dropna().to_numpy()
        if len(whole):
            points.append(DosePoint(dose=float(dose), gain=clustered(whole)))
    return tuple(points)


def predicted(spec: HeadroomSpec, matrix: Matrix, gains: Floats) -> float | None:
    """Rank correlation of q' I t with the gains of the configs that mix the probes: those of the cells of ``kept`` with its ratios.

    The target is every cell alike. A step's loss counts tokens, so a cell weighs by its share and its answers' length. None where the
    probes are not the cells of ``kept``, or hardly a gradient is seen: then the matrix is noise.
    """
    assert spec.forks is not None
    kept, cells = spec.forks.kept, matrix.cells
    if tuple(kept.cells) != cells or sum(matrix.seen) < 2:
        return None
    target, influence = np.full(len(cells), 1 / len(cells)), np.array(matrix.influence)
    values, measured = [], []
    for place, (name, config) in enumerate(spec.forks.menu.items()):
        shares = {cell: own.share for cell, own in config.cells.items()}
        if name == KEPT or (shares.keys() == kept.cells.keys() and with_shares(kept, shares).cells == dict(config.cells)):
            weights = np.array([shares[cell] for cell in cells]) * np.array(matrix.tokens)
            values.append(value_of_mixture(influence, weights / weights.sum(), target))
            measured.append(float(gains[place]))
    found = rank_correlation(values, measured)
    return found if isfinite(found) else None


def gain_table(report: HeadroomReport) -> pd.DataFrame:
    """One row per fork of the menu: ``student, config, replicate, gain, optimal_gain``, changes of rates in 0..1."""
    forks = report.forks
    if forks is None:
        return pd.DataFrame(columns=["student", "config", "replicate", "gain", "optimal_gain"])
    return pd.DataFrame(
        {"student": student, "config": config, "replicate": number + 1, "gain": gain, "optimal_gain": optimal}
        for student, of_student, also in zip(report.students, forks.gains, forks.optimal_gains, strict=True)
        for config, replicates, others in zip(forks.configs, of_student, also, strict=True)
        for number, (gain, optimal) in enumerate(zip(replicates, others, strict=True))
    )


class Finding(NamedTuple):
    """The verdict of a measurement."""

    title: str
    verdict: str
    something: bool
    """Whether headroom or value of information was found, with an interval above zero."""
    headroom: Interval


def measured_before(session: SessionSpec, store: SessionStore, students: Collection[str] = ()) -> Finding | None:
    """The newest measurement of forks that began with the session's config and its policy (or all of ``students``), one's own before
    shipped ones; None if there is none."""
    policies = {*students} or {session.policy}
    for measurement in [*Headroom.all(store), *Headroom.shipped()]:
        spec = measurement.spec
        if spec.forks is None or not policies <= {*spec.students} or spec.forks.kept != session.initial_config:
            continue
        try:
            report = measurement.report
        except HeadroomError:
            continue
        if report is not None and report.forks is not None:
            found = (report.forks.headroom, report.forks.information)
            clear = any(one is not None and one.low > 0 for one in found)
            return Finding(report.spec.title, report.for_people.verdict, clear, report.forks.headroom)
    return None


def rows(matrix: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def gaps(matrix: Floats) -> tuple[tuple[float | None, ...], ...]:
    return tuple(tuple(value if isfinite(value) else None for value in row) for row in matrix.tolist())
