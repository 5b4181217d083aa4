"""A task family in a few lines: sums of two numbers, easy ones of one digit and hard ones of two. It proves that the lab knows no lake."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from pydantic import Field

from frozenlab.base import seeds
from frozenlab.tasks.family import PlainCell, PlainConfig, PlainSuite, TaskFamily
from frozenlab.tasks.task import ROW_COLUMNS, Dialect, Judged
from frozenlab.tasks.words import SHARE, Knob, Outcome, by_name

TOP = {"easy": 5, "hard": 50}
TWINS = Knob("twins", "twins", "the part of the tasks that add a number to itself", 0, 1, 0.1, -1)
RIGHT = Outcome("optimal", "right", "it is right", "", "#00855F", True)
CLOSE = Outcome("close", "off by one", "it is off by one", "", "#4E9E3A", True)
WRONG = Outcome("wrong", "wrong", "it is wrong", "The number is the sum.", "#CC4A14", False)
UNREADABLE = Outcome("unreadable", "no number", "it is no number", "An answer is a number.", "#66778C", False)


class Sum(NamedTuple):
    id: str
    cell: str
    a: int
    b: int


class SumCell(PlainCell):
    twins: float = 0.1


class SumConfig(PlainConfig):
    family: Literal["sums"] = "sums"
    cells: dict[str, SumCell] = Field(default={cell: SumCell(share=0.5) for cell in TOP})


class SumSuite(PlainSuite):
    family: Literal["sums"] = "sums"


class Digits(Dialect[Sum, int | None]):
    def prompt(self, task: Sum) -> str:
        return f"Add {task.a} and {task.b}. Answer with the number alone."

    def read(self, task: Sum, text: str, finished: bool) -> int | None:
        return int(text) if finished and re.fullmatch(r"\s*\d{1,6}\s*", text) else None


class Sums(TaskFamily[Sum, int | None]):
    name, aim, config_type, suite_type, plain = "sums", "It learns to add two numbers.", SumConfig, SumSuite, Digits()
    knobs, outcomes, columns = by_name(SHARE, TWINS), by_name(RIGHT, CLOSE, WRONG, UNREADABLE), ROW_COLUMNS | {"task": "str"}

    def draw(self, config: SumConfig, n: int, seed: int, kept_out: Sequence[Sum] = ()) -> list[Sum]:
        rngs = [seeds.rng(seed, "toy/draw", i) for i in range(n)]
        cells = [str(rng.choice(list(config.cells), p=[own.share for own in config.cells.values()])) for rng in rngs]
        return [self.one(f"{seed}-{i}", cell, rngs[i], config.cells[cell].twins) for i, cell in enumerate(cells)]

    def suite(self, spec: SumSuite, config: SumConfig, kept_out: Sequence[Sum] = ()) -> list[Sum]:
        rng = seeds.rng(spec.seed, "toy/suite")
        return [self.one(f"{cell}-{i}", cell, rng, 0.0) for cell in config.cells for i in range(spec.boards_per_cell)]

    def one(self, name: str, cell: str, rng: Any, twins: float) -> Sum:
        a, b = rng.integers(TOP[cell] + 1, size=2).tolist()
        return Sum(name, cell, a, a if rng.random() < twins else b)

    def judge(self, task: Sum, answer: int | None) -> Judged:
        off = 99 if answer is None else abs(answer - task.a - task.b)
        if off > 1:
            return Judged("unreadable" if answer is None else "wrong", valid=False, credit=0.0 if answer is None else 0.1 / off)
        return Judged("close" if off else "optimal", valid=True, optimal=not off, efficiency=1 - off / 2, cost=(off,))

    def row(self, task: Sum, answer: int | None, judged: Judged) -> dict[str, Any]:
        return {"task": f"{task.a} + {task.b}"}


SUMS = Sums()
