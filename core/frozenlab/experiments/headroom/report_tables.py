"""The tables of a report (``report/report.json``). Rates and changes of rates are 0..1; what is not known is None."""

from __future__ import annotations

from collections.abc import Iterable
from math import nan
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator

from frozenlab.base.numbers import MINUS, Interval, typeset
from frozenlab.base.schemas import Strict
from frozenlab.engineer.engineers import EqualEngineer, UniformEngineer
from frozenlab.engineer.sentences import retitled
from frozenlab.experiments.headroom.spec import KEPT, UNIFORM, HeadroomSpec

Row = tuple[float, ...]
Gaps = tuple[float | None, ...]


def unknown_bounds(stored: Any) -> Any:
    """JSON keeps bounds that are not known as null."""
    return {name: nan if value is None else value for name, value in stored.items()} if isinstance(stored, dict) else stored


Estimate = Annotated[Interval, BeforeValidator(unknown_bounds)]
Words = Annotated[str, AfterValidator(typeset)]


class Matrix(Strict):
    """The influence matrix of one student; rows and columns are ``cells``."""

    student: str
    cells: tuple[str, ...]
    influence: tuple[Row, ...]
    cosine: tuple[Gaps, ...]
    """Corrected for noise; None for cells whose gradient is not distinguishable from noise."""
    error: tuple[Gaps, ...]
    p: Row
    """By cell: p value of the test that its gradient is zero."""
    seen: tuple[bool, ...]
    """By cell: whether its gradient is distinguishable from noise."""
    participation: Estimate | None
    entropy: Estimate | None
    naive: float | None
    """Participation ratio of the cosines with their noise: what would be reported without the correction."""
    valid: Row
    """By cell: the rate of sampled answers that are valid."""
    mixed: Row
    """By cell: the share of groups with different rewards."""
    tokens: Row
    tasks: int
    """Tasks behind each gradient."""


class DosePoint(Strict):
    dose: float
    gain: Estimate


class ForksReport(Strict):
    """What the configs of the menu changed."""

    configs: tuple[str, ...]
    cells: tuple[str, ...]
    before: Row
    """By student: the valid rate before any fork."""
    gains: tuple[tuple[Row, ...], ...]
    """[student][config][replicate]"""
    cell_gains: tuple[tuple[Row, ...], ...]
    """[student][config][cell], means over replicates."""
    optimal_gains: tuple[tuple[Row, ...], ...]
    """[student][config][replicate], of optimal plans."""
    noise: float
    noise_sampled: float | None
    """The same for the rate of sampled answers, which are more than the greedy ones; None without any."""
    config_sd: float
    icc: Estimate | None
    headroom: Estimate
    headroom_sampled: Estimate | None
    information: Estimate | None
    """None where there is one student only."""
    best_less_worst: Estimate
    best: tuple[str, ...]
    """By student."""
    worst: tuple[str, ...]
    pairs_for_headroom: int | None
    """Pairs of forks that would see a third of the headroom; None: out of reach, or there is none."""
    pairs_for_information: int | None
    doses: tuple[DosePoint, ...]
    predicted: Gaps
    """By student: rank correlation of the first-order values of configs, by the influence matrix, with their gains."""
    boards: int
    """Held-out tasks of a fork."""


class Check(Strict):
    """One target that was written down before, and what was found."""

    name: Annotated[str, AfterValidator(lambda name: name.replace(" - ", f" {MINUS} "))]
    target: str
    found: Words
    passed: Literal["pass", "fail", "not measured"]


class HeadroomReport(Strict):
    schema_version: Literal[1] = 1
    spec: HeadroomSpec
    students: tuple[str, ...]
    """As people read them, in the order of the spec."""
    matrices: tuple[Matrix, ...]
    forks: ForksReport | None
    checks: tuple[Check, ...]
    verdict: Words
    sentences: tuple[Words, ...]
    seconds: float | None = None

    @property
    def for_people(self) -> HeadroomReport:
        """The report with words in the place of the config ``uniform``: they name its ratios, if these are not those that are kept."""
        menu = self.spec.forks.menu if self.spec.forks else {}
        ratios = self.spec.tasks.ratios_in
        if UNIFORM not in menu or self.forks is None:
            return self
        title = EqualEngineer.title if ratios(menu[UNIFORM]) == ratios(menu[KEPT]) else UniformEngineer.title

        def words(texts: Iterable[str]) -> tuple[str, ...]:
            return tuple(retitled(text, {UNIFORM: title}) for text in texts)

        forks = self.forks.model_copy(update={name: words(getattr(self.forks, name)) for name in ("configs", "best", "worst")})
        names = words(check.name for check in self.checks)
        checks = tuple(check.model_copy(update={"name": name}) for check, name in zip(self.checks, names, strict=True))
        said = {"verdict": words([self.verdict])[0], "sentences": words(self.sentences)}
        return self.model_copy(update={"forks": forks, "checks": checks, **said})
