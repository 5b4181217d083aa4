"""Measuring the last checkpoints of a study's sessions on a named suite. One result folder for each, next to the sessions:
``final/<cell>/``; one that is there is not measured again."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from frozenlab.experiments.benchmark.results import Result, save_result
from frozenlab.experiments.benchmark.task import Task
from frozenlab.experiments.studies.grid import Cell
from frozenlab.experiments.studies.main_table import MainTable, main_table
from frozenlab.experiments.studies.store import Study


def result_of(study: Study, cell: Cell) -> Result | None:
    """The result of a cell's last checkpoint; None before it is measured."""
    folder = study.dir / "final" / cell.id
    return Result(folder) if (folder / "report.json").exists() else None


def measure_finals(study: Study, on_progress: Callable[[], None]) -> None:
    """Measure what is not measured yet. Imports torch; ``on_progress`` is called again and again and may raise Stopped."""
    from frozenlab.experiments.benchmark.measuring import measure

    for cell, session in study.finished():
        if result_of(study, cell) is None:
            on_progress()
            stage, spec = session.spec.stages - 1, session.spec
            task = Task(
                title=f"{cell.arm.name}{f', {cell.label}' if cell.label else ''}, seed {cell.seed}",
                model=spec.policy,
                method=spec.training.method,
                session=cell.id,
                stage=stage,
                suite=study.spec.final_suite,
                policy=str((session.stage_dir(stage) / "policy").resolve()),
                language=spec.language,
                temperature=0.0,
            )
            report, rows = measure(task, cell.id, lambda part, done, of: on_progress())
            save_result(study.dir / "final" / cell.id, report, rows)


def finals_of(study: Study) -> MainTable | None:
    """The main table of what is measured so far; None without a final suite, or before anything is measured."""
    if not study.spec.final_suite:
        return None
    columns = study.spec.session.tasks.suite_columns
    tables = []
    for cell, _ in study.finished():
        found = result_of(study, cell)
        rows = found.rows if found else None
        if rows is not None:
            student = {"student": cell.label} if cell.student else {}
            tables.append(rows[[*columns, "valid", "optimal"]].assign(arm=cell.arm.name, seed=cell.seed, **student))
    return main_table(pd.concat(tables, ignore_index=True), study.spec.final_suite, columns) if tables else None
