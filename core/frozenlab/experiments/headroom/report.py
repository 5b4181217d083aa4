"""The report of a measurement: from its files to tables."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, sqrt
from pathlib import Path

import numpy as np
import pandas as pd

from frozenlab.base.errors import one_line
from frozenlab.base.files import regular, write_text
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
from frozenlab.experiments.headroom.menu import KEPT, UNIFORM
from frozenlab.experiments.headroom.plan import cell_gains, cells_of, dose_gains, menu_names
from frozenlab.experiments.headroom.report_tables import DosePoint, ForksReport, HeadroomReport, Matrix
from frozenlab.experiments.headroom.spec import HeadroomError, HeadroomSpec
from frozenlab.experiments.headroom.store import Headroom, Influence
from frozenlab.experiments.headroom.verdict import checks_of, sentences_of, verdict_of
from frozenlab.models.folders import student_label

REPORT = "report/report.json"


def report_of(measurement: Headroom) -> HeadroomReport:
    """The report of what is measured so far. Raises HeadroomError if nothing is, or a file is damaged."""
    spec = measurement.spec
    found = [(student, influence) for student in range(len(spec.students)) if (influence := measurement.influence(student)) is not None]
    matrices = tuple(matrix_of(spec, student, influence) for student, influence in found)
    forks = forks_of(measurement, matrices)
    if not matrices and forks is None:
        raise HeadroomError(f"{measurement.id}: nothing is measured yet")
    checks = checks_of(matrices, forks)
    state = measurement.state()
    return HeadroomReport(
        spec=spec,
        students=tuple(map(student_label, spec.students)),
        matrices=matrices,
        forks=forks,
        checks=checks,
        verdict=verdict_of(matrices, forks, spec.smallest_effect),
        sentences=sentences_of(matrices, forks),
        seconds=state.heartbeat - state.started if state.heartbeat and state.started else None,
    )


def matrix_of(spec: HeadroomSpec, student: int, measured: Influence) -> Matrix:
    assert spec.probes is not None
    found = alignment(measured.products)
    batches = measured.products.shape[1]

    def ranked(rank: Interval) -> Interval | None:
        return rank if isfinite(rank.value) else None

    return Matrix(
        student=student_label(spec.students[student]),
        cells=tuple(spec.probes.configs),
        influence=rows(found.influence),
        cosine=gaps(found.cosine),
        error=gaps(found.error),
        p=tuple(found.p.tolist()),
        seen=tuple(found.seen.tolist()),
        participation=ranked(found.participation),
        entropy=ranked(found.entropy),
        naive=naive_rank(measured.products[found.seen][:, :, found.seen]),
        valid=tuple(measured.figures["valid"].mean(axis=1).tolist()),
        mixed=tuple(measured.figures["mixed"].mean(axis=1).tolist()),
        tokens=tuple(measured.figures["tokens"].mean(axis=1).tolist()),
        tasks=batches * spec.probes.tasks,
    )


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
    found, uniform = spread(gains), names.index(UNIFORM)
    sampled = cell_gains(spec, table, "plans_valid").mean(axis=3) if spec.forks.plans else None
    room = clustered(headroom(gains, uniform))
    information = clustered(information_value(gains)) if len(gains) > 1 else None
    means = gains.mean(axis=2)
    before = table[table["part"] == "before"]
    pair = sqrt(2) * found.noise
    within = gains.shape[0] * (gains.shape[1] - 1)
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
        icc=Interval(found.icc, found.low, found.high, within, "config") if isfinite(found.icc) else None,
        headroom=room,
        headroom_sampled=None if sampled is None else clustered(headroom(sampled, uniform)),
        information=information,
        best_less_worst=clustered(best_less_worst(gains)),
        best=tuple(names[choice] for choice in means.argmax(axis=1)),
        worst=tuple(names[choice] for choice in means.argmin(axis=1)),
        pairs_for_headroom=pairs_needed(room.value / 3, pair),
        pairs_for_information=pairs_needed(information.value / 3, pair) if information else None,
        doses=dose_curve(spec, measurement),
        predicted=tuple(predicted(spec, matrix, means[student]) for student, matrix in enumerate(matrices)),
        boards=int(before.groupby(["student", "replicate"])["n"].sum().iloc[0]),
    )


def dose_curve(spec: HeadroomSpec, measurement: Headroom) -> tuple[DosePoint, ...]:
    table = measurement.outcomes()
    if table is None or "dose" not in set(table["part"]):
        return ()
    gains = dose_gains(spec, table)
    points = []
    for dose, of_dose in gains.groupby("dose"):
        values = of_dose.pivot(index="student", columns="replicate", values="gain").dropna().to_numpy()
        if len(values):
            points.append(DosePoint(dose=float(dose), gain=clustered(values)))
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
        same = kept.with_cells({cell: own.model_copy(update={"share": shares.get(cell, 0.0)}) for cell, own in kept.cells.items()})
        if name == KEPT or same.cells == dict(config.cells):
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


def save_report(measurement: Headroom, report: HeadroomReport) -> None:
    write_text(measurement.dir / REPORT, report.model_dump_json(indent=1))


def read_report(folder: Path) -> HeadroomReport | None:
    """The report in a folder; None if there is none yet. Raises HeadroomError if it cannot be read."""
    path = folder / REPORT
    if not path.exists():
        return None
    try:
        return HeadroomReport.model_validate_json(regular(path).read_bytes())
    except (OSError, ValueError) as error:
        raise HeadroomError(f"{folder.name}: {REPORT} cannot be read: {one_line(error)}") from None


def rows(matrix: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def gaps(matrix: Floats) -> tuple[tuple[float | None, ...], ...]:
    return tuple(tuple(value if isfinite(value) else None for value in row) for row in matrix.tolist())
