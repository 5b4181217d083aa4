"""What a stage pays for a plan: sharper than the reward of the lake, in which a step too many costs next to nothing."""

from __future__ import annotations

from frozenlab.lake.board import Board
from frozenlab.lake.reward import plan_reward
from frozenlab.lake.rules import Verdict


def reward(board: Board, verdict: Verdict, optimal_makespan: int, optimality: float) -> float:
    """0..1: an optimal plan earns 1, a valid one at least ``1 - optimality``, an invalid one what it earns in the lake, at most 0.1.

    Args:
        optimality: the part of a valid plan's reward that depends on its makespan; one half of it shrinks with the makespan, the
            other is for the optimum alone.
    """
    if verdict.makespan is None:
        return plan_reward(optimal_makespan, None, verdict.step, sum(verdict.on_goal) / board.num_agents)
    efficiency = optimal_makespan / verdict.makespan if verdict.makespan else 1.0
    return 1 - optimality * (1 - (efficiency + (verdict.makespan == optimal_makespan)) / 2)
