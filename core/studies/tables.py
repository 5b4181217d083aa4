"""What the report of a study holds: rates of the arms, comparisons, learning curves, and their words. The models of ``report.json``."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan, sqrt
from typing import Any, Literal, Self, get_args

import numpy as np
from pydantic import BaseModel, field_validator, model_validator

from frozenlab.loop.ledger import Changed, Score
from frozenlab.studies.design import FORMER_KINDS, Kind, design
from frozenlab.studies.effects import (
    CLEAR,
    Effect,
    deviation,
    holm,
    margin_words,
    points,
    sentence,
    smaller_than,
    smallest_visible,
)
from frozenlab.studies.spec import StudySpec

Measure = Literal["valid", "optimal"]
MEASURES: tuple[Measure, ...] = get_args(Measure)


class ArmRates(BaseModel):
    """One arm: its final rate (mean over the suite's cells) with each seed, and their mean."""

    arm: str
    by_seed: dict[int, float]
    mean: float


class EffectRow(BaseModel):
    """One comparison. None where the seeds show no spread to judge by."""

    kind: Kind
    name: str
    mean: float
    low: float | None
    high: float | None
    """95 % interval over seeds: other training runs on the same boards."""
    p: float | None
    p_holm: float | None
    n: int
    board_low: float | None = None
    board_high: float | None = None
    """95 % interval over boards: other boards for the same training runs; None where each seed has boards of its own, so that the interval
    over seeds is for other boards too."""
    p_smaller: float | None = None
    p_smaller_holm: float | None = None
    """p value that the effect is not smaller than the smallest that matters (equivalence test), and Holm's correction for those of its
    kind."""
    dose: float | None = None
    """How far apart the two sides' configs were that they trained on: mean absolute difference of a knob (share, hole ratio, wait ratio) of
    a map size, over stages and seeds; None where it was not kept, and of an interaction."""
    alike: bool = False
    """Both sides trained on identical configs in all seeds: no comparison."""

    @field_validator("kind", mode="before")
    @classmethod
    def _current_kind(cls, given: Any) -> Any:
        """Reads the kinds of earlier reports by their current names."""
        return FORMER_KINDS.get(given, given)

    @property
    def clear(self) -> bool:
        """Of chance, as one of its kind: by Holm's correction."""
        return self.p_holm is not None and self.p_holm < CLEAR

    @property
    def smaller(self) -> bool:
        """Than the smallest effect that matters, as one of its kind."""
        return self.p_smaller_holm is not None and self.p_smaller_holm < CLEAR

    @property
    def effect(self) -> Effect:
        """As the statistics have it."""
        bounds = {key: nan if value is None else value for key in ("low", "high", "p", "p_holm") for value in [getattr(self, key)]}
        return Effect(self.mean, n=self.n, **bounds)


class CurvePoint(BaseModel):
    """The held-out rate of one arm after so many stages (mean over the suite's cells) with each seed, and their mean."""

    trained: int
    """Stages before it; 0 is the base."""
    by_seed: dict[int, float]
    mean: float
    low: float | None
    high: float | None
    """95 % t interval over seeds, within 0..1; None where they show no spread, as before any training."""

    @property
    def band(self) -> tuple[float, float]:
        """The interval, or the mean alone where there is none."""
        return (self.mean, self.mean) if self.low is None or self.high is None else (self.low, self.high)


class Curve(BaseModel):
    arm: str
    points: tuple[CurvePoint, ...]


class SizeRow(BaseModel):
    """One of the study's comparisons (no interaction), on the boards of one map size alone; see EffectRow."""

    name: str
    """Of the section or the arm."""
    size: int
    mean: float
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    """Corrected for all comparisons on all sizes."""
    n: int

    @property
    def clear(self) -> bool:
        return self.p_holm is not None and self.p_holm < CLEAR


class MeasureReport(BaseModel):
    """Older reports have no sentences, curves and sizes here."""

    arms: tuple[ArmRates, ...]
    effects: tuple[EffectRow, ...]
    margin: float = 0.01
    """The smallest effect that matters."""
    visible: float | None = None
    """The smallest effect that these seeds can see (80 % power), by the spread that they show; None where they show none."""
    sentences: tuple[str, ...] = ()
    curves: tuple[Curve, ...] = ()
    sizes: tuple[SizeRow, ...] = ()

    @property
    def verdict(self) -> str:
        """All comparisons in a sentence or three."""
        rows = [row for row in self.effects if not row.alike]
        clear, small, many = [row for row in rows if row.clear], [row for row in rows if row.smaller], len(rows)
        seeds = self.effects[0].n
        n = f"clear of chance (n = {seeds} seed{'s' if seeds > 1 else ''})"
        which = ", ".join(f"{row.name} {points(row.mean)} points" for row in clear)
        said = []
        if clear:
            said = [f"{len(clear)} of {many} comparison{'s' if many > 1 else ''} {'are' if len(clear) > 1 else 'is'} {n}: {which}."]
        elif rows:
            said = [f"None of {many} comparisons is {n}." if many > 1 else f"The one comparison is not {n}."]
        if small:
            said.append(f"Smaller than {margin_words(self.margin)}: {', '.join(row.name for row in small)}.")
        if alike := [row.name for row in self.effects if row.alike]:
            said.append(f"No contrast, as both sides trained on identical configs: {', '.join(alike)}.")
        return " ".join(said)


class StudyReport(BaseModel):
    """``report.json``. Rates lie in 0..1."""

    schema_version: Literal[1] = 1
    id: str
    spec: StudySpec
    finished: int
    cells: int
    seconds: float | None
    """From the start of the study to the end of its last session; None while one is left."""
    created: float
    valid: MeasureReport
    optimal: MeasureReport
    sentences: tuple[str, ...]
    """About the valid rate."""
    beforehand: str = ""
    """What the study could see, as was known before it ran; empty in reports from before that was told."""
    predictions: tuple[Score, ...] = ()
    """How those of each arm fared."""
    changes: tuple[Changed, ...] = ()
    """Each predicted change beside the measured one."""

    @field_validator("predictions", mode="before")
    @classmethod
    def _scored_otherwise(cls, given: Any) -> Any:
        """Reports from before counted hits in an interval, which is no score of a prediction."""
        return [score for score in given if not isinstance(score, dict) or "skill" in score]

    @model_validator(mode="after")
    def _open_old(self) -> Self:
        """What can be reckoned from the figures of a report that was written before it was told."""
        if not self.beforehand:
            for measure in MEASURES:
                old: MeasureReport = getattr(self, measure)
                rows = judged(old.effects, old.margin)
                told = {"effects": rows, "visible": seen_by(rows), "sentences": sentences_of(rows, self.spec, measure, old.margin)}
                setattr(self, measure, old.model_copy(update=told))
            self.sentences = self.valid.sentences
        return self

    @property
    def results_from(self) -> str:
        """Which boards the rates are of."""
        if self.spec.session.test is None:
            return "validation boards, which the engineers saw too"
        return "test boards, which no engineer saw"

    @property
    def missing(self) -> tuple[str, ...]:
        """What the study, or this report, lacks that studies now have."""
        lacks = []
        if self.spec.session.test is None:
            lacks.append("its engineers read the same boards that its results are told from")
        if not self.spec.suite_by_seed:
            lacks.append("all its seeds have the same boards, so the interval over seeds says nothing of other boards")
        if not self.spec.session.ask_first:
            lacks.append("its engineers were asked after the first stage only, when most of what a session gains was gained")
        if not self.beforehand:
            lacks.append("how far apart the configs were was not kept, and its predictions were scored by hits in a wide interval")
        return tuple(lacks)


def judged(rows: Sequence[EffectRow], margin: float) -> tuple[EffectRow, ...]:
    """The same rows with the p values that each is smaller than ``margin``, corrected for those of its kind."""
    done: list[EffectRow] = []
    for kind in dict.fromkeys(row.kind for row in rows):
        own = [row for row in rows if row.kind == kind]
        ps = [smaller_than(row.effect, margin) for row in own]
        done += [
            row.model_copy(update={"p_smaller": none(p), "p_smaller_holm": none(corrected)})
            for row, p, corrected in zip(own, ps, holm(ps), strict=True)
        ]
    return tuple(done)


def seen_by(rows: Sequence[EffectRow]) -> float | None:
    """The smallest effect that the study's seeds can see by the spread of its own comparisons, interactions left out; None without any."""
    spread = [deviation(row.effect) for row in rows if row.kind == rows[0].kind and row.p is not None]
    return smallest_visible(sqrt(np.mean(np.square(spread))), rows[0].n) if any(spread) else None


def sentences_of(rows: Sequence[EffectRow], spec: StudySpec, measure: Measure, margin: float) -> tuple[str, ...]:
    """Each comparison of the study but the interactions, in words."""
    told = design(spec)
    done = {told.name(key): told.done(key) for key in told.sides}
    return tuple(
        sentence(done[row.name], row.effect, measure, margin, nan if row.p_smaller_holm is None else row.p_smaller_holm, row.alike)
        for row in rows
        if row.kind == told.kind
    )


def none(p: float) -> float | None:
    return None if isnan(p) else p
