"""Rows of ``outcomes.parquet`` as arrays: what each config changed in each student, as a whole and by cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frozenlab.experiments.headroom.spec import HeadroomSpec

Floats = NDArray[np.float64]


def menu_names(spec: HeadroomSpec) -> list[str]:
    return list(spec.forks.menu) if spec.forks else []


def rates_of(rows: Sequence[Mapping[str, Any]] | pd.DataFrame, measure: str = "valid") -> pd.Series[float]:
    """The rate of every fork in every cell, 0..1, by (student, part, config, dose, replicate, cell).

    Args:
        measure: ``valid`` or ``optimal`` greedy answers, or ``plans_valid``, valid sampled ones.
    """
    table = pd.DataFrame(rows)
    of = table["plans"] if measure == "plans_valid" else table["n"]
    table = table.assign(rate=table[measure] / of)
    return table.set_index(["student", "part", "config", "dose", "replicate", "cell"])["rate"].sort_index()


def cells_of(rows: Sequence[Mapping[str, Any]] | pd.DataFrame) -> list[str]:
    """The cells of the held-out tasks, in the order of the table."""
    return list(dict.fromkeys(pd.DataFrame(rows)["cell"]))


def cell_gains(spec: HeadroomSpec, rows: Sequence[Mapping[str, Any]] | pd.DataFrame, measure: str = "valid") -> Floats:
    """(students, configs, replicates, cells): the change of the rate of each cell of the held-out tasks; NaN where a fork is missing."""
    assert spec.forks is not None
    rates = rates_of(rows, measure)
    shape = (len(spec.students), len(spec.forks.menu), spec.forks.replicates, len(cells_of(rows)))
    gains = np.full(shape, np.nan)
    cells, names = cells_of(rows), menu_names(spec)
    before = rates.xs("before", level="part").droplevel(["config", "dose"]).to_dict()
    for (student, config, _, replicate, cell), rate in rates.xs("menu", level="part").items() if "menu" in rates.index.levels[1] else ():
        was = before.get((student, replicate, cell), np.nan)
        gains[student, names.index(config), replicate, cells.index(cell)] = rate - was
    return gains


def gains_of(spec: HeadroomSpec, rows: Sequence[Mapping[str, Any]] | pd.DataFrame, measure: str = "valid") -> Floats:
    """(students, configs, replicates): the mean over the cells of :func:`cell_gains`."""
    return np.asarray(cell_gains(spec, rows, measure).mean(axis=3))


def dose_gains(spec: HeadroomSpec, rows: Sequence[Mapping[str, Any]] | pd.DataFrame, measure: str = "valid") -> pd.DataFrame:
    """Columns student, config, dose, replicate and gain, one row per fork of the dose curve."""
    rates = rates_of(rows, measure)
    levels = ["student", "part", "config", "dose", "replicate"]
    means = rates.groupby(level=levels).mean().reset_index(name="rate")
    before = means[means["part"] == "before"].set_index(["student", "replicate"])["rate"]
    doses = means[means["part"] == "dose"].join(before.rename("was"), on=["student", "replicate"])
    return doses.assign(gain=doses["rate"] - doses["was"])[["student", "config", "dose", "replicate", "gain"]].reset_index(drop=True)
