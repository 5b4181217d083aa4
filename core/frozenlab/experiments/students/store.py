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
import secrets
import shutil
from collections.abc import Iterable
from pathlib import Path

from frozenlab.base.files import write_text
from frozenlab.experiments.experiment import Experiment, Words
from frozenlab.experiments.students.certificate import Certificate
from frozenlab.experiments.students.recipe import Recipe, StudentError
from frozenlab.models.folders import STUDENT, weights_file
from frozenlab.session.store import SessionStore

SECRET = "secret-"
"""What the ids begin with of students whose weakness is hidden, for a class to find out."""
SECRET_TITLE = "A student with a secret weakness"


class Student(Experiment[Recipe]):
    """One student folder, opened for reading. Opening it raises StudentError if its recipe cannot be read."""

    kind, model, error = "student", Recipe, StudentError
    words = Words("student", "students", "practising")

    @classmethod
    def create(cls, spec: Recipe, store: SessionStore, experiment_id: str | None = None) -> Student:
        """A new folder; its usual id is :func:`id_of` its title."""
        return super().create(spec, store, experiment_id or id_of(spec.title))

    @classmethod
    def open(cls, experiment_id: str, store: SessionStore) -> Student:
        """The student with this id or name. Raises StudentError if there is none."""
        return super().open(experiment_id.removeprefix(STUDENT), store)

    @classmethod
    def files(cls, place: Path) -> list[Path]:
        """By id."""
        return sorted(super().files(place))

    @property
    def recipe(self) -> Recipe:
        return self.spec

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
        return self.read("certificate.json", lambda path: Certificate.model_validate_json(path.read_bytes()))

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


def id_of(title: str) -> str:
    """The usual id of a student of this title.

    >>> id_of("Weak at agents 5, never seen")
    'weak-at-agents-5-never-seen'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:63].strip("-") or "student"


def chosen(ids: Iterable[str], store: SessionStore) -> list[Student]:
    """The students of these ids. Raises StudentError if one does not exist or is not ready."""
    found = [Student.open(student_id, store) for student_id in ids]
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
        student.spec = student.recipe.model_copy(update={"base_sha256": sha256})
        write_text(student.dir / "recipe.json", student.recipe.model_dump_json(indent=1))


def is_secret(student_id: str) -> bool:
    """Whether a student's weakness is hidden by its name."""
    return student_id.startswith(SECRET)


def candidates(store: SessionStore) -> list[Student]:
    """The students that can be hidden: all that came out as planned."""
    return [student for student in Student.all(store) if student.as_planned and not is_secret(student.id)]


def hide(store: SessionStore) -> Student:
    """Copy one of the students as planned, chosen by chance, under an id that does not say which. Raises StudentError if there are fewer
    than two."""
    found = candidates(store)
    if len(found) < 2:
        raise StudentError(f"a secret needs at least two students that came out as planned; there are {len(found)}")
    original = secrets.choice(found)
    folder = Student.place(store.root) / f"{SECRET}{secrets.token_hex(3)}"
    folder.mkdir()
    shutil.copytree(original.policy, folder / "policy")
    for name in ("before.parquet", "after.parquet", "certificate.json", "state.json"):
        shutil.copyfile(original.dir / name, folder / name)
    recipe = original.recipe.model_copy(update={"title": f"{SECRET_TITLE} ({folder.name.removeprefix(SECRET)})"})
    write_text(folder / "recipe.json", recipe.model_dump_json(indent=1))  # last: it makes the folder a student
    return Student(folder)
