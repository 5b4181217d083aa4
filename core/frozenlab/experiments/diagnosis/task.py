"""The task of a diagnosis: which engineers are asked about which students, with which sections shown."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from frozenlab.base.errors import LabError, one_line
from frozenlab.base.numbers import counted
from frozenlab.base.schemas import Strict
from frozenlab.engineer.engineers import BY_NAME, AnyEngineer, EngineerError, engineer_of
from frozenlab.engineer.guard import GuardSettings
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.sections import SectionName
from frozenlab.experiments.students.store import Student
from frozenlab.experiments.studies.arms import section_arms

USUAL_ENGINEERS = ("policy", "base", "rules", "learnability", "lowest", "uniform", "random")
VARIED: tuple[SectionName, ...] = ("failures", "behaviour")
"""The sections with evidence about a student that has not been trained by a session."""
WIDE_OPEN = GuardSettings(max_step=1.0)
"""The guard of a diagnosis: an engineer may move as far as it likes."""
Key = tuple[str, str, str, int]
"""Of an answer: student, engineer, name of the choice of sections, sample."""


class DiagnosisError(LabError, ValueError):
    """A diagnosis cannot be made, read or thrown away; the message says why."""


class Shown(Strict):
    """One choice of the sections that an engineer sees."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,49}$")]
    sections: tuple[SectionName, ...]


class DiagnosisTask(Strict):
    """``task.json``: the students, the engineers, what they are shown, and how often each is asked."""

    schema_version: Literal[1] = 1
    title: Annotated[str, Field(min_length=1, max_length=200)]
    students: Annotated[tuple[str, ...], Field(min_length=1)]
    """Their ids."""
    engineers: Annotated[tuple[AnyEngineer, ...], Field(min_length=1)]
    shown: Annotated[tuple[Shown, ...], Field(min_length=1)]
    samples: Annotated[int, Field(ge=1, le=200)] = 8
    """Answers for each student, engineer and choice of sections."""
    boards_per_cell: Annotated[int, Field(ge=1, le=1000)] = 40
    """Validation boards of each cell, from which the section failures is made."""
    sampled_boards: Annotated[int, Field(ge=0, le=1000)] = 16
    """Boards of each cell that plans are sampled on, for the section behaviour. 0: none, as in a session that asks first."""
    sampled_plans: Annotated[int, Field(ge=1, le=64)] = 4
    """Plans sampled on each of these boards."""
    temperature: Annotated[float, Field(gt=0, le=2)] = 0.5
    """Temperature of the sampled plans."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    """Seed of boards and answers."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        kinds = [engineer.kind for engineer in self.engineers]
        for what, names in (("students", self.students), ("engineers", kinds), ("choices of sections", [one.name for one in self.shown])):
            if len(set(names)) < len(names):
                raise ValueError(f"two {what} are the same")
        return self

    @property
    def total(self) -> int:
        """Answers in all."""
        return sum(len(self.keys_of(student)) for student in self.students)

    def keys_of(self, student: str) -> list[Key]:
        """All answers about a student, in the order in which they are asked for."""
        asked = product(self.engineers, self.shown, range(self.samples))
        return [(student, engineer.kind, shown.name, sample) for engineer, shown, sample in asked]


def task_for(
    students: Sequence[Student], engineers: Sequence[EngineerSpec] | None = None, varied: Sequence[SectionName] = VARIED, **fields: object
) -> DiagnosisTask:
    """The task of asking engineers about these students with every combination of the ``varied`` sections shown.

    Args:
        engineers: None: the usual ones that can be asked about all of these students.
        fields: other fields of :class:`DiagnosisTask`, such as ``samples``.

    Raises:
        DiagnosisError: an engineer cannot be asked, a student is not as planned, or a field is not valid.
    """
    if not students:
        raise DiagnosisError("no student is as planned yet: make some with frozenlab students make")
    for student in students:
        certificate = student.certificate
        if certificate is None or not certificate.as_planned:
            reason = "is not made yet" if certificate is None else f"is not as planned: {certificate.refused}"
            raise DiagnosisError(f"the student {student.id} {reason}")
    if engineers is None:
        engineers = [engineer_of(name) for name in USUAL_ENGINEERS if not any(obstacle(student, name) for student in students)]
    for engineer in engineers:
        for student in students:
            if wrong := obstacle(student, engineer.kind):
                raise DiagnosisError(f"the engineer {engineer.kind} cannot be asked about {student.id}: {wrong}")
    shown = tuple(Shown(name=arm.name, sections=arm.sections or ()) for arm in section_arms(varied))
    given = {"title": f"{counted(len(students), 'student')}, {counted(len(engineers), 'engineer')}"} | fields
    ids = tuple(student.id for student in students)
    try:
        return DiagnosisTask.model_validate({"students": ids, "engineers": tuple(engineers), "shown": shown} | given)
    except ValidationError as error:
        raise DiagnosisError(one_line(error)) from None


def obstacle(student: Student, engineer: str) -> str | None:
    """The reason why the engineer of this name cannot be asked about a student; None if it can."""
    if engineer not in BY_NAME:
        raise EngineerError(f"there is no engineer {engineer[:60]!r}; there are {', '.join(BY_NAME)}")
    kind, family = BY_NAME[engineer], student.recipe.family
    if "person" in kind.needs:
        return "it is a person"
    if "model" in kind.needs:
        wrong = family.lab.obstacles(student.recipe.config, True) if family.lab else ["the lab model has no words for these tasks"]
        return wrong[0] if wrong else None
    return None
