"""The auxiliary targets of the warm start: what a planner has to know before each move (auxiliary tasks: Jaderberg et al. 2017, UNREAL).

A solver's plan says where each agent went, not why. Learning the reasons as well, from the network's state at each move, makes the lab
model learn to plan from fewer boards (the table of the recipe search in the model card says how many). The head that predicts them is
discarded: it is not part of a prompt, an answer or the shipped weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy

from frozenlab.base import seeds
from frozenlab.lake.board import Board
from frozenlab.lake.rules import Paths

IGNORED = -100
FARTHEST = 30
"""Longer distances are cut to this one."""
BLOCKED, CLOSER, FARTHER = range(3)
STAY_AND_STEPS = np.array([(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)])
OFF_THE_WAY = 10_000


class Insight(NamedTuple):
    """One row per word of the completion, in its order: time step by time step, agent by agent. The row of the end token is ignored."""

    distance: NDArray[np.int64]
    """(words,): steps from the agent's cell to its goal, ignoring other agents."""
    ways: NDArray[np.int64]
    """(words, 4): whether up, down, left and right are BLOCKED for the agent, or lead CLOSER to its goal or FARTHER from it. A cell from
    which it cannot get to its goal counts as BLOCKED too."""
    taken: NDArray[np.int64]
    """(words, 5): whether staying or going there runs into an agent that has chosen its cell in this time step; ignored where blocked."""


def insight(board: Board, paths: Paths) -> Insight:
    """The auxiliary targets of a solved board; ``paths`` are of equal length."""
    cells = np.array(paths) + 1  # one cell beyond the border, so that neighbours are always inside the array
    team, here, after = len(cells), cells[:, :-1], cells[:, 1:]
    around = here[:, :, None] + STAY_AND_STEPS
    to_goal = np.full((team, board.height + 2, board.width + 2), OFF_THE_WAY)
    for i in range(team):
        for (r, c), steps in board.distances_to_goal(i).items():
            to_goal[i, r + 1, c + 1] = steps
    distances = to_goal[np.arange(team)[:, None, None], around[..., 0], around[..., 1]]
    exits = np.pad(np.frombuffer(board.exits, np.uint8).reshape(board.height, board.width), 1)[here[..., 0], here[..., 1]]
    distances[..., 1:][exits[..., None] >> np.arange(4) & 1 == 0] = OFF_THE_WAY
    now, then = distances[..., :1], distances[..., 1:]
    ways = np.where(then == OFF_THE_WAY, BLOCKED, np.where(then < now, CLOSER, FARTHER))
    taken = np.zeros(around.shape[:3], dtype=np.int64)
    for i in range(team):
        for j in range(i):
            met = (around[i] == after[j][:, None]).all(2)
            swapped = (after[j] == here[i]).all(1)[:, None] & (around[i] == here[j][:, None]).all(2)
            taken[i] |= met | swapped
    taken[distances == OFF_THE_WAY] = IGNORED
    return Insight(*(in_the_order_of_words(of) for of in (np.minimum(now[..., 0], FARTHEST), ways, taken)))


def nothing_to_see(words: int) -> Insight:
    """The auxiliary targets of a text that is not a plan: all are ignored."""
    return Insight(np.full(words, IGNORED), np.full((words, 4), IGNORED), np.full((words, 5), IGNORED))


def in_the_order_of_words(of_agents: NDArray[np.int64]) -> NDArray[np.int64]:
    """(agents, steps, ...) as (steps * agents + 1, ...): the last row stands for the end token and is ignored."""
    rows = of_agents.swapaxes(0, 1).reshape(-1, *of_agents.shape[2:])
    return np.concatenate([rows, np.full_like(rows[:1], IGNORED)])


class InsightHead(torch.nn.Linear):
    """Predicts the auxiliary targets from the network's last hidden state."""

    SIZES = (FARTHEST + 1, 4 * 3, 5 * 2)
    WEIGHTS = (0.5, 2.0, 2.0)
    """Weights of distance, ways and taken in the loss."""

    def __init__(self, hidden: int, seed: int = 0) -> None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seeds.derive(seed, "warm-start/insight-head"))
            super().__init__(hidden, sum(self.SIZES))

    def loss(self, hidden: torch.Tensor, targets: Sequence[Insight]) -> torch.Tensor:
        """Weighted sum of the mean cross-entropies, in nats; ``hidden`` (words, width) of the examples one after the other."""
        distance, ways, taken = self(hidden).split(self.SIZES, dim=1)
        total = hidden.new_zeros(())
        predicted = (distance, ways.reshape(-1, 3), taken.reshape(-1, 2))
        for weight, logits, wanted in zip(self.WEIGHTS, predicted, zip(*targets, strict=True), strict=True):
            right = torch.from_numpy(np.concatenate(wanted).reshape(-1))
            counted = (right != IGNORED).sum().clamp(min=1)  # a batch may contain no plan
            total = total + weight * cross_entropy(logits, right, ignore_index=IGNORED, reduction="sum") / counted
        return total
