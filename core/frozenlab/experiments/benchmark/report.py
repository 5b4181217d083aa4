"""The report of a result: what was measured, how, and what came of it.

What all reports have is here, and the report of a family that counts nothing else.
:mod:`frozenlab.experiments.benchmark.results` lists the reports of families that do.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, computed_field, model_validator

from frozenlab.base.cells import in_order
from frozenlab.base.numbers import ComparisonError, Interval, wilson
from frozenlab.tasks.families import AnySuite, family_of
from frozenlab.tasks.family import Family
from frozenlab.tasks.lake.guises import GUISES


class Tally(BaseModel):
    """Counts and rates of the answers to some tasks. All rates are fractions of 1."""

    model_config = ConfigDict(frozen=True)

    n: Annotated[int, Field(ge=1)]
    """Number of tasks."""
    samples: Annotated[int, Field(ge=1, exclude_if=lambda samples: samples == 1)] = 1
    """Answers to each task."""
    valid: int
    """Valid answers."""
    optimal: Annotated[int, Field(ge=0)]
    """Valid answers as good as the best. If the best is not known, the answer counts as not optimal."""
    tokens: float
    """Mean number of tokens of an answer."""
    faults: dict[str, int]
    """First fault -> number of answers, in the order of the family's outcomes. The counts sum to ``answers - valid``."""

    @model_validator(mode="after")
    def _counts_agree(self) -> Self:
        if not self.optimal <= self.valid <= self.answers:
            raise ValueError(f"{self.optimal} optimal of {self.valid} valid of {self.answers} answers cannot be")
        return self

    @property
    def answers(self) -> int:
        return self.n * self.samples

    @computed_field  # type: ignore[prop-decorator]
    @property
    def valid_rate(self) -> float:
        return self.valid / self.answers

    @computed_field  # type: ignore[prop-decorator]
    @property
    def valid_interval(self) -> tuple[float, float]:
        """95 % (Wilson), by task: further answers to the same tasks narrow it no more, for they say little about other tasks."""
        return wilson(self.valid / self.samples, self.n)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def optimal_rate(self) -> float:
        return self.optimal / self.answers

    @computed_field  # type: ignore[prop-decorator]
    @property
    def optimal_interval(self) -> tuple[float, float]:
        """As :attr:`valid_interval`."""
        return wilson(self.optimal / self.samples, self.n)

    def rate(self, name: str) -> Interval:
        """The rate ``valid`` or ``optimal``; its n counts tasks."""
        if name == "valid":
            return Interval(self.valid_rate, *self.valid_interval, self.n)
        return Interval(self.optimal_rate, *self.optimal_interval, self.n)

    @property
    def fault_counts(self) -> str:
        """The faults and their counts as text."""
        return ", ".join(f"{fault} {count}" for fault, count in self.faults.items()) or "none"


def tally(rows: pd.DataFrame, family: Family, samples: int) -> dict[str, Any]:
    """The fields of :class:`Tally`, from rows of ``boards.parquet``, ``samples`` of each task."""
    counts = rows["fault"].value_counts()
    return {
        "n": len(rows) // samples,
        "samples": samples,
        "valid": int(rows["valid"].sum()),
        "optimal": int(rows["optimal"].sum()),
        "tokens": float(rows["tokens"].mean()),
        "faults": {fault: int(counts[fault]) for fault in family.faults if fault in counts},
    }


def known_fault(name: str, family: Family) -> str:
    """The name of a fault: a report may come from any person, and pages look faults up by their names. Raises ValueError."""
    if name not in family.faults:
        raise ValueError(f"there is no fault {name[:60]!r}")
    return name


def bounds_of(of_cell: Tally) -> dict[str, float]:
    """Counts, rates and the bounds of their intervals, as columns of ``cells.csv``."""
    row: dict[str, float] = {}
    for name in ("valid", "optimal"):
        rate = of_cell.rate(name)
        row |= {name: getattr(of_cell, name), f"{name}_rate": rate.value, f"{name}_low": rate.low, f"{name}_high": rate.high}
    return row


def best_of(guises: int) -> str:
    """How answers to several rotations and reflections of a board are spoken of, so that nobody takes them for single answers."""
    return f"best of {guises} rotations and reflections, self-checked"


class Measured(BaseModel):
    """What was measured, and how."""

    model_config = ConfigDict(frozen=True)

    title: str
    """Title of the result. For example "long session, after stage 2"."""
    model: str
    """The checkpoint in words, like "lab model"."""
    method: str | None = None
    """How the checkpoint was trained in its session; None for a base."""
    session: str | None = None
    stage: int | None = None
    """The stage of ``session`` (0 is the first) that left the checkpoint; None for its base."""
    suite: str
    """A named suite, a file of boards, or a part of the official dataset (``hf:benchmark_wr0.5``)."""
    temperature: Annotated[float, Field(ge=0)] | None = 0.0
    """Sampling temperature, 0 for greedy; a model that thinks has 0.6 unless it is given. None: a server that took no temperature."""
    top_p: Annotated[float, Field(gt=0, le=1, exclude_if=lambda share: share == 1)] = 1.0
    """Sample from the likeliest tokens with this share of the probability; a model that thinks has 0.95 unless it is given."""
    top_k: Annotated[int, Field(ge=0, exclude_if=lambda tokens: tokens == 0)] = 0
    """Sample from this many of the likeliest tokens, 0 for all; a model that thinks has 20 unless it is given."""
    samples: Annotated[int, Field(ge=1, le=100, exclude_if=lambda samples: samples == 1)] = 1
    """Answers to each task, of which rates are the means."""
    guises: Annotated[int, Field(ge=1, le=GUISES, exclude_if=lambda guises: guises == 1)] = 1
    """Turns and mirror images of each board that are answered; the shortest legal plan counts, which is checked without a solver"""
    seed: int = 0
    """Seed of the samples, and of the orders of agents in rotations and reflections; at temperature 0 samples do not depend on it."""
    thinking: Annotated[bool | None, Field(exclude_if=lambda given: given is None)] = None
    """Whether a language model thinks before it answers; None for a lab model, and where a server decides it."""
    max_tokens: Annotated[int | None, Field(exclude_if=lambda given: given is None)] = None
    """The longest answer of a language model, in tokens, thoughts included."""

    @property
    def how(self) -> str:
        """How the answers were written: ``greedily``; ``temperature 0.6, top-p 0.95, 4 answers each, thinking, up to 8,192 tokens``."""
        drawn = "as the server decodes" if self.temperature is None else f"temperature {self.temperature:g}"
        parts = ["greedily" if self.temperature == 0 else drawn]
        if self.temperature:
            parts += [f"top-p {self.top_p:g}"] * (self.top_p < 1) + [f"top-k {self.top_k}"] * (self.top_k > 0)
        parts += [f"{self.samples} answers each"] * (self.samples > 1)
        parts += [best_of(self.guises)] * (self.guises > 1)
        if self.thinking is not None:
            parts.append("thinking" if self.thinking else "not thinking")
        if self.max_tokens is not None:
            parts.append(f"up to {self.max_tokens:,} tokens")
        return ", ".join(parts)


class Report(Measured, ABC):
    """``report.json``."""

    schema_version: Literal[1] = 1
    id: str
    """The name of its folder."""
    checkpoint_sha256: str
    """SHA-256 of the checkpoint's ``model.safetensors``."""
    boards_sha256: str
    """Hash of the tasks with their names and best answers, in order. Two results with the same hash are about the same tasks."""
    suite_spec: AnySuite | None = None
    """None if the tasks are not those of a named suite."""
    created: float
    """Unix seconds."""
    seconds: float
    """Seconds to answer all tasks."""
    cells: Sequence[Tally]
    """Every task counts in one of them."""

    @property
    @abstractmethod
    def family(self) -> Family: ...

    @property
    def n(self) -> int:
        """Number of tasks."""
        return sum(tally.n for tally in self.cells)

    @classmethod
    def of(
        cls,
        rows: pd.DataFrame,
        measured: Measured,
        *,
        id: str,
        checkpoint_sha256: str,
        suite_spec: AnySuite | None = None,
        created: float,
        seconds: float,
    ) -> Self:
        """Compute the report from the rows of ``boards.parquet``. Raises ComparisonError if there are none."""
        if rows.empty:
            raise ComparisonError("there is no board to report on")
        about = {name: getattr(measured, name) for name in Measured.model_fields}
        text = cls.tasks_in(rows.iloc[:: measured.samples]).to_csv(index=False, lineterminator="\n")
        return cls(
            **about, id=id, checkpoint_sha256=checkpoint_sha256, boards_sha256=hashlib.sha256(text.encode()).hexdigest(),
            suite_spec=suite_spec, created=created, seconds=seconds, **cls.figures(rows, suite_spec, measured.samples),
        )  # fmt: skip

    @classmethod
    @abstractmethod
    def tasks_in(cls, rows: pd.DataFrame) -> pd.DataFrame:
        """What the rows say about the tasks alone."""

    @classmethod
    @abstractmethod
    def figures(cls, rows: pd.DataFrame, suite_spec: Any, samples: int) -> dict[str, Any]:
        """The family's own fields of the report, from rows with ``samples`` of each task, one after the other."""

    @abstractmethod
    def cells_table(self) -> pd.DataFrame:
        """The table of ``cells.csv``: one row per cell, one column per bound and per fault."""

    @abstractmethod
    def lines(self) -> list[str]:
        """All figures as text, a line each."""


class CellTally(Tally):
    """One cell of the suite."""

    cell: str


class PlainReport(Report):
    """The report of a family that counts what all families do."""

    suite_spec: AnySuite
    cells: list[CellTally]

    @property
    def family(self) -> Family:
        return family_of(self.suite_spec.family)

    @model_validator(mode="after")
    def _check_faults(self) -> Self:
        for name in (name for cell in self.cells for name in cell.faults):
            known_fault(name, self.family)
        return self

    @classmethod
    def tasks_in(cls, rows: pd.DataFrame) -> pd.DataFrame:
        return rows[["board_id", "config_cell"]]

    @classmethod
    def figures(cls, rows: pd.DataFrame, suite_spec: Any, samples: int) -> dict[str, Any]:
        family = family_of(suite_spec.family)
        cells = in_order(rows["config_cell"].unique())
        return {"cells": [CellTally(cell=cell, **tally(rows[rows["config_cell"] == cell], family, samples)) for cell in cells]}

    def cells_table(self) -> pd.DataFrame:
        rows = [
            {"cell": cell.cell, "n": cell.n, **bounds_of(cell), "tokens": cell.tokens} | dict.fromkeys(self.family.faults, 0) | cell.faults
            for cell in self.cells
        ]
        return pd.DataFrame(rows)

    def lines(self) -> list[str]:
        return [line_of(cell) for cell in self.cells]


def line_of(cell: CellTally) -> str:
    valid, optimal = (f"{rate.percent} ({rate.percents})" for rate in map(cell.rate, ("valid", "optimal")))
    return f"{cell.cell}: n {cell.n}, valid {valid}, optimal {optimal}, faults: {cell.fault_counts}"
