"""The folder of a headroom measurement.

headroom/<id>/
  task.json             what is measured, and what was expected; written once
  state.json            state of the process that measures
  influence-<n>.npz     of student n: inner products of all batches of gradients, and what the batches' samples were like
  outcomes.parquet      one row per fork and cell of the held-out tasks
  report/report.json    the result, when all is measured

What is there is not measured again, so a measurement can be stopped or killed at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from frozenlab.base.files import replacing, write_parquet, write_text
from frozenlab.base.numbers import counted
from frozenlab.experiments.experiment import Experiment, Words
from frozenlab.experiments.headroom.plan import PARTS, Fork
from frozenlab.experiments.headroom.report_tables import HeadroomReport
from frozenlab.experiments.headroom.spec import HeadroomError, HeadroomSpec
from frozenlab.jobs.machine import Needs, cores
from frozenlab.models.folders import policy_folder, weights_file
from frozenlab.session.store import SessionStore

REPORT = "report/report.json"
FIGURES = ("valid", "mixed", "tokens")
"""What is kept of a batch of gradients besides the gradient: see :class:`frozenlab.experiments.headroom.measuring.Batch`."""
KEY = Fork._fields
"""The columns of ``outcomes.parquet`` that identify a fork."""
COUNTS = ("n", "valid", "optimal", "plans", "plans_valid")
"""The columns with the numbers of held-out tasks, of sampled answers, and of those that are right."""


@dataclass(frozen=True)
class Influence:
    """What was measured of a student's gradients."""

    products: NDArray[np.float64]
    """(cells, batches, cells, batches) inner products of the batches' gradients."""
    figures: dict[str, NDArray[np.float64]]
    """Name of FIGURES -> (cells, batches)."""


class Headroom(Experiment[HeadroomSpec]):
    """One folder of a measurement, opened for reading. Opening it raises HeadroomError if its spec cannot be read."""

    kind, model, error = "headroom", HeadroomSpec, HeadroomError
    words = Words("measurement", "measurements", "measuring", "parts measured", "What is measured is kept.")

    @classmethod
    def check(cls, spec: HeadroomSpec, store: SessionStore) -> None:
        """Raises HeadroomError if a student has no weights here."""
        for student in spec.students:
            folder = policy_folder(student)
            if weights_file(folder) is None:
                raise HeadroomError(f"there is no student {student!r}: {folder} holds no weights")

    @property
    def size_in_words(self) -> str:
        return counted(len(self.spec.students), "student")

    @property
    def needs(self) -> Needs:
        """It measures as many parts at a time as there are cores."""
        return Needs(cores())

    def influence(self, student: int) -> Influence | None:
        """What was measured of the gradients of a student, by its number; None if nothing yet. Raises HeadroomError if the file is
        damaged."""

        def read(path: Path) -> Influence:
            with np.load(path, allow_pickle=False) as file:
                influence = Influence(file["products"], {name: file[name] for name in FIGURES})
            check_influence(influence, self.spec)
            return influence

        return self.read(influence_file(student), read)

    def outcomes(self) -> pd.DataFrame | None:
        """The rows of ``outcomes.parquet``; None before the first fork. Raises HeadroomError if it is damaged."""

        def read(path: Path) -> pd.DataFrame:
            table = pd.read_parquet(path)
            check_outcomes(table, self.spec)
            return table

        return self.read("outcomes.parquet", read)

    @property
    def report(self) -> HeadroomReport | None:
        """None before all is measured. Raises HeadroomError if it cannot be read."""
        return self.read(REPORT, lambda path: HeadroomReport.model_validate_json(path.read_bytes()))


def influence_file(student: int) -> str:
    return f"influence-{student}.npz"


def check_influence(influence: Influence, spec: HeadroomSpec) -> None:
    """Raises ValueError if the arrays are none of this measurement."""
    cells, batches = (len(spec.probes.configs), spec.probes.batches) if spec.probes else (0, 0)
    shapes = [(influence.products, (cells, batches) * 2), *((figures, (cells, batches)) for figures in influence.figures.values())]
    if any(array.shape != shape or array.dtype != np.float64 for array, shape in shapes):
        raise ValueError(f"it does not hold {cells} cells with {batches} batches each")


def check_outcomes(table: pd.DataFrame, spec: HeadroomSpec) -> None:
    """Raises ValueError if the rows are none of this measurement."""
    if missing := [name for name in (*KEY, "cell", *COUNTS) if name not in table]:
        raise ValueError(f"it has no column {missing[0]!r}")
    if wrong := [name for name in ("student", "replicate", *COUNTS) if not pd.api.types.is_integer_dtype(table[name])]:
        raise ValueError(f"the column {wrong[0]!r} holds no whole numbers")
    menu, replicates = (spec.forks.menu, spec.forks.replicates) if spec.forks else ((), 0)
    known = {
        "student": table["student"].between(0, len(spec.students) - 1),
        "part": table["part"].isin(PARTS),
        "config": table["config"].isin(["", *menu]),
        "dose": table["dose"].between(0, 4) if pd.api.types.is_float_dtype(table["dose"]) else table["dose"].isna(),
        "replicate": table["replicate"].between(0, replicates - 1),
        "cell": table["cell"].map(lambda cell: isinstance(cell, str)),
    }
    if strange := [name for name, of_this in known.items() if not of_this.all()]:
        raise ValueError(f"the column {strange[0]!r} names what is not in task.json")
    if table.duplicated([*KEY, "cell"]).any():
        raise ValueError("a fork is there twice")


def write_influence(measurement: Headroom, student: int, influence: Influence) -> None:
    with replacing(measurement.dir / influence_file(student)) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, products=influence.products, **influence.figures)


def write_outcomes(folder: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Replace ``outcomes.parquet``; the rows' order does not depend on which fork ended first."""
    write_parquet(folder / "outcomes.parquet", pd.DataFrame(rows).sort_values([*KEY, "cell"], ignore_index=True))


def write_report(measurement: Headroom, report: HeadroomReport) -> None:
    write_text(measurement.dir / REPORT, report.model_dump_json(indent=1))
