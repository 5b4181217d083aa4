"""A task family in a few lines: sums of two numbers, easy ones of one digit and hard ones of two. It proves that the lab knows no lake."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from frozenlab import seeds
from frozenlab.tasks.family import ROW_COLUMNS, Dialect, Judged, Knob, Outcome, TaskFamily, by_name

TOP = {"easy": 5, "hard": 50}
"""Cell -> the largest number to add."""


class Sum(NamedTuple):
    id: str
    cell: str
    a: int
    b: int


class SumCell(BaseModel):
    share: float = 0.5
    twins: float = 0.1


class SumConfig(BaseModel):
    family: Literal["sums"] = "sums"
    cells: dict[str, SumCell] = {"easy": SumCell(), "hard": SumCell()}


class SumSuite(BaseModel):
    family: Literal["sums"] = "sums"
    per_cell: int = 8
    seed: int = 0


class Digits(Dialect[Sum, int | None]):
    def prompt(self, task: Sum) -> str:
        return f"Add {task.a} and {task.b}. Answer with the number alone."

    def read(self, task: Sum, text: str, finished: bool) -> int | None:
        found = re.fullmatch(r"\s*(\d{1,6})\s*", text)
        return int(found[1]) if found and finished else None


class Sums(TaskFamily[Sum, int | None]):
    name = "sums"
    knobs = by_name(Knob("share", "share", "Part of the tasks.", 0, 1, 0.01, 0), Knob("twins", "twins", "Part of 7 + 7.", 0, 1, 0.1, -1))
    outcomes = by_name(
        Outcome("optimal", "right", "it is right", "", "#00855F", True),
        Outcome("close", "off by one", "it is off by one", "", "#4E9E3A", True),
        Outcome("wrong", "wrong", "it is wrong", "The number is the sum.", "#CC4A14", False),
        Outcome("unreadable", "no number", "it is no number", "An answer is a number.", "#66778C", False),
    )
    columns = ROW_COLUMNS | {"task": "str"}
    plain = Digits()

    def draw(self, config: SumConfig, n: int, seed: int, kept_out: Sequence[Sum] = ()) -> list[Sum]:
        cells = [cell for cell, own in config.cells.items() for _ in range(round(n * own.share))]
        return [self.one(f"{seed}-{i}", cell, seeds.rng(seed, "toy/draw", i), config.cells[cell].twins) for i, cell in enumerate(cells)]

    def one(self, name: str, cell: str, rng: Any, twins: float) -> Sum:
        a, b = rng.integers(TOP[cell] + 1, size=2).tolist()
        return Sum(name, cell, a, a if rng.random() < twins else b)

    def suite(self, spec: SumSuite, config: SumConfig, kept_out: Sequence[Sum] = ()) -> list[Sum]:
        return [self.one(f"{cell}-{i}", cell, seeds.rng(spec.seed, "toy/suite", i), 0.0) for cell in TOP for i in range(spec.per_cell)]

    def realised(self, tasks: Sequence[Sum]) -> dict[str, Any]:
        return {cell: {"twins": sum(t.a == t.b for t in tasks if t.cell == cell)} for cell in TOP}

    def judge(self, task: Sum, answer: int | None) -> Judged:
        if answer is None:
            return Judged("unreadable", valid=False)
        off = abs(answer - task.a - task.b)
        if off > 1:
            return Judged("wrong", valid=False, credit=0.1 / off)
        return Judged("close" if off else "optimal", valid=True, optimal=not off, efficiency=1 - off / 2, cost=(off,))

    def row(self, task: Sum, answer: int | None, judged: Judged) -> dict[str, Any]:
        return {"task": f"{task.a} + {task.b}"}


SUMS = Sums()
