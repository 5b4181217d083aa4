"""The models of ``report.json``: rates of the arms, comparisons, learning curves, and the sentences about them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan, sqrt
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import AfterValidator, BaseModel

from frozenlab.base.cells import OfCell
from frozenlab.base.files import Kept
from frozenlab.base.numbers import typeset
from frozenlab.engineer.sentences import retitled
from frozenlab.experiments.studies.design import Kind, arm_titles, design
from frozenlab.experiments.studies.effects import deviation, margin_words, sentence, smaller_than, tried, units_in_words
from frozenlab.experiments.studies.grid import Measure
from frozenlab.experiments.studies.main_table import MainTable
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.statistics import CLEAR, Bound, Effect, holm, smallest_visible
from frozenlab.experiments.studies.store import REPORT, Study, Unusable
from frozenlab.session.ledger import Changed, Score

Model = TypeVar("Model", bound=BaseModel)
Words = Annotated[str, AfterValidator(typeset)]


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


class Difference(Effect):
    """A difference over the seeds of a study, or over its students if there are several."""

    name: str
    """Name of the section or the arm."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """For tables that are downloaded: the difference, then a row for each student."""
        row = {"name": self.name} | self.model_dump(exclude={"students"})
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
        return self.p_holm < CLEAR


class EffectRow(Difference):
    """One comparison."""

    kind: Kind
    board_low: Bound = nan
    board_high: Bound = nan
    """95 % interval over boards: other boards for the same training runs. NaN if each seed has its own boards, because then the interval
    over seeds covers other boards too."""
    p_smaller: Bound = nan
    p_smaller_holm: Bound = nan
    """p value of the equivalence test against the smallest effect that matters, and the same after Holm's correction within its
    kind."""
    dose: float | None = None
    """How far apart the configs were that the two sides trained on: mean absolute difference per knob (share, hole ratio, wait ratio) and
    cell, over stages and seeds. None if it was not recorded, for arms that train differently, and for an interaction."""
    alike: bool = False
    """Whether both sides trained on identical configs in all seeds, which is no comparison."""

    @property
    def title(self) -> str:
        """What is compared: of a section that it is shown, of an interaction that it is one."""
        if self.kind == "interaction":
            return f"{self.name} ({self.kind})"
        return self.name if self.kind in ("arm", "setting") else f"showing {self.name}"

    @property
    def smaller(self) -> bool:
        """Whether the effect is shown to be smaller than the smallest that matters, after Holm's correction within its kind."""
        return self.p_smaller_holm < CLEAR


class PrimaryRow(EffectRow):
    """A confirmatory comparison. Its p values are corrected for all confirmatory comparisons of the study, of either measure."""

    measure: Measure
    sentence: str


class CurvePoint(Rates):
    """The held-out rates of one arm after some stages."""

    trained: int
    """Number of stages trained; 0 is the base."""
    low: Bound
    high: Bound
    """95 % t interval over seeds (with several students over students), within 0..1. NaN if they show no spread, as before any
    training."""

    @property
    def band(self) -> tuple[float, float]:
        """The interval, or the mean twice if there is none."""
        return (self.mean, self.mean) if isnan(self.low) else (self.low, self.high)


class Curve(BaseModel):
    arm: str
    points: tuple[CurvePoint, ...]

    @property
    def lines(self) -> dict[str, list[tuple[int, float]]]:
        """(trained, rate) of each seed or student, by its name."""
        found: dict[str, list[tuple[int, float]]] = {}
        for point in self.points:
            for unit, rate in point.by_unit.items():
                found.setdefault(unit, []).append((point.trained, rate))
        return found


class CellRow(OfCell, Difference):
    """One of the study's comparisons (no interaction) on the boards of one cell."""


class ShareOfHeadroom(BaseModel):
    """What an arm gains over the lower end of the scale, as a part of what the oracle gains over it, with Fieller's 95 % interval."""

    arm: str
    share: float
    low: float
    high: float
    n: int
    """Number of seeds; with several students, number of students."""


class HeadroomShares(BaseModel):
    """The headroom of a study with the arms ``oracle`` and ``equal`` or ``uniform``, and the other arms' shares of it."""

    headroom: float
    low: Bound
    high: Bound
    shares: tuple[ShareOfHeadroom, ...]
    over: str = "uniform"
    """The arm from which it is counted."""
    why: Words = ""
    """Why no share is defined; empty if shares are."""


class MeasureReport(BaseModel):
    """All results of one measure. Older reports have no sentences, curves and sizes."""

    arms: tuple[ArmRates, ...]
    effects: tuple[EffectRow, ...]
    margin: float = 0.01
    """The smallest effect that matters."""
    visible: float | None = None
    """The smallest effect that these seeds can detect (80 % power), given their spread; None if they show none."""
    sentences: tuple[Words, ...] = ()
    curves: tuple[Curve, ...] = ()
    sizes: tuple[CellRow, ...] = ()
    headroom: HeadroomShares | None = None
    """None in a study without both ends of the scale."""

    @property
    def compared(self) -> tuple[EffectRow, ...]:
        """The comparisons of arms that trained on different configs."""
        return tuple(row for row in self.effects if not row.alike)

    @property
    def verdict(self) -> str:
        """A summary of all comparisons in one to three sentences; of a comparison that is alone, its own sentence."""
        if len(self.effects) == len(self.sentences) == 1:
            return self.sentences[0]
        rows = self.compared
        clear, small, many = [row for row in rows if row.clear], [row for row in rows if row.smaller], len(rows)
        n = f"clear of chance (n = {self.effects[0].units})"
        which = ", ".join(f"{row.title} {row.change}" for row in clear)
        said = []
        if clear:
            said = [f"{len(clear)} of {many} comparison{'s' if many > 1 else ''} {'are' if len(clear) > 1 else 'is'} {n}: {which}."]
        elif rows:
            largest = max(rows, key=lambda row: abs(row.mean))
            none = f"None of {many} comparisons is" if many > 1 else "The one comparison is not"
            said = [f"{none} {n}; {'the largest is ' if many > 1 else ''}{largest.title} {largest.change}."]
        if small:
            said.append(f"{len(small)} {'are' if len(small) > 1 else 'is'} shown to be smaller than {margin_words(self.margin)}.")
        if alike := [row.name for row in self.effects if row.alike]:
            said.append(f"No contrast, as both sides trained on identical configs: {', '.join(alike)}.")
        if little := [row.name for row in rows if tried(row.dose)]:
            said.append(f"Almost nothing was tried, as both sides trained on almost the same configs: {', '.join(little)}.")
        return " ".join(said)


class StudyReport(BaseModel):
    """``report.json``. Rates lie in 0..1."""

    schema_version: Literal[1] = 1
    id: str
    spec: StudySpec
    finished: int
    cells: int
    seconds: float | None
    """Seconds from the start of the study to the end of its last session; None if one is unfinished."""
    created: float
    valid: MeasureReport
    optimal: MeasureReport
    sentences: tuple[Words, ...]
    """About the valid rate."""
    beforehand: Words = ""
    """What the study could detect, as known before it ran; empty in earlier reports."""
    registered: bool = False
    """Whether the study's file, as it is now, was there before the first session began."""
    confirmatory: tuple[PrimaryRow, ...] = ()
    """The primary comparisons of the study's file, if that was there before the first session began."""
    main: MainTable | None = None
    """The last checkpoints on the study's final suite; None without one."""
    predictions: tuple[Score, ...] = ()
    """Scored predictions of each arm."""
    changes: tuple[Changed, ...] = ()
    """Each predicted change with the measured one."""
    left: dict[str, float] = {}
    """Student -> the valid rate that it had left, before the first stage, in the cells that it lost, the lowest first; empty in a study
    without an arm that knows them, and in earlier reports."""

    unusable: tuple[Unusable, ...] = ()
    """Arms with answers that could not be used; empty in earlier reports."""

    def of(self, measure: Measure) -> MeasureReport:
        return self.valid if measure == "valid" else self.optimal

    @property
    def standing(self) -> str:
        """Which of its comparisons are confirmatory, as a sentence."""
        named = len(self.spec.primary)
        if not named:
            return "Exploratory: the study's file named no comparison as confirmatory before it ran."
        if not self.registered:
            return "Exploratory: the study's file was changed after its first session began, so its primary comparisons confirm nothing."
        those = "the one comparison" if named == 1 else f"the {named} comparisons"
        return f"Confirmatory are {those} that the study's file named before it ran; all others are exploratory."

    @property
    def for_people(self) -> StudyReport:
        """The report with the titles of arms (:func:`arm_titles`) in rows and sentences, in the place of their names."""
        titles = {name: title for name, title in arm_titles(self.spec).items() if title != name}
        if not titles:
            return self

        def words(text: str) -> str:
            return retitled(text, titles)

        def rows(found: Sequence[Model], field: str = "name") -> tuple[Model, ...]:
            return tuple(row.model_copy(update={field: words(getattr(row, field))}) for row in found)

        def measured(found: MeasureReport) -> MeasureReport:
            own: dict[str, Any] = {"arms": rows(found.arms, "arm"), "curves": rows(found.curves, "arm"), "effects": rows(found.effects)}
            if found.headroom:
                own["headroom"] = found.headroom.model_copy(update={"shares": rows(found.headroom.shares, "arm")})
            return found.model_copy(update=own | {"sizes": rows(found.sizes), "sentences": tuple(map(words, found.sentences))})

        own = {"valid": measured(self.valid), "optimal": measured(self.optimal), "sentences": tuple(map(words, self.sentences))}
        primary = tuple(row.model_copy(update={"sentence": words(row.sentence)}) for row in rows(self.confirmatory))
        main = self.main and self.main.model_copy(update={"rates": rows(self.main.rates, "arm")})
        return self.model_copy(update=own | {"confirmatory": primary, "main": main, "unusable": rows(self.unusable, "arm")})

    @property
    def results_from(self) -> str:
        """The boards behind the rates."""
        if self.spec.session.test is None:
            return "validation boards, which the engineers saw too"
        return "test boards, which no engineer saw"

    @property
    def missing(self) -> tuple[str, ...]:
        """What the study or its report lacks, compared with current ones."""
        lacks = []
        if self.spec.session.test is None:
            lacks.append("its engineers read the same boards that its results are measured on")
        if not self.spec.suite_by_seed:
            lacks.append("all its seeds have the same boards, so the interval over seeds says nothing about other boards")
        if not self.spec.session.ask_first:
            lacks.append("its engineers were asked after the first stage only, when a session has made most of its gain")
        if not self.beforehand:
            lacks.append("the dose was not recorded, and predictions were scored by hits in a wide interval")
        return tuple(lacks)


_read = Kept(lambda path: StudyReport.model_validate_json(path.read_bytes()), 20)


def recorded_report(study: Study) -> StudyReport:
    """The report of a study that comes with FrozenLab, which all callers share."""
    return _read(study.dir / REPORT)


Row = TypeVar("Row", bound=EffectRow)


def judged(rows: Sequence[Row], margin: float) -> tuple[Row, ...]:
    """The same rows with the p values of the equivalence test against ``margin``, corrected within each kind."""
    done: list[Row] = []
    for kind in dict.fromkeys(row.kind for row in rows):
        own = [row for row in rows if row.kind == kind]
        ps = [smaller_than(row, margin) for row in own]
        done += [
            row.model_copy(update={"p_smaller": p, "p_smaller_holm": corrected})
            for row, p, corrected in zip(own, ps, holm(ps), strict=True)
        ]
    return tuple(done)


def seen_by(rows: Sequence[EffectRow]) -> float | None:
    """The smallest effect that the study's seeds can detect, given the spread of its comparisons without interactions; None without any."""
    spread = [deviation(row) for row in rows if row.kind == rows[0].kind and not isnan(row.p)]
    return smallest_visible(sqrt(np.mean(np.square(spread))), rows[0].n) if any(spread) else None


def sentences_of(rows: Sequence[EffectRow], spec: StudySpec, measure: Measure, margin: float) -> tuple[str, ...]:
    """A sentence for each comparison of the study, without the interactions."""
    comparisons = design(spec)
    done = {comparisons.name(key): comparisons.done(key) for key in comparisons.pairs}
    return tuple(
        sentence(done[row.name], row, measure, margin, row.p_smaller_holm, row.alike) + tried(row.dose)
        for row in rows
        if row.kind == comparisons.kind
    )
