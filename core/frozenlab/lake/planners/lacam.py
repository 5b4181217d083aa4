"""LaCAM and LaCAM*: quick with hundreds of agents, and complete."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from frozenlab.base import seeds
from frozenlab.lake.board import Board
from frozenlab.lake.planners.planner import Clock, Planner
from frozenlab.lake.solvers.many import News

if TYPE_CHECKING:
    from frozenlab.lake.kernels.crowd import Crowd


@dataclass(frozen=True)
class LaCAM(Planner):
    """LaCAM (Okumura 2023, AAAI, "LaCAM: Search-based algorithm for quick multi-agent pathfinding"): a depth-first search over
    configurations, in which PIBT says where all agents go next. It ends with its first plan."""

    name: ClassVar[str] = "lacam"
    title: ClassVar[str] = "LaCAM"
    promise: ClassVar[Literal["complete"]] = "complete"
    improve: ClassVar[bool] = False

    def search(self, board: Board, crowd: Crowd, clock: Clock, seed: int) -> Iterator[News]:
        from frozenlab.lake.kernels import lacam as kernels
        from frozenlab.lake.kernels.pibt import new_room

        k = len(crowd.goals)
        search, room = kernels.new_search(k), new_room(len(crowd.successors), k)
        after, state = np.empty(k, np.int32), np.uint64(seeds.derive(seed, "planners/lacam"))
        kernels.begin_lacam(crowd, search)
        status = kernels.GOING_ON
        while status in (kernels.GOING_ON, kernels.IMPROVED) and not clock.is_up:
            steps = clock.effort(status == kernels.GOING_ON)
            status, state = kernels.go_on_lacam(crowd, search, room, after, np.uint64(state), steps, self.improve)
            goal = int(search.counters[kernels.GOAL])
            # the least loss, which is proven when all is searched, is at most the least sum of costs
            bound = int(search.cost[goal]) if self.improve and status == kernels.DONE and goal >= 0 else 0
            if status == kernels.DONE and goal < 0:
                yield News(unsolvable=True)
            elif status == kernels.IMPROVED or status == kernels.DONE:
                yield News(kernels.cells_to(goal, crowd, search), bound)


class LaCAMStar(LaCAM):
    """LaCAM* (Okumura 2023, IJCAI, "Improving LaCAM for scalable eventually optimal multi-agent pathfinding"; 2024, "Engineering LaCAM*"):
    goes on after the first plan, until nothing is left that could be cheaper. What it makes cheapest is the sum of loss: of each time step,
    how many agents are not at rest on their goals. That is at most the sum of costs, so it is a lower bound once all is searched."""

    name: ClassVar[str] = "lacam-star"
    title: ClassVar[str] = "LaCAM*"
    improve: ClassVar[bool] = True
