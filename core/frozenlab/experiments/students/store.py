"""The folder of a student.

students/<id>/
  recipe.json         what decides it, written once; the checksum of the base is filled in when work begins
  state.json          state of the process that makes it
  before.parquet      the base on the held-out tasks of the certificate, one row per task
  policy/             the student, a checkpoint of the lab model
  after.parquet       the student on the same tasks
  certificate.json    what it can and cannot do
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from frozenlab.base.files import write_text
from frozenlab.experiments.students.certificate import Certificate
from frozenlab.experiments.students.recipe import Recipe, StudentError
from frozenlab.jobs.folders import find_folder, make_folder, read_task, readable
from frozenlab.jobs.job import Job
from frozenlab.jobs.needs import Work
from frozenlab.models.folders import STUDENT, weights_file
from frozenlab.session.store import SessionStore

TABLES = ("before", "after")


class Student(Job):
    """One student folder, opened for reading. Opening it raises StudentError if its recipe cannot be read."""

    kind = "student"

    def __init__(self, folder: Path) -> None:
        self.dir, self.id = folder, folder.name
        self.recipe = read_task(folder / "recipe.json", Recipe, kind=self.kind, error=StudentError)

    @property
    def title(self) -> str:
        return self.recipe.title

    @property
    def work(self) -> Work:
        return Work(self.recipe.base, float(self.recipe.presentations))

    @property
    def slow(self) -> bool:
        return False

    @property
    def policy(self) -> Path:
        """The folder of its checkpoint."""
        return self.dir / "policy"

    @property
    def name(self) -> str:
        """What names it wherever a policy is named."""
        return f"{STUDENT}{self.id}"

    @property
    def certificate(self) -> Certificate | None:
        """None while it is being made. Raises StudentError if it cannot be read."""
        path = self.dir / "certificate.json"
        return read_task(path, Certificate, kind=self.kind, error=StudentError) if path.exists() else None

    @property
    def ready(self) -> bool:
        """Whether it is made and has a certificate."""
        return weights_file(self.policy) is not None and (self.dir / "certificate.json").exists()

    @property
    def as_planned(self) -> bool:
        """Whether it is made and its weakness is real. A certificate that cannot be read counts as none."""
        try:
            certificate = self.certificate
        except StudentError:
            return False
        return self.ready and certificate is not None and certificate.as_planned


def students_folder(store: SessionStore) -> Path:
    return store.root / "students"


def id_of(title: str) -> str:
    """The usual id of a student of this title.

    >>> id_of("Weak at agents 5, never seen")
    'weak-at-agents-5-never-seen'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:63].strip("-") or "student"


def create_student(recipe: Recipe, store: SessionStore, student_id: str | None = None) -> Student:
    """Create a folder with ``recipe.json`` and a queued state. Raises StudentError if the id is invalid or taken."""
    name = student_id or id_of(recipe.title)
    return Student(make_folder(students_folder(store), name, "recipe.json", recipe, title=recipe.title, kind="student", error=StudentError))


def open_student(student_id: str, store: SessionStore) -> Student:
    """A student by its id. Raises StudentError if there is none."""
    return Student(find_folder(students_folder(store), student_id.removeprefix(STUDENT), kind="student", error=StudentError))


def students(store: SessionStore) -> list[Student]:
    """All readable students, by id."""
    return readable(sorted(students_folder(store).glob("*/recipe.json")), Student, StudentError)


def chosen(ids: Iterable[str], store: SessionStore) -> list[Student]:
    """The students of these ids. Raises StudentError if one does not exist or is not ready."""
    found = [open_student(student_id, store) for student_id in ids]
    if unfinished := [student.id for student in found if not student.ready]:
        raise StudentError(f"the student {unfinished[0]} is not made yet: frozenlab students make {unfinished[0]}")
    return found


def keep_base(student: Student, sha256: str) -> None:
    """Write the checksum of the base into the recipe. Raises StudentError if the recipe names another one."""
    known = student.recipe.base_sha256
    if known not in (None, sha256):
        raise StudentError(
            f"the recipe {student.id} is for another base: its weights begin {known[:8]}, those of {student.recipe.base} {sha256[:8]}"
        )
    if known is None:
        student.recipe = student.recipe.model_copy(update={"base_sha256": sha256})
        write_text(student.dir / "recipe.json", student.recipe.model_dump_json(indent=1))
