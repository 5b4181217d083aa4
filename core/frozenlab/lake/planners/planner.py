"""What a planner is: it makes plans of boards of any size within a budget of seconds, each better than the one before.

``plan`` answers the best plan that it has when the time is up, with a lower bound: no plan has a smaller sum of costs. It ends sooner where
nothing is left to do. Every plan has passed the judge. With one seed a planner makes the same plans in the same order, whatever the
machine; a slower one makes fewer of them in the same time.

Kernels are compiled or loaded before the clock starts, and called for about 50 ms at a time.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal

from frozenlab.base.errors import LabError
from frozenlab.lake.board import Board, Plan
from frozenlab.lake.solvers import many
from frozenlab.lake.solvers.many import News
from frozenlab.lake.solvers.solver import Boards, stacked, written

if TYPE_CHECKING:
    from frozenlab.lake.kernels.crowd import Crowd

SLICE = 0.05
"""Seconds that one call of a kernel should take: a planner can stop only between two of them."""


@dataclass(frozen=True, slots=True)
class Found:
    """The best plan so far, and what is known about it."""

    plan: Plan | None = None
    """Each agent's letters up to its arrival for good."""
    cost: int | None = None
    """Its sum of costs: over the agents, the time step from which each stands on its goal for good."""
    makespan: int | None = None
    lower_bound: int = 0
    """No plan of the board has a smaller sum of costs."""
    unsolvable: bool = False
    """Whether it is proven that the board has no plan."""
    seconds: float = 0.0
    """From the start of the clock up to this report."""
    nodes: int = field(default=0, compare=False)
    """Of a constraint tree, expanded up to this report; no other planner has them."""

    @property
    def proven(self) -> bool:
        """Whether the plan has the smallest sum of costs, or there is none."""
        return self.unsolvable or self.cost == self.lower_bound

    @property
    def ratio(self) -> float | None:
        """How many times the lower bound the plan costs at most; None without a plan."""
        return None if self.cost is None else self.cost / self.lower_bound if self.lower_bound else 1.0

    @property
    def quality(self) -> str:
        """How good its plan is.

        >>> Found(cost=12, lower_bound=10).quality, Found(cost=10, lower_bound=10).quality
        ('at most 1.20 times the smallest', 'the smallest')
        """
        return "the smallest" if self.proven else f"at most {self.ratio:.2f} times the smallest"


class Clock:
    """A budget of seconds, and how much to do before the next look at it."""

    now = staticmethod(time.monotonic)
    """Benchmarks and tests measure in processor time, whatever else the machine does."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.began = self._looked = self.now()
        self._effort = 1

    @property
    def elapsed(self) -> float:
        return self.now() - self.began

    @property
    def is_up(self) -> bool:
        return self.elapsed >= self.seconds

    def effort(self, whole: bool = True) -> int:
        """How many steps the next call of a kernel should make, by how long it is since the last call of this.

        Args:
            whole: whether all steps were made since.
        """
        now = self.now()
        took, self._looked = now - self._looked, now
        if took > SLICE:
            self._effort = max(1, self._effort // 2)
        elif whole and took < SLICE / 2:
            self._effort = min((8 if took < SLICE / 16 else 2) * self._effort, 1 << 24)
        return self._effort


@dataclass(frozen=True)
class Planner(ABC):
    """A planner; its fields are its settings."""

    name: ClassVar[str]
    """What commands call it."""
    title: ClassVar[str]
    promise: ClassVar[Literal["optimal", "bounded", "complete", "none"]]
    """``optimal``: ends with a plan of the smallest sum of costs, if it has the time; ``bounded``: ends with one that costs at most some
    factor more; ``complete``: finds a plan or proves that there is none, if it has time and memory; ``none``: quick."""

    @abstractmethod
    def search(self, board: Board, crowd: Crowd, clock: Clock, seed: int) -> Iterator[News]:
        """The plans of a board whose agents can all reach their goals alone, each with what is known then; until the clock is up."""

    def plan(self, board: Board, budget_seconds: float = 10.0, seed: int = 0, report: Callable[[Found], object] | None = None) -> Found:
        """The best plan within the budget. It mostly ends at once; measured at worst 0.4 s later, with 1,000 agents.

        Args:
            report: gets each better plan, and each higher lower bound; an error that it raises ends the search.

        Raises:
            LabError: the budget is not above 0, or a goal is more than 29,999 steps away.
            AssertionError: a plan does not pass the judge, which would be a bug.

        Example:
            >>> from frozenlab.lake.planners import PLANNERS
            >>> found = PLANNERS["lacam"].plan(Board.from_text("S g F G s\\nH H F H H"))
            >>> found.lower_bound <= found.cost
            True
        """
        check_budget(budget_seconds)
        prepare(type(self))
        clock, best = Clock(budget_seconds), Found()
        one = stacked([board])
        crowd = crowd_of(board, one, clock)
        if crowd is None:
            return replace(best, unsolvable=not clock.is_up, seconds=clock.elapsed)
        least = sum(int(crowd.distance[i, start]) for i, start in enumerate(crowd.starts))
        best = replace(best, lower_bound=least)
        for cells, bound, unsolvable, nodes in self.search(board, crowd, clock, seed):
            now = replace(best, lower_bound=max(best.lower_bound, bound), unsolvable=unsolvable, nodes=nodes)
            if cells is not None:
                plan, cost, makespan = written(cells, one)
                if now.cost is None or cost < now.cost:
                    now = replace(now, plan=plan, cost=cost, makespan=makespan)
            if now != best:
                best = replace(now, seconds=clock.elapsed)
                if report is not None:
                    report(best)
            if best.proven or clock.is_up:
                break
        return replace(best, seconds=clock.elapsed)


def check_budget(seconds: float) -> None:
    """Raises LabError if that is no budget."""
    if not seconds > 0 or math.isinf(seconds):
        raise LabError(f"the budget is {seconds:g} s; a planner needs some time above 0")


def crowd_of(board: Board, one: Boards, clock: Clock) -> Crowd | None:
    """The board as kernels for many agents take it; None if an agent cannot reach its goal, or the clock is up.

    Raises LabError if a goal is too far away.
    """
    crowd = None
    for part, cut_off in many.crowd_in(one.exits[0], one.starts[0], one.goals[0], one.width):
        if cut_off >= 0 and board.agents[cut_off].start in board.distances_to_goal(cut_off):
            raise LabError(f"the goal of agent {cut_off} is more than 29,999 steps away; planners go that far")
        if cut_off >= 0 or clock.is_up:
            return None
        crowd = part
    return crowd


TINY = "S F s F\nF g F G"
"""A board on which every planner has something to do."""


class Looks(Clock):
    """A clock that is up after some looks at it, however long each takes."""

    left = 40

    @property
    def is_up(self) -> bool:
        self.left -= 1
        return self.left < 0


@cache
def prepare(kind: type[Planner]) -> None:
    """Compiles the kernels of a planner, or loads them, so that its budget is spent on planning."""
    board = Board.from_text(TINY)
    one, clock = stacked([board]), Looks(0)
    crowd = crowd_of(board, one, clock)
    assert crowd is not None
    for cells, *_ in kind().search(board, crowd, clock, seed=0):
        if cells is not None:
            written(cells, one)
        if clock.is_up:
            break
