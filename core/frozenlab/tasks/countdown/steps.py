"""The arithmetic of Countdown: steps, all that can be reached by them, and the shortest ways to a target, by enumeration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

LARGEST = 99
"""Results lie in 0..LARGEST."""
OPERATIONS = "+-*"

Numbers = tuple[int, ...]


class Step(NamedTuple):
    """``left operation right = result``, as written: the result may be wrong."""

    left: int
    operation: str
    right: int
    result: int

    @property
    def holds(self) -> bool:
        """Whether the result is right and within bounds."""
        return self.result == value(self.left, self.operation, self.right) and 0 <= self.result <= LARGEST

    def __str__(self) -> str:
        return f"{self.left} {self.operation} {self.right} = {self.result}"


Chain = tuple[Step, ...]


def value(left: int, operation: str, right: int) -> int:
    """
    >>> value(3, "-", 7)
    -4
    """
    return left + right if operation == "+" else left - right if operation == "-" else left * right


def moves(numbers: Numbers, operations: str = OPERATIONS) -> Iterator[tuple[Step, Numbers]]:
    """Every step on two of the numbers, the larger one first, each with the numbers that are left after it, in ascending order.

    >>> [(str(step), rest) for step, rest in moves((3, 7, 12), "*")]
    [('7 * 3 = 21', (12, 21)), ('12 * 3 = 36', (7, 36)), ('12 * 7 = 84', (3, 84))]
    """
    ordered = tuple(sorted(numbers))
    pairs = {(ordered[i], ordered[j]): (i, j) for j in range(len(ordered)) for i in range(j)}
    for (small, large), (i, j) in pairs.items():
        rest = ordered[:i] + ordered[i + 1 : j] + ordered[j + 1 :]
        for operation in operations:
            step = Step(large, operation, small, value(large, operation, small))
            if step.result <= LARGEST:
                yield step, tuple(sorted((*rest, step.result)))


@lru_cache(maxsize=4096)
def fewest_steps(numbers: Numbers, operations: str = OPERATIONS) -> Mapping[int, int]:
    """Every result that can be reached from the numbers (in ascending order) -> the fewest steps that it takes.

    >>> fewest_steps((2, 3))
    {1: 1, 5: 1, 6: 1}
    """
    found: dict[int, int] = {}
    states = {numbers}
    for steps in range(1, len(numbers)):
        after = [move for state in states for move in moves(state, operations)]
        for step, _ in after:
            found.setdefault(step.result, steps)
        states = {rest for _, rest in after}
    return dict(sorted(found.items()))


def shortest_chains(numbers: Numbers, target: int) -> list[Chain]:
    """All shortest chains of steps that end with the target; none if it cannot be reached. Each step has the larger number first.

    >>> [" ".join(map(str, chain)) for chain in shortest_chains((2, 3, 4), 24)]
    ['3 * 2 = 6 6 * 4 = 24', '4 * 2 = 8 8 * 3 = 24', '4 * 3 = 12 12 * 2 = 24']
    """
    lengths = range(1, len(numbers))
    return next((chains for length in lengths if (chains := list(chains_of(numbers, target, length)))), [])


def chains_of(numbers: Numbers, target: int, length: int) -> Iterator[Chain]:
    """Every chain of ``length`` steps (at least one) that ends with the target."""
    for step, rest in moves(numbers):
        if length > 1:
            yield from ((step, *chain) for chain in chains_of(rest, target, length - 1))
        elif step.result == target:
            yield (step,)
