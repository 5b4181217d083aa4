"""Students that are planted without practice: the lab model with a certificate that says what a test needs."""

from __future__ import annotations

import shutil

from frozenlab.base.cells import Config
from frozenlab.experiments.students.certificate import CellRates, Certificate
from frozenlab.experiments.students.menu import practised
from frozenlab.experiments.students.recipe import Recipe
from frozenlab.experiments.students.store import Student
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.models.folders import LAB_MODEL
from frozenlab.session.store import SessionStore

CONFIG = EnvironmentConfig.uniform((3, 4, 5), agents=2)


def planted(
    store: SessionStore, name: str, weak: tuple[str, ...], refused: str = "", config: Config = CONFIG, misled: bool = False
) -> Student:
    """The lab model as a student with a certificate that says it is weak at these cells."""
    recipe = Recipe(
        title=name, config=practised(config, weak), weak=weak, misled=weak if misled else (), boards=8, presentations=8, boards_per_cell=8
    )
    student = Student.create(recipe, store, name)
    shutil.copytree(LAB_MODEL, student.policy)
    cells = tuple(
        CellRates(cell=cell, words=cell, n=8, valid_before=4, valid_after=8, optimal_before=0, optimal_after=0, gained=4, lost=0)
        for cell in config.cells
    )
    for table in ("before", "after"):
        (student.dir / f"{table}.parquet").touch()
    certificate = Certificate(weak=weak, cells=cells, refused=refused, policy_sha256="", created=0, seconds=0)
    (student.dir / "certificate.json").write_text(certificate.model_dump_json())
    return student
