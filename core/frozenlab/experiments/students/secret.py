"""A student whose weakness is hidden, for a class to find out: a copy of a student as planned, under a name that does not say which."""

from __future__ import annotations

import secrets
import shutil

from frozenlab.base.errors import LabError
from frozenlab.base.files import write_text
from frozenlab.experiments.students.store import Student
from frozenlab.session.store import SessionStore

SECRET = "secret-"
"""What the ids of such copies begin with."""
TITLE = "A student with a secret weakness"
FILES = ("before.parquet", "after.parquet", "certificate.json", "state.json")


class NoSecretError(LabError, ValueError):
    """There are too few students to hide one among; the message says how many are needed."""


def is_secret(student_id: str) -> bool:
    """Whether a student's weakness is hidden by its name."""
    return student_id.startswith(SECRET)


def candidates(store: SessionStore) -> list[Student]:
    """The students that can be hidden: all that came out as planned."""
    return [student for student in Student.all(store) if student.as_planned and not is_secret(student.id)]


def hide(store: SessionStore) -> Student:
    """Copy one of the students as planned, chosen by chance, under a new id. Raises NoSecretError if there are fewer than two."""
    found = candidates(store)
    if len(found) < 2:
        raise NoSecretError(f"a secret needs at least two students that came out as planned; there are {len(found)}")
    chosen = secrets.choice(found)
    folder = Student.place(store.root) / f"{SECRET}{secrets.token_hex(3)}"
    folder.mkdir()
    shutil.copytree(chosen.policy, folder / "policy")
    for name in FILES:
        shutil.copyfile(chosen.dir / name, folder / name)
    recipe = chosen.recipe.model_copy(update={"title": f"{TITLE} ({folder.name.removeprefix(SECRET)})"})
    write_text(folder / "recipe.json", recipe.model_dump_json(indent=1))  # last: it makes the folder a student
    return Student(folder)
