"""The tables of a report (``report/report.json``). Rates and changes of rates are 0..1; what is not known is None."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from frozenlab.experiments.headroom.spec import HeadroomSpec

Row = tuple[float, ...]
Gaps = tuple[float | None, ...]


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Interval(Table):
    """A number with its 95 % bounds."""

    value: float
    low: float | None
    high: float | None
    n: int
    """Units behind the interval."""
    unit: str
    """What they are: ``student``, ``replicate``, ``batch``, ..."""


class Matrix(Table):
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
    participation: Interval | None
    entropy: Interval | None
    naive: float | None
    """Participation ratio of the cosines with their noise: what would be reported without the correction."""
    valid: Row
    """By cell: the rate of sampled answers that are valid."""
    mixed: Row
    """By cell: the share of groups with different rewards."""
    tokens: Row
    tasks: int
    """Tasks behind each gradient."""


class DosePoint(Table):
    dose: float
    gain: Interval


class ForksReport(Table):
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
    icc: Interval | None
    headroom: Interval
    headroom_sampled: Interval | None
    information: Interval | None
    """None where there is one student only."""
    best_less_worst: Interval
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


class Check(Table):
    """One target that was written down before, and what was found."""

    name: str
    target: str
    found: str
    passed: Literal["pass", "fail", "not measured"]


class HeadroomReport(Table):
    schema_version: Literal[1] = 1
    spec: HeadroomSpec
    students: tuple[str, ...]
    """As people read them, in the order of the spec."""
    matrices: tuple[Matrix, ...]
    forks: ForksReport | None
    checks: tuple[Check, ...]
    verdict: str
    sentences: tuple[str, ...]
    seconds: float | None = None
