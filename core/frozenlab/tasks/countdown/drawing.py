"""Config, suite and tasks of Countdown. Tasks are drawn with certified optima, the same for the same seed everywhere.

A cell of a config is a count of numbers, from ``numbers2`` to ``numbers5``.

A task is drawn as its numbers, each evenly from 1..20, and then a target, evenly from all that can be reached from them and are of the kind
wanted: those that need a product, or those that do not. Each task has a random generator of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from frozenlab.base import seeds
from frozenlab.base.cells import Cell, in_order, quotas
from frozenlab.base.errors import GenerationError
from frozenlab.tasks.countdown.steps import Numbers, fewest_steps
from frozenlab.tasks.family import Drawn, PlainCell, PlainConfig, PlainSuite, Ratio

COUNTS = (2, 3, 4, 5)
USUAL = (2, 3, 4)
PREFIX = "numbers"

CellName = Annotated[str, Field(pattern=rf"^{PREFIX}[{COUNTS[0]}-{COUNTS[-1]}]$")]


def name_of(count: int) -> str:
    """
    >>> name_of(3)
    'numbers3'
    """
    return f"{PREFIX}{count}"


def count_of(name: str) -> int:
    """How many numbers the tasks of a cell have."""
    return int(name.removeprefix(PREFIX))


class CountdownCell(PlainCell):
    times_ratio: Ratio = 0.5
    """Part of the tasks that cannot be solved without a product."""


class CountdownConfig(PlainConfig):
    family: Literal["countdown"] = "countdown"
    cells: Annotated[dict[CellName, CountdownCell], Field(min_length=1)] = Field(
        default={name_of(count): CountdownCell(share=1 / len(USUAL)) for count in USUAL}
    )

    def described(self) -> tuple[Cell, ...]:
        return tuple(
            Cell(name=name, words=f"Countdown with {count_of(name)} numbers", place={PREFIX: count_of(name)}) for name in self.cells
        )


class CountdownSuite(PlainSuite):
    """Half of the tasks of a cell cannot be solved without a product."""

    family: Literal["countdown"] = "countdown"


# --- drawing -----------------------------------------------------------------------------------------------------------

LARGEST_GIVEN = 20
TRIES = 1000
"""Draws in a row that give no new task of a kind mean that there are no others."""
NAMED = CountdownSuite(boards_per_cell=50, seed=20_261_122)
"""The suite ``countdown``."""

Key = tuple[Numbers, int]
"""By which a task is known in all orders of its numbers: the numbers in ascending order, and the target."""


@dataclass(frozen=True)
class CountdownTask:
    id: str
    cell: str
    numbers: Numbers
    """In the order in which they are shown."""
    target: int
    """None of the numbers."""
    optimal_steps: int
    """The fewest steps of a solution."""
    needs_product: bool
    """Whether it cannot be solved without a product."""

    @classmethod
    def certified(cls, name: str, cell: str, numbers: Numbers, target: int) -> CountdownTask:
        """The task with what the enumeration says about it. Raises KeyError if it has no solution."""
        ordered = tuple(sorted(numbers))
        return cls(name, cell, numbers, target, fewest_steps(ordered)[target], target not in fewest_steps(ordered, "+-"))

    @property
    def key(self) -> Key:
        return tuple(sorted(self.numbers)), self.target


class DrawnTasks(Drawn):
    times_ratio: float
    optimal_steps: float
    """Mean of the fewest steps."""


def targets(numbers: Numbers, needs_product: bool) -> list[int]:
    """The targets of one kind for numbers in ascending order: from 1 on, and none that is given already."""
    with_sums = fewest_steps(numbers, "+-")
    return [target for target in fewest_steps(numbers) if target and target not in numbers and needs_product == (target not in with_sums)]


def draw_one(count: int, needs_product: bool, rng: np.random.Generator, avoided: Collection[Key]) -> tuple[Numbers, int]:
    """Numbers and a target that are not to be avoided. Raises GenerationError if none is found."""
    for _ in range(TRIES):
        numbers = tuple(rng.integers(1, LARGEST_GIVEN + 1, size=count).tolist())
        ordered = tuple(sorted(numbers))
        if possible := targets(ordered, needs_product):
            target = possible[rng.integers(len(possible))]
            if (ordered, target) not in avoided:
                return numbers, target
    kind = "need a product" if needs_product else "need no product"
    raise GenerationError(f"no tasks of {count} numbers that {kind} are left to draw")


def draw(config: CountdownConfig, n: int, seed: int, kept_out: Sequence[CountdownTask] = ()) -> list[CountdownTask]:
    """Cells share the tasks by largest remainder, and within a cell those that need a product and the others do."""
    avoided = held_out() | {task.key for task in kept_out}
    drawn = []
    for (name, own), quota in zip(config.cells.items(), quotas(n, [own.share for own in config.cells.values()]), strict=True):
        count = count_of(name)
        for needs_product, part in enumerate(quotas(quota, [1 - own.times_ratio, own.times_ratio])):
            rngs = (seeds.rng(seed, "countdown/draw", count, needs_product, i) for i in range(part))
            drawn += [(name, *draw_one(count, bool(needs_product), rng, avoided)) for rng in rngs]
    order = seeds.rng(seed, "countdown/order").permutation(len(drawn)).tolist()
    return [named(number, *drawn[place]) for number, place in enumerate(order)]


def suite(spec: CountdownSuite, config: CountdownConfig, kept_out: Sequence[CountdownTask] = ()) -> list[CountdownTask]:
    """No task comes twice. A cell that has no more tasks holds fewer."""
    known = {task.key for task in kept_out}
    drawn = []
    for name in config.cells:
        count = count_of(name)
        for needs_product, part in enumerate(quotas(spec.boards_per_cell, (1, 1))):
            for i in range(part):
                try:
                    numbers, target = draw_one(
                        count, bool(needs_product), seeds.rng(spec.seed, "countdown/suite", count, needs_product, i), known
                    )
                except GenerationError:
                    break
                known.add((tuple(sorted(numbers)), target))
                drawn.append((name, numbers, target))
    return [named(number, *task) for number, task in enumerate(drawn)]


def named(number: int, cell: str, numbers: Numbers, target: int) -> CountdownTask:
    """A task with a name like ``countdown3_000123``."""
    return CountdownTask.certified(f"countdown{len(numbers)}_{number:06d}", cell, numbers, target)


@cache
def held_out() -> frozenset[Key]:
    """The tasks of the named suite: no training draw may have them."""
    return frozenset(task.key for task in suite(NAMED, CountdownConfig()))


def realised(tasks: Sequence[CountdownTask]) -> dict[str, DrawnTasks]:
    """What was drawn, cell by cell."""
    of_cell = {cell: [task for task in tasks if task.cell == cell] for cell in in_order(Counter(task.cell for task in tasks))}
    return {
        cell: DrawnTasks(
            boards=len(own),
            share=len(own) / len(tasks),
            times_ratio=sum(task.needs_product for task in own) / len(own),
            optimal_steps=sum(task.optimal_steps for task in own) / len(own),
        )
        for cell, own in of_cell.items()
    }
