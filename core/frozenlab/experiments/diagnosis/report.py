"""The results of a diagnosis: how well proposals hit the planted weakness, by engineer and by the sections that it was shown."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict
from scipy import stats

from frozenlab.base.files import as_csv, write_text
from frozenlab.base.numbers import UNKNOWN, Z95, Interval, counted, listed, percent, wilson
from frozenlab.base.places import ASSETS
from frozenlab.engineer.engineers import name_of, who_is
from frozenlab.engineer.sentences import capitalised
from frozenlab.experiments.diagnosis.store import Answer, Diagnosis
from frozenlab.experiments.diagnosis.task import DiagnosisError
from frozenlab.experiments.students.store import Student

TIE = 1e-6
"""Shares that grew by amounts closer than this grew by the same."""


class Score(NamedTuple):
    """One proposal against the planted weakness."""

    hit: float
    """1 if the share that grew most is that of a weak cell; ties count by their part; if no share grew, all cells tie."""
    aim: float | None
    """The part of the added share that went to weak cells; None if no share grew."""


def score(before: Mapping[str, float], after: Mapping[str, float], weak: Collection[str]) -> Score:
    """Score the change of the shares of all cells.

    >>> before = {"a": 0.25, "b": 0.25, "c": 0.25, "d": 0.25}
    >>> score(before, {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}, {"a"})
    Score(hit=1.0, aim=0.75)
    >>> score(before, {"a": 0.4, "b": 0.4, "c": 0.1, "d": 0.1}, {"b", "c"})
    Score(hit=0.5, aim=0.5)
    >>> score(before, before, {"b"})
    Score(hit=0.25, aim=None)
    """
    grown = {cell: after[cell] - before[cell] for cell in before}
    most = max(grown.values())
    if most <= TIE:
        return Score(len(weak) / len(grown), None)
    tied = [cell for cell, amount in grown.items() if amount >= most - TIE]
    added = {cell: amount for cell, amount in grown.items() if amount > TIE}
    aim = sum(amount for cell, amount in added.items() if cell in weak) / sum(added.values())
    return Score(sum(cell in weak for cell in tied) / len(tied), round(aim, 9))


class Rate(NamedTuple):
    """A mean score with two 95 % intervals."""

    mean: float
    """Each student counts the same."""
    n: int
    """Answers."""
    students: int
    low: float
    """Clustered by student: answers about one student are not independent."""
    high: float
    naive_low: float
    """Wilson's, as if all answers were independent."""
    naive_high: float

    @property
    def interval(self) -> Interval:
        return Interval(self.mean, self.low, self.high, self.n)

    @property
    def naive(self) -> Interval:
        return Interval(self.mean, self.naive_low, self.naive_high, self.n)


def rate(scores: Sequence[Sequence[float]]) -> Rate:
    """The mean of scores in 0..1, given by student.

    The clustered interval is Wilson's at the effective number of answers, with the correction for few clusters (Korn and Graubard 1998):
    the number at which a rate of independent answers would vary as much as the mean of these students does, times the squared ratio of the
    normal to the t quantile. With one student nothing is known about others: the interval is 0 to 1.

    >>> rate([[1, 1, 0, 0]] * 2)[:3]
    (0.5, 8, 2)
    """
    by_student = [float(np.mean(own)) for own in scores]
    k, n, mean = len(by_student), sum(map(len, scores)), float(np.mean(by_student))
    naive = wilson(mean * n, n)
    if k < 2:
        return Rate(mean, n, k, 0.0, 1.0, *naive)
    variance = float(np.var(by_student, ddof=1)) / k
    effective = mean * (1 - mean) / variance if variance > 1e-12 and 0 < mean < 1 else k
    effective = min(effective, n) * (Z95 / float(stats.t.isf(0.025, k - 1))) ** 2
    return Rate(mean, n, k, *wilson(mean * effective, effective), *naive)


RECORDED = ASSETS / "diagnosis" / "report.json"


class Found(BaseModel):
    """One engineer with one choice of sections."""

    model_config = ConfigDict(frozen=True)

    engineer: str
    shown: str
    rate: Rate
    """How often the share that grew most is that of a planted-weak cell."""
    aim: float | None
    """Mean part of the added share that went to weak cells, over the answers that moved a share."""
    moved: int
    """Answers in which a share grew."""
    unusable: int
    """Answers that could not be used; they count as missed."""

    @property
    def words(self) -> str:
        """``71 % (44 to 88 %)``"""
        return f"{self.rate.interval.percent} ({self.rate.interval.percents})"


class DiagnosisReport(BaseModel):
    """``report.json``: the diagnosis rates, best with everything shown first."""

    schema_version: Literal[1] = 1
    id: str
    title: str
    students: tuple[str, ...]
    """Ids of the students that have all their answers."""
    chance: float
    """The rate of picking a cell at random."""
    found: tuple[Found, ...]

    @property
    def engineers(self) -> list[str]:
        return list(dict.fromkeys(found.engineer for found in self.found))

    @property
    def choices(self) -> list[str]:
        """The names of the choices of sections; the first shows everything."""
        return list(dict.fromkeys(found.shown for found in self.found))

    @property
    def sentences(self) -> list[str]:
        """What the rates say: the answer, its figures, and more."""
        everything = [found for found in self.found if found.shown == self.choices[0]]
        best = max(everything, key=lambda found: found.rate.mean)
        others = [who_is(found.engineer) for found in everything if found.rate.low > self.chance and found is not best]
        more = f"clear of chance, too: {listed(others)}" if others else "no other engineer is clear of chance"
        said = [f"{capitalised(who_is(best.engineer))} finds the planted weakness in {best.rate.interval.percent} of its answers; {more}."]
        if best.rate.low <= self.chance:
            said = [f"No engineer is clear of chance; {who_is(best.engineer)} comes first with {best.rate.interval.percent}."]
        of = f"n = {counted(best.rate.n, 'answer')} about {counted(best.rate.students, 'student')}, {shown_words(best.shown)}"
        said.append(f"95 % interval {best.rate.interval.percents}; {of}. Chance is {percent(self.chance)}.")
        if below := [name_of(found.engineer) for found in everything if found.rate.high < self.chance]:
            said.append(f"Below chance: {', '.join(below)}.")
        if len(self.choices) > 1:
            blind = next(found for found in self.found if found.engineer == best.engineer and found.shown == self.choices[-1])
            said.append(f"With {shown_words(self.choices[-1])}, the rate of {who_is(best.engineer)} is {blind.words}.")
        return said


def shown_words(name: str) -> str:
    """The name of a choice of sections in a sentence.

    >>> shown_words("failures-behaviour"), shown_words("none")
    ('failures and behaviour shown', 'neither shown')
    """
    return "neither shown" if name == "none" else f"{' and '.join(name.split('-'))} shown"


def report_of(diagnosis: Diagnosis) -> DiagnosisReport:
    """The report on the students that have all their answers. Raises DiagnosisError if no student has."""
    task, answers = diagnosis.spec, diagnosis.answers()
    asked = {answer.key for answer in answers}
    done = [name for name in task.students if asked.issuperset(task.keys_of(name))]
    if not done:
        raise DiagnosisError("no student has all its answers yet")
    students = [Student.open(name, diagnosis.store) for name in done]
    return compiled(diagnosis.id, diagnosis.title, students, [answer for answer in answers if answer.student in done])


def compiled(diagnosis_id: str, title: str, students: Sequence[Student], answers: Sequence[Answer]) -> DiagnosisReport:
    """The report from complete answers about these students."""
    groups: dict[tuple[str, str], list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[answer.engineer, answer.shown].append(answer)
    found = []
    for (engineer, shown), own in groups.items():
        by_student = [[answer.hit for answer in own if answer.student == student.id] for student in students]
        aims = [answer.aim for answer in own if answer.aim is not None]
        unusable = sum(answer.record.proposal is None for answer in own)
        aim = sum(aims) / len(aims) if aims else None
        found.append(Found(engineer=engineer, shown=shown, rate=rate(by_student), aim=aim, moved=len(aims), unusable=unusable))
    chance = sum(len(student.recipe.weak) / len(student.recipe.config.cells) for student in students) / len(students)
    first = found[0].shown
    best = {one.engineer: one.rate.mean for one in found if one.shown == first}
    found.sort(key=lambda one: -best[one.engineer])
    return DiagnosisReport(
        id=diagnosis_id, title=title, students=tuple(student.id for student in students), chance=chance, found=tuple(found)
    )


def recorded() -> DiagnosisReport | None:
    """The report that ships with the project; None if there is none."""
    return DiagnosisReport.model_validate_json(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else None


def table(report: DiagnosisReport) -> pd.DataFrame:
    """One row per engineer and choice of sections."""
    return pd.DataFrame(
        {"engineer": one.engineer, "shown": one.shown, "chance": report.chance, **one.rate._asdict(), "aim": one.aim}
        | {"moved": one.moved, "unusable": one.unusable}
        for one in report.found
    )


def write_report(report: DiagnosisReport, folder: Path) -> None:
    """Write ``report.json`` and ``rates.csv``."""
    write_text(folder / "report.json", report.model_dump_json(indent=1))
    write_text(folder / "rates.csv", as_csv(table(report)))


def lines(report: DiagnosisReport) -> list[str]:
    """The report as text, for a terminal."""
    head = f"{'engineer':<17} {'shown':<24} {'finds it':<20} {'naive interval':<16} {'aim':>6} {'moved':>6} {'answers':>8}"
    body = [
        f"{name_of(one.engineer):<17} {one.shown:<24} {one.words:<20} {one.rate.naive.percents:<16} "
        f"{UNKNOWN if one.aim is None else percent(one.aim):>6} {one.moved:>6} {one.rate.n:>8}"
        for one in report.found
    ]
    return [f"{len(report.students)} students; chance {percent(report.chance)}", head, *body, *report.sentences]
