"""What a stage pays for a plan: the reward of the lake, with a weight of its own for being optimal."""

from __future__ import annotations

from core.lake.board import Board
from core.lake.reward import VALID, plan_reward
from core.lake.rules import Verdict


def reward(board: Board, verdict: Verdict, optimal_makespan: int, optimality: float = 1 - VALID) -> float:
    """0..1; see :func:`core.lake.reward.plan_reward`, which is the default.

    Args:
        optimality: the part of a valid plan's reward that shrinks with its makespan; the rest is earned by being valid.
    """
    earned = plan_reward(optimal_makespan, verdict.makespan, verdict.step, sum(verdict.on_goal) / board.team)
    return 1 - (1 - earned) * optimality / (1 - VALID) if verdict.valid else earned
