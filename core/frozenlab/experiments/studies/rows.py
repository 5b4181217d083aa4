"""The rows of a study's tables: rates, differences of arms, effects, and points of learning curves."""

from __future__ import annotations

from math import nan
from typing import Any

from pydantic import BaseModel

from frozenlab.base.cells import OfCell
from frozenlab.experiments.studies.design import Kind
from frozenlab.experiments.studies.effect_words import units_in_words
from frozenlab.experiments.studies.effects import Effect, StudentMean
from frozenlab.experiments.studies.grid import Measure
from frozenlab.experiments.studies.statistics import CLEAR


class Rates(BaseModel):
    """A rate (mean over the suite's cells) for each seed, and the mean of these."""

    by_seed: dict[int, float]
    """With students, the mean over the students of each seed."""
    by_student: dict[str, dict[int, float]] = {}
    """The rate of each student for each seed; empty in a study without students."""
    mean: float
    """With students, the mean over students of their means."""

    @property
    def by_unit(self) -> dict[str, float]:
        """What the mean is taken over: the rates of seeds, or the mean rates of students."""
        if self.by_student:
            return {student: sum(rates.values()) / len(rates) for student, rates in self.by_student.items()}
        return {f"seed {seed}": rate for seed, rate in self.by_seed.items()}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row per seed, or per student and seed, for tables that are downloaded."""
        if self.by_student:
            return [
                {"student": student, "seed": seed, "rate": rate} for student, own in self.by_student.items() for seed, rate in own.items()
            ]
        return [{"seed": seed, "rate": rate} for seed, rate in self.by_seed.items()]


class ArmRates(Rates):
    """The final rates of one arm."""

    arm: str


class OfStudent(BaseModel):
    """A difference for one student over seeds, with its 95 % t interval; None if the seeds show no spread."""

    student: str
    mean: float
    low: float | None
    high: float | None
    n: int
    """Number of seeds."""


class Difference(BaseModel):
    """A difference over the seeds of a study, or over its students if there are several. Bounds and p values are None if these show no
    spread."""

    name: str
    """Name of the section or the arm."""
    mean: float
    low: float | None
    high: float | None
    """95 % interval over seeds: other training runs on the same boards. With several students an interval over students."""
    p: float | None
    p_holm: float | None
    """Corrected for all that are computed together: those of a kind, or those on all cells."""
    n: int
    """Number of seeds; with several students, number of students."""
    students: tuple[OfStudent, ...] = ()
    """Each student's own difference; empty in a study without students."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """For tables that are downloaded: the difference, then a row for each student."""
        row = self.model_dump(exclude={"students"})
        if not self.students:
            return [row]
        return [row | {"student": "all"}, *(dict.fromkeys(row) | {"name": self.name} | own.model_dump() for own in self.students)]

    @property
    def units(self) -> str:
        """What it was measured on: ``5 seeds``, ``4 students with 6 seeds each``."""
        return units_in_words(self.n, [own.n for own in self.students])

    @property
    def clear(self) -> bool:
        """Whether it is clear of chance, after Holm's correction."""
        return self.p_holm is not None and self.p_holm < CLEAR


class EffectRow(Difference):
    """One comparison."""

    kind: Kind
    board_low: float | None = None
    board_high: float | None = None
    """95 % interval over boards: other boards for the same training runs. None if each seed has its own boards, because then the interval
    over seeds covers other boards too."""
    p_smaller: float | None = None
    p_smaller_holm: float | None = None
    """p value of the equivalence test against the smallest effect that matters, and the same after Holm's correction within its
    kind."""
    dose: float | None = None
    """How far apart the configs were that the two sides trained on: mean absolute difference per knob (share, hole ratio, wait ratio) and
    cell, over stages and seeds. None if it was not recorded, and for an interaction."""
    alike: bool = False
    """Whether both sides trained on identical configs in all seeds, which is no comparison."""

    @property
    def smaller(self) -> bool:
        """Whether the effect is shown to be smaller than the smallest that matters, after Holm's correction within its kind."""
        return self.p_smaller_holm is not None and self.p_smaller_holm < CLEAR

    @property
    def effect(self) -> Effect:
        """The row as an Effect."""
        bounds = {key: nan if value is None else value for key in ("low", "high", "p", "p_holm") for value in [getattr(self, key)]}
        students = tuple(
            StudentMean(own.student, own.mean, nan if own.low is None else own.low, nan if own.high is None else own.high, own.n)
            for own in self.students
        )
        return Effect(self.mean, n=self.n, students=students, **bounds)


class PrimaryRow(EffectRow):
    """A confirmatory comparison. Its p values are corrected for all confirmatory comparisons of the study, of either measure."""

    measure: Measure
    sentence: str


class CurvePoint(Rates):
    """The held-out rates of one arm after some stages."""

    trained: int
    """Number of stages trained; 0 is the base."""
    low: float | None
    high: float | None
    """95 % t interval over seeds (with several students over students), within 0..1. None if they show no spread, as before any
    training."""

    @property
    def band(self) -> tuple[float, float]:
        """The interval, or the mean twice if there is none."""
        return (self.mean, self.mean) if self.low is None or self.high is None else (self.low, self.high)


class Curve(BaseModel):
    arm: str
    points: tuple[CurvePoint, ...]


class CellRow(OfCell, Difference):
    """One of the study's comparisons (no interaction) on the boards of one cell."""
