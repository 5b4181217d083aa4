"""The forks that a measurement needs, and their outcomes as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frozenlab.base.cells import Config
from frozenlab.experiments.headroom.spec import KEPT, HeadroomSpec
from frozenlab.tasks.families import between

Part = Literal["before", "menu", "dose"]
"""``before``: the student as it is; ``menu``: it trained on a config; ``dose``: so far towards the best config."""
PARTS: tuple[Part, ...] = get_args(Part)
Floats = NDArray[np.float64]


class Fork(NamedTuple):
    """One fork, named by the key columns of ``outcomes.parquet``."""

    student: int
    """Its number in the spec."""
    part: Part
    config: str
    """Its name in the menu; empty for the student before any fork, whose held-out answers are measured as they are."""
    dose: float
    """1 but for the dose curve."""
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
        number = 0
        if self.part != "before":
            number = menu_names(spec).index(self.config) if self.part == "menu" else round(1000 * self.dose)
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
    gains = cell_gains(spec, rows).mean(axis=3)
    for student in range(len(spec.students)):
        best = menu_names(spec)[int(gains[student].mean(axis=1).argmax())]
        for replicate in range(spec.forks.replicates):
            for dose in spec.forks.doses:
                yield Fork(student, "dose", best, dose, replicate)


def menu_names(spec: HeadroomSpec) -> list[str]:
    return list(spec.forks.menu) if spec.forks else []


def rates_of(rows: Sequence[Mapping[str, Any]] | pd.DataFrame, part: Part, measure: str = "valid") -> pd.Series[float]:
    """The rate of every fork of a part in every cell, 0..1, by (student, replicate, cell, config, dose).

    Args:
        measure: ``valid`` or ``optimal`` greedy answers, or ``plans_valid``, valid sampled ones.
    """
    table = pd.DataFrame(rows)
    table = table.assign(rate=table[measure] / table["plans" if measure == "plans_valid" else "n"])[table["part"] == part]
    return table.set_index(["student", "replicate", "cell", "config", "dose"])["rate"]


def cells_of(rows: Sequence[Mapping[str, Any]] | pd.DataFrame) -> list[str]:
    """The cells of the held-out tasks, in the order of the table."""
    return list(pd.DataFrame(rows)["cell"].unique())


def cell_gains(spec: HeadroomSpec, rows: Sequence[Mapping[str, Any]] | pd.DataFrame, measure: str = "valid") -> Floats:
    """(students, configs, replicates, cells): the change of the rate of each cell of the held-out tasks; NaN where a fork is missing."""
    assert spec.forks is not None
    after = rates_of(rows, "menu", measure).droplevel("dose").unstack("config")
    before = rates_of(rows, "before", measure).droplevel(["config", "dose"])
    sizes = {"student": range(len(spec.students)), "replicate": range(spec.forks.replicates), "cell": cells_of(rows)}
    forks = pd.MultiIndex.from_product(sizes.values(), names=sizes)
    gains = after.sub(before, axis=0).reindex(index=forks, columns=menu_names(spec)).to_numpy(float)
    return np.ascontiguousarray(gains.reshape(*map(len, sizes.values()), -1).transpose(0, 3, 1, 2))


def dose_gains(rows: Sequence[Mapping[str, Any]] | pd.DataFrame) -> pd.DataFrame:
    """The change of the valid rate, mean over cells, of each fork of the dose curve: a row per dose and student, a column per replicate."""
    fork = ["student", "replicate"]
    before = rates_of(rows, "before").groupby(fork).mean()
    after = rates_of(rows, "dose").groupby(["dose", *fork]).mean()
    return (after - before).unstack("replicate")
