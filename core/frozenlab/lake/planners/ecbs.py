"""Conflict-Based Search, optimal or within a factor of that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from frozenlab.base.errors import LabError
from frozenlab.lake.board import Board
from frozenlab.lake.planners.lacam import LaCAM
from frozenlab.lake.planners.planner import Clock, Planner
from frozenlab.lake.solvers import many
from frozenlab.lake.solvers.many import News

if TYPE_CHECKING:
    from frozenlab.lake.kernels.crowd import Crowd


@dataclass(frozen=True)
class ECBS(Planner):
    """ECBS (Barer, Sharon, Stern and Felner 2014, SoCS, "Suboptimal variants of the conflict-based search algorithm"): Conflict-Based
    Search that takes any node and any path within ``factor`` of the best, with the fewest conflicts. It ends with a plan that costs at most
    ``factor`` times the smallest sum of costs. Raises LabError if the factor is below 1 or above 100."""

    name: ClassVar[str] = "ecbs"
    title: ClassVar[str] = "ECBS"
    promise: ClassVar[Literal["bounded", "optimal"]] = "bounded"
    factor: float = 1.2

    def __post_init__(self) -> None:
        if not 1 <= self.factor <= 100:
            raise LabError(f"the factor is {self.factor:g}; ECBS takes one from 1 (optimal) to 100")

    def search(self, board: Board, crowd: Crowd, clock: Clock, seed: int) -> Iterator[News]:
        return many.search(crowd, float(self.factor), lambda whole: 0 if clock.is_up else clock.effort(whole))


@dataclass(frozen=True)
class Exact(Planner):
    """Conflict-Based Search (Sharon, Stern, Felner and Sturtevant 2015, Artificial Intelligence) for the smallest sum of costs, after a
    first plan by LaCAM: so there is nearly always a plan, and a bound that rises until one is proven the cheapest."""

    name: ClassVar[str] = "exact"
    title: ClassVar[str] = "Conflict-Based Search"
    promise: ClassVar[Literal["optimal"]] = "optimal"

    def search(self, board: Board, crowd: Crowd, clock: Clock, seed: int) -> Iterator[News]:
        for news in LaCAM().search(board, crowd, clock, seed):
            yield news
            if news.unsolvable:
                return
        yield from ECBS(factor=1.0).search(board, crowd, clock, seed)
