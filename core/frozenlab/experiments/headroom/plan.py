"""The forks that a measurement needs, and their outcomes as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frozenlab.base.cells import Config
from frozenlab.experiments.headroom.menu import KEPT
from frozenlab.experiments.headroom.spec import HeadroomSpec
from frozenlab.tasks.families import between

Part = Literal["before", "menu", "dose"]
PARTS: tuple[Part, ...] = ("before", "menu", "dose")
Floats = NDArray[np.float64]


class Fork(NamedTuple):
    """One fork, named by the key columns of ``outcomes.parquet``."""

    student: int
    part: Part
    config: str
    """Its name in the menu; empty for the student before any fork, whose held-out answers are measured as they are."""
    dose: float
    replicate: int

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        return cls(int(row["student"]), row["part"], row["config"], float(row["dose"]), int(row["replicate"]))

    def config_in(self, spec: HeadroomSpec) -> Config:
        """The config that it trains on."""
        assert spec.forks is not None
        menu = spec.forks.menu
        return menu[self.config] if self.part == "menu" else between(menu[KEPT], menu[self.config], self.dose)

    def place_in(self, spec: HeadroomSpec) -> tuple[int, int, int, int]:
        """Numbers that its random draws are derived from. Students and configs that are added at the end leave those of others as they
        are."""
        assert spec.forks is not None
        number = (
            {"before": 0, "menu": menu_names(spec).index(self.config), "dose": round(1000 * self.dose)}[self.part] if self.config else 0
        )
        return self.student, PARTS.index(self.part), number, self.replicate


def menu_forks(spec: HeadroomSpec) -> Iterator[Fork]:
    """Every config for every student, replicate by replicate, so that an unfinished measurement is one of fewer replicates."""
    if spec.forks is None:
        return
    for replicate in range(spec.forks.replicates):
        for student in range(len(spec.students)):
            yield Fork(student, "before", "", 1.0, replicate)
            for name in menu_names(spec):
                yield Fork(student, "menu", name, 1.0, replicate)


def dose_forks(spec: HeadroomSpec, rows: Sequence[Mapping[str, Any]]) -> Iterator[Fork]:
    """The doses of each student's best config of the menu. Their draws are others than those that chose it, so that it has no advantage by
    luck."""
    assert spec.forks is not None
    gains = gains_of(spec, rows)
    for student in range(len(spec.students)):
        best = menu_names(spec)[int(gains[student].mean(axis=1).argmax())]
        for replicate in range(spec.forks.replicates):
            for dose in spec.forks.doses:
                yield Fork(student, "dose", best, dose, replicate)


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
