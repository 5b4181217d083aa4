"""What GRPO pays for a plan: the reward of the lake, for a verdict."""

from __future__ import annotations

from core.lake.board import Board
from core.lake.reward import plan_reward
from core.lake.rules import Verdict


def reward(board: Board, verdict: Verdict, optimal_makespan: int) -> float:
    """0..1; see :func:`core.lake.reward.plan_reward`."""
    return plan_reward(optimal_makespan, verdict.makespan, verdict.step, sum(verdict.on_goal) / board.team)
