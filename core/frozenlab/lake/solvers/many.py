"""Conflict-Based Search for boards and teams of any size, step by step: what the exact solver and the planners share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from frozenlab.lake.kernels.crowd import Crowd

VISITS = 1 << 21
"""About so many cells are visited in one call while distances are measured: some 20 ms."""
AT_ONCE = 4
"""Agents planned for the first node in one call, at most: the more there are already, the longer takes the next."""
MEMORY = 1 << 28
"""Bytes of the nodes that a search keeps."""


class News(NamedTuple):
    """What a search has to say."""

    cells: NDArray[Any] | None = None
    """``[time, agent]`` row-major cells of a plan, whose last row is the goals."""
    lower_bound: int = 0
    """No plan has a smaller sum of costs."""
    unsolvable: bool = False
    nodes: int = 0
    """Of a constraint tree, expanded so far."""


def crowd_in(exits: NDArray[np.uint8], starts: NDArray[np.int64], goals: NDArray[np.int64], width: int) -> Iterator[tuple[Crowd, int]]:
    """The graph of a board and the distances of its agents, a few agents at a time: the crowd, and -1 or, in the end, the first agent
    that cannot reach its goal."""
    from frozenlab.lake.kernels.crowd import number_crowd, write_distances

    crowd, predecessors = number_crowd(exits, width, starts, goals)
    k, m = crowd.distance.shape
    at_once = max(1, VISITS // m)
    for first in range(0, k, at_once):
        cut_off = write_distances(crowd, predecessors, exits, first, min(first + at_once, k))
        yield crowd, int(cut_off)
        if cut_off >= 0:
            return


def search(crowd: Crowd, factor: float, effort: Callable[[bool], int]) -> Iterator[News]:
    """Searches for a plan whose sum of costs is at most ``factor`` times the smallest; ends with it (kernels/ecbs.py).

    Args:
        effort: how many nodes to expand, or agents to plan for the first node, before the next state; 0 ends the search. It is told whether
            all were expanded since the last call.
    """
    from frozenlab.lake.kernels import ecbs
    from frozenlab.lake.kernels.paths import DELAYS, cells_of, new_finder, new_traffic

    k, m = crowd.distance.shape
    bases = crowd.distance[np.arange(k), crowd.starts].astype(np.int64)
    horizon = int(bases.max()) + DELAYS
    nodes = min(ecbs.LAST_NODE, max(1_000, MEMORY // (4 * k + 100)))
    tree = ecbs.new_tree(k, m, crowd.goals, nodes, 4 * k * horizon + min(2 * nodes * horizon, MEMORY // 2))
    traffic, finder = new_traffic(m, int(bases.sum()) + k * DELAYS), new_finder(m, horizon, ecbs.DEEPEST)
    planned, steps = 0, 0
    while 0 <= planned < k:
        if not (steps := effort(steps <= AT_ONCE)):
            return
        planned = ecbs.begin_ecbs(planned, min(steps, AT_ONCE), factor, crowd, tree, traffic, finder)
    status = ecbs.GOING_ON
    while status in (ecbs.GOING_ON, ecbs.IMPROVED) and (steps := effort(status == ecbs.GOING_ON)):
        status = ecbs.go_on_ecbs(steps, factor, crowd, tree, traffic, finder)
        best, cells = int(tree.counters[ecbs.BEST]), None
        if status == ecbs.IMPROVED:
            first, lengths, _ = np.ascontiguousarray(tree.path[tree.ways[best]].T)
            cells = cells_of(crowd, tree.pool, first, lengths)
        unsolvable = status == ecbs.DONE and best < 0 and tree.counters[ecbs.CUT] == ecbs.NEVER
        yield News(cells, 0 if unsolvable else int(tree.counters[ecbs.BOUND]), unsolvable, int(tree.counters[ecbs.TURN]))
