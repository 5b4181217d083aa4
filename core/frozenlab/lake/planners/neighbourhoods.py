"""Large neighbourhood search on top of a first plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from frozenlab.base import seeds
from frozenlab.lake.board import Board
from frozenlab.lake.planners.lacam import LaCAM
from frozenlab.lake.planners.planner import Clock, Planner
from frozenlab.lake.solvers.many import News

if TYPE_CHECKING:
    from frozenlab.lake.kernels.crowd import Crowd

EVERY = 50
"""Neighbourhoods between two reports."""


@dataclass(frozen=True)
class LNS(Planner):
    """Large neighbourhood search (Li, Chen, Harabor, Stuckey and Koenig 2021, IJCAI, "Anytime multi-agent path finding via large
    neighborhood search"), from the first plan of another planner: again and again a few agents, who are in each other's way, plan anew by
    prioritized planning among all others, and what is not dearer is kept."""

    name: ClassVar[str] = "lns"
    title: ClassVar[str] = "LNS"
    promise: ClassVar[Literal["complete"]] = "complete"
    first: Planner = field(default_factory=LaCAM)

    def search(self, board: Board, crowd: Crowd, clock: Clock, seed: int) -> Iterator[News]:
        from frozenlab.lake.kernels.neighbourhoods import LARGEST, fill_traffic, replan_neighbourhoods
        from frozenlab.lake.kernels.paths import DELAYS, MOST_NODES, cells_of, new_finder, new_traffic

        cells = None
        for news in self.first.search(board, crowd, clock, seed):
            yield news
            if (cells := news.cells) is not None:
                break
        if cells is None:
            return
        k, m = crowd.distance.shape
        bases = crowd.distance[np.arange(k), crowd.starts].astype(np.int64)
        away = cells != cells[-1]
        lengths = np.where(away.any(axis=0), len(cells) - np.argmax(away[::-1], axis=0), 0).astype(np.int64)
        horizon = max(len(cells) - 1, int(bases.max()) + DELAYS)
        vertex_of = np.empty(int(crowd.cell_of.max()) + 1, np.int32)
        vertex_of[crowd.cell_of] = np.arange(m)
        paths = np.empty((k, horizon + 1), np.int32)
        paths[:, : len(cells)] = vertex_of[cells].T
        traffic, finder = new_traffic(m, int(np.maximum(lengths, bases + DELAYS).sum())), new_finder(m, horizon)
        finder = finder._replace(node=finder.node[: MOST_NODES // LARGEST])  # a neighbourhood takes no longer than a path elsewhere
        fill_traffic(traffic, paths, lengths)
        room = np.empty((LARGEST, horizon + 1), np.int32), np.zeros(m, np.int64), np.empty(m, np.int32)
        tried, saved, state = 0, 0, np.uint64(seeds.derive(seed, "planners/lns"))
        while not clock.is_up:
            tried, saved, state = replan_neighbourhoods(
                crowd, traffic, finder, paths, lengths, *room, tried, saved, clock.effort(tried % EVERY != 0), EVERY, np.uint64(state)
            )
            if saved and tried % EVERY == 0:
                yield News(cells_of(crowd, paths.ravel(), np.arange(k) * (horizon + 1), lengths))
                saved = 0
