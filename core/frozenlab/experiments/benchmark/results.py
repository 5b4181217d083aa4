"""Results: the figures of one checkpoint on one suite, in a folder that can be compared with others.

A result has three files. ``report.json`` (:class:`frozenlab.experiments.benchmark.report.Report`) has what was measured and all figures,
``cells.csv`` its cells as a table, ``boards.parquet`` one row per answer with the family's columns: every figure can be computed again
from its rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from frozenlab.base import places
from frozenlab.base.errors import one_line
from frozenlab.base.files import as_csv, regular, write_files, write_parquet
from frozenlab.experiments.benchmark.lake.report import LakeReport
from frozenlab.experiments.benchmark.report import PlainReport, Report
from frozenlab.jobs.folders import JOB_ID
from frozenlab.jobs.job import Job
from frozenlab.jobs.origin import keep_origin
from frozenlab.session.reading import read_table
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import family_named_in
from frozenlab.tasks.family import Family
from frozenlab.tasks.lake.family import LAKE

if TYPE_CHECKING:
    import pandas as pd

Read = TypeVar("Read")
SHIPPED = places.ASSETS / "results"
"""Results that ship with the project."""
REPORTS: dict[str, type[Report]] = {LAKE.name: LakeReport}
"""A family that counts figures of its own has a line here."""


def report_type(family: Family) -> type[Report]:
    return REPORTS.get(family.name, PlainReport)


def read_report(text: str) -> Report:
    """A report of any family. Raises ValueError."""
    given = json.loads(text)
    spec = given.get("suite_spec") if isinstance(given, dict) else None
    return report_type(family_named_in(spec or {})).model_validate_json(text)


def save_result(folder: Path, report: Report, rows: pd.DataFrame) -> None:
    """Write the three files, and where their figures come from. The report gets its name last, so a visible result is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    keep_origin(folder)
    write_parquet(folder / "boards.parquet", rows)
    write_files(folder, {"cells.csv": as_csv(report.cells_table()), "report.json": report.model_dump_json(indent=1)})


class Result(Job):
    """One result folder, opened for reading. ``problems`` names what cannot be read."""

    kind = "evaluation"
    slow = False

    def __init__(self, folder: Path) -> None:
        self.dir = folder
        self.id = folder.name
        self.problems: list[str] = []

    @property
    def title(self) -> str:
        return self.report.title if self.report else self.id

    @property
    def shipped(self) -> bool:
        """Whether it ships with the project."""
        return self.dir.parent == SHIPPED

    @cached_property
    def report(self) -> Report | None:
        """The report; None, and a line in ``problems``, if it is damaged."""
        return self._read("report.json", lambda path: read_report(regular(path).read_text(encoding="utf-8")))

    @cached_property
    def rows(self) -> pd.DataFrame | None:
        """The judged answers, one row per task, the first where there are several; None, and a line in ``problems``, if they are damaged or
        missing."""
        family, samples = (self.report.family, self.report.samples) if self.report else (LAKE, 1)
        return self._read("boards.parquet", lambda path: read_table(path, family).iloc[::samples])

    def _read(self, name: str, read: Callable[[Path], Read]) -> Read | None:
        try:
            return read(self.dir / name)
        except Exception as error:  # a damaged file can make its reader raise anything
            self.problems.append(f"{self.id}: {name} cannot be read: {one_line(error)}")
            return None


def results_folder(store: SessionStore) -> Path:
    """The folder of the user's results and running evaluations."""
    return store.root / "results"


def results(store: SessionStore) -> list[Result]:
    """All finished results: those that ship with the project by name, then the user's, newest first."""
    shipped = [Result(path.parent) for path in sorted(SHIPPED.glob("*/report.json"))]
    own = [Result(path.parent) for path in results_folder(store).glob("*/report.json") if JOB_ID.fullmatch(path.parent.name)]
    return shipped + sorted(own, key=lambda result: result.report.created if result.report else 0.0, reverse=True)
