"""What the grid of a study is made of: arms, the cells of arms, students and seeds, and the comparisons that it is run for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, model_validator

from frozenlab.base.errors import LabError
from frozenlab.base.schemas import OLDER, Strict
from frozenlab.engineer.engineers import AnyEngineer
from frozenlab.engineer.guard import GuardSettings
from frozenlab.engineer.sections import SectionName
from frozenlab.models.folders import student_label
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.tasks.families import AnyConfig

Measure = Literal["valid", "optimal"]
"""The share of valid or of optimal answers, an outcome of a study."""
MEASURES: tuple[Measure, ...] = get_args(Measure)
TrainingValue = int | float | str
"""The value of a training setting."""


class StudyError(LabError, ValueError):
    """A study does not exist, cannot be read or cannot be made; the message says which and why."""


class Arm(Strict):
    """One setting of a study: what its sessions change of the study's session. A field is None if it stays as it is."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,49}$")]
    sections: tuple[SectionName, ...] | None = None
    engineer: AnyEngineer | None = None
    guard: GuardSettings | None = None
    training: Annotated[dict[str, TrainingValue] | None, Field(exclude_if=lambda changes: changes is None)] = None
    """The training settings that are others than the session's, by name (:class:`TrainingSettings`). A method that is not the session's
    has its usual learning rate, a schedule its usual warm-up, unless they are named too."""
    configs: dict[str, AnyConfig] | None = None
    """The config of every stage, in the place of an engineer's: one for each student, named as in the study's ``students``, and one for
    all others under ``*``. So an oracle gets the best config of each student, and the best constant config is that of ``*`` alone."""
    yoked: str | None = None
    """The name of another arm: each session gets, in the place of an engineer's, the configs that this arm's session of another unit
    trained on: the next student with the same seed, or the next seed if there is one student."""
    draws: Annotated[int, Field(ge=0, le=1000)] = 0
    """Which training draws the sessions have. Arms with another number have the same base and boards, but train on other tasks and sample
    other plans; two arms that differ in nothing else measure the noise (A/A)."""

    @model_validator(mode="before")
    @classmethod
    def _not_older(cls, given: Any) -> Any:
        if isinstance(given, dict) and "api" in given:
            raise ValueError(OLDER)
        return given

    @model_validator(mode="after")
    def _one_author(self) -> Self:
        if sum(author is not None for author in (self.engineer, self.configs, self.yoked)) > 1:
            raise ValueError(f'the arm {self.name} can have one of "engineer", "configs" and "yoked"')
        return self

    @property
    def changes(self) -> dict[str, Any]:
        """The changes by name, as fields of a session's spec, that affect proposals alone; what depends on the student or the unit is left
        out."""
        return {name: value for name in ("sections", "engineer", "guard") if (value := getattr(self, name)) is not None}


class Primary(Strict):
    """A comparison that a study is run for: one arm less another."""

    arm: str
    than: str
    """The arm that it is compared with."""
    outcome: Measure = "valid"

    @property
    def name(self) -> str:
        return f"{self.arm} instead of {self.than}"


@dataclass(frozen=True)
class Cell:
    """One arm with one seed and, in a study with students, one student."""

    arm: Arm
    seed: int
    student: str = ""
    """The policy that its session begins with; empty: the session's own."""
    number: int = 0
    """The student's place in the study, from 1 on; 0 without students."""

    @property
    def id(self) -> str:
        """The id of its session within the study."""
        of_student = f"-student{self.number}" if self.student else ""
        return f"{self.arm.name}{of_student}-s{self.seed}"

    @property
    def label(self) -> str:
        """The student's name in tables; empty without students."""
        return student_label(self.student) if self.student else ""

    @property
    def unit(self) -> str:
        """What the cells of all arms have once, in words: ``seed 1``, ``ladder-3, seed 1``."""
        return ", ".join(filter(None, [self.label, f"seed {self.seed}"]))


def setting_name(setting: str) -> str:
    """What people call a training setting: ``learning rate``."""
    return (TrainingSettings.model_fields[setting].title or setting.replace("_", " ")).lower()


def value_words(value: TrainingValue) -> str:
    """A value as people write it.

    >>> value_words(0.0002), value_words(2.5e-10), value_words(0.05), value_words(16), value_words("grpo")
    ('2e-4', '2.5e-10', '0.05', '16', 'grpo')
    """
    if not isinstance(value, float):
        return str(value)
    return re.sub(r"\.?0*e-0?", "e-", f"{value:e}") if 0 < value < 0.001 else f"{value:g}"


def training_words(changes: Mapping[str, TrainingValue]) -> str:
    """``learning rate 3e-5, steps 10``"""
    return ", ".join(f"{setting_name(setting)} {value_words(value)}" for setting, value in changes.items())
