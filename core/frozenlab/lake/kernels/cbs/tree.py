"""The constraint tree, and the constraints of a node. Imports numba."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.kernels.cbs.bitboard import bit, has
from frozenlab.lake.kernels.compiled import kernel

BARRED, THROUGH, NO_STEP, LATER, SETTLED = 0, 1, 2, 3, 4
"""Kinds of constraints on an agent: not in a set of cells at a time; there at that time, and no other agent; not from one cell to another;
arriving for good after a time; arrived for good by a time, and no other agent on its goal from then on."""


class Constraints(NamedTuple):
    """The constraints of a node, agent by agent."""

    allowed: NDArray[np.int64]
    """``[agent, time, word]`` cells."""
    steps: NDArray[np.int64]
    """``[agent, n]`` forbidden steps: (time of arrival, from, to)."""
    n_steps: NDArray[np.int64]
    earliest: NDArray[np.int64]
    """``[agent]`` least time of the arrival for good."""
    latest: NDArray[np.int64]


class Tree(NamedTuple):
    """The constraint tree, one node a row."""

    parent: NDArray[np.int64]
    constraint: NDArray[np.int64]
    """``[node, 5]`` kind, agent, time, and the two words of a set of cells, or two cells."""
    delay: NDArray[np.int64]
    """``[node, agent]`` least delay of each agent alone."""
    pair_delay: NDArray[np.int64]
    """``[node, agent, agent]`` least delay of two agents."""
    mdd_hash: NDArray[np.int64]
    """``[node, agent]`` hash of an agent's MDD at its least delay: shows whether it has changed since the parent."""
    bound: NDArray[np.int64]
    """Lower bound on the delay of all agents together."""
    following: NDArray[np.int64]
    """The next open node with the same ``bound``; -1: none."""


@kernel
def collect_constraints(node, tree, grid, constraints):
    """Fills ``constraints`` with the constraints of a node and of those above it."""
    k, times = constraints.allowed.shape[0], constraints.allowed.shape[1]
    constraints.allowed[:, :, 0] = grid.low
    constraints.allowed[:, :, 1] = grid.high
    constraints.n_steps[:] = 0
    constraints.earliest[:] = 0
    constraints.latest[:] = times - 1
    while tree.parent[node] >= 0:
        kind, i, t, one, two = tree.constraint[node]
        if kind == BARRED:
            constraints.allowed[i, t, 0] &= ~one
            constraints.allowed[i, t, 1] &= ~two
        elif kind == THROUGH:
            for j in range(k):
                constraints.allowed[j, t, 0] &= one if j == i else ~one
                constraints.allowed[j, t, 1] &= two if j == i else ~two
        elif kind == NO_STEP:
            constraints.steps[i, constraints.n_steps[i], 0] = t
            constraints.steps[i, constraints.n_steps[i], 1] = one
            constraints.steps[i, constraints.n_steps[i], 2] = two
            constraints.n_steps[i] += 1
        elif kind == LATER:
            constraints.earliest[i] = max(constraints.earliest[i], t + 1)
        else:
            constraints.latest[i] = min(constraints.latest[i], t)
            low, high = bit(grid.goals[i])
            for j in range(k):
                for later in range(t if j != i else times, times):
                    constraints.allowed[j, later, 0] &= ~low
                    constraints.allowed[j, later, 1] &= ~high
        node = tree.parent[node]
    for i in range(k):
        for t in range(times - 1, constraints.earliest[i] - 1, -1):
            if not has(constraints.allowed[i, t, 0], constraints.allowed[i, t, 1], grid.goals[i]):
                constraints.earliest[i] = t + 1
                break
