"""The models of ``report.json``: rates of the arms, comparisons, learning curves, and the sentences about them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan, sqrt
from typing import Annotated, Literal, get_args

import numpy as np
from pydantic import AfterValidator, BaseModel

from frozenlab.base.numbers import MANY, points, typeset
from frozenlab.experiments.studies.design import design
from frozenlab.experiments.studies.effect_words import margin_words, sentence
from frozenlab.experiments.studies.effects import deviation, smaller_than
from frozenlab.experiments.studies.grid import Measure
from frozenlab.experiments.studies.main_table import MainTable
from frozenlab.experiments.studies.rows import ArmRates, CellRow, Curve, EffectRow, PrimaryRow
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.experiments.studies.statistics import holm, smallest_visible
from frozenlab.session.ledger import Changed, Score

Words = Annotated[str, AfterValidator(typeset)]
MEASURES: tuple[Measure, ...] = get_args(Measure)


class ShareOfHeadroom(BaseModel):
    """What an arm gains over uniform, as a part of what the oracle gains over it, with Fieller's 95 % interval."""

    arm: str
    share: float
    low: float
    high: float
    n: int
    """Number of seeds; with several students, number of students."""


class HeadroomShares(BaseModel):
    """The headroom of a study with the arms ``uniform`` and ``oracle``, and the other arms' shares of it."""

    headroom: float
    low: float | None
    high: float | None
    shares: tuple[ShareOfHeadroom, ...]
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
    """None in a study without the arms ``uniform`` and ``oracle``."""

    @property
    def verdict(self) -> str:
        """A summary of all comparisons in one to three sentences."""
        rows = [row for row in self.effects if not row.alike]
        clear, small, many = [row for row in rows if row.clear], [row for row in rows if row.smaller], len(rows)
        n = f"clear of chance (n = {self.effects[0].units})"
        which = ", ".join(f"{row.name} {points(row.mean, MANY)}" for row in clear)
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


def judged(rows: Sequence[EffectRow], margin: float) -> tuple[EffectRow, ...]:
    """The same rows with the p values of the equivalence test against ``margin``, corrected within each kind."""
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
    """The smallest effect that the study's seeds can detect, given the spread of its comparisons without interactions; None without any."""
    spread = [deviation(row.effect) for row in rows if row.kind == rows[0].kind and row.p is not None]
    return smallest_visible(sqrt(np.mean(np.square(spread))), rows[0].n) if any(spread) else None


def sentences_of(rows: Sequence[EffectRow], spec: StudySpec, measure: Measure, margin: float) -> tuple[str, ...]:
    """A sentence for each comparison of the study, without the interactions."""
    comparisons = design(spec)
    done = {comparisons.name(key): comparisons.done(key) for key in comparisons.sides}
    return tuple(
        sentence(done[row.name], row.effect, measure, margin, nan if row.p_smaller_holm is None else row.p_smaller_holm, row.alike)
        for row in rows
        if row.kind == comparisons.kind
    )


def none(p: float) -> float | None:
    return None if isnan(p) else p
