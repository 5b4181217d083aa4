"""Prioritized planning with restarts."""

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
class Prioritized(Planner):
    """Prioritized planning (Erdmann and Lozano-Perez 1987; Silver 2005) with restarts (Bennewitz, Burgard and Thrun 2002): the agents plan
    one after the other, each its shortest path around those before it, the agents with the longest ways first. An agent that finds no path
    goes to the front; after a plan come other orders, until the time is up."""

    name: ClassVar[str] = "prioritized"
    title: ClassVar[str] = "Prioritized planning"
    promise: ClassVar[Literal["none"]] = "none"

    def search(self, board: Board, crowd: Crowd, clock: Clock, seed: int) -> Iterator[News]:
        from frozenlab.lake.kernels.neighbourhoods import fill_traffic, plan_in_order
        from frozenlab.lake.kernels.paths import DELAYS, cells_of, new_finder, new_traffic

        k, m = crowd.distance.shape
        bases = crowd.distance[np.arange(k), crowd.starts].astype(np.int64)
        horizon = int(bases.max()) + DELAYS
        paths, lengths = np.empty((k, horizon + 1), np.int32), np.zeros(k, np.int64)
        traffic, finder = new_traffic(m, int(bases.sum()) + k * DELAYS), new_finder(m, horizon)
        draws = seeds.rng(seed, "planners/prioritized")
        order = np.argsort(-bases, kind="stable")
        while True:
            fill_traffic(traffic, paths[:0], lengths[:0])
            done, asked = 0, 0
            while done == asked and done < k:
                if clock.is_up:
                    return
                asked = min(k, done + clock.effort())
                done = plan_in_order(order, done, asked - done, crowd, traffic, finder, paths, lengths)
            if done == k:
                yield News(cells_of(crowd, paths.ravel(), np.arange(k) * (horizon + 1), lengths))
                order = draws.permutation(k)
            else:
                order = np.concatenate([order[[done]], np.delete(order, done)])
