"""Studies for tests: small ones that are run, and imagined answers and reports without any session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from frozenlab.experiments.studies.grid import Cell
from frozenlab.experiments.studies.presets import engineers_study
from frozenlab.experiments.studies.report import measured
from frozenlab.experiments.studies.runner import Runner
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.store import Study
from frozenlab.experiments.studies.tables import StudyReport
from frozenlab.jobs.recorder import JobRecorder
from frozenlab.jobs.worker import run_job
from frozenlab.session.store import SessionStore
from tests.builders import short_spec


def small_study(*engineers: str, seeds: tuple[int, ...] = (0, 1), **fields: Any) -> StudySpec:
    """Short sessions, with an arm for each of these engineers that is named after it."""
    return engineers_study(session=short_spec(**fields)).changed(arms=[{"name": name, "engineer": name} for name in engineers], seeds=seeds)


def made(root: Path, *engineers: str, seeds: tuple[int, ...] = (0, 1)) -> Study:
    """A small study that waits, of uniform and fixed unless others are named."""
    return Study.create(small_study(*(engineers or ("uniform", "fixed")), seeds=seeds), SessionStore(root), "small")


def run(study: Study) -> int:
    """Runs a study in the test's own process, two cells at a time; returns the exit status."""
    return run_job(JobRecorder(study), lambda recorder: Runner(recorder, jobs=2).run())


def events(study: Study, kind: str) -> dict[str, int]:
    """How many events of this kind each cell has."""
    sessions = [session for cell in study.cells if (session := study.session(cell))]
    return {session.id: sum(event["kind"] == kind for event in session.events()) for session in sessions}


def imagined(spec: StudySpec, chance: Callable[[Cell], float], boards: int = 60, draw: int = 0) -> pd.DataFrame:
    """The answers to boards of one size, of which each session gets so many right by chance, and half of them optimal."""
    rng = np.random.default_rng(draw)
    tables = []
    for cell in spec.cells:
        valid = rng.random(boards) < chance(cell)
        names, student = [f"b{i}" for i in range(boards)], {"student": cell.label} if cell.student else {}
        of = {"arm": cell.arm.name, **student, "seed": cell.seed, "board_id": names, "cell": "3x4", "config_cell": "4"}
        tables.append(pd.DataFrame(of | {"valid": valid, "optimal": valid & (rng.random(boards) < 0.5)}))
    return pd.concat(tables, ignore_index=True)


def imagined_report(spec: StudySpec, boards: pd.DataFrame, **fields: Any) -> StudyReport:
    """The report on a study's imagined answers, once read from its file."""
    valid, optimal = (measured(boards, measure, spec) for measure in ("valid", "optimal"))  # type: ignore[arg-type]
    n = len(spec.cells)
    report = StudyReport(
        id="x", spec=spec, finished=n, cells=n, seconds=None, created=0.0, valid=valid, optimal=optimal, sentences=valid.sentences,
        beforehand="It can detect this.", **fields,
    )  # fmt: skip
    return StudyReport.model_validate_json(report.model_dump_json())
