"""What GRPO pays for a plan."""

from __future__ import annotations

from core.lake.board import Board
from core.lake.rules import Verdict

VALID = 0.7
"""A valid plan earns this, and the rest in proportion to how close its makespan is to the optimum."""
LEGAL_UNTIL_FAULT = 0.1
"""The most that an invalid plan can earn, for the part of the optimum's time that it stayed legal and for agents it brought home."""


def reward(board: Board, verdict: Verdict, optimal_makespan: int) -> float:
    """0..1: an optimal plan earns 1, a valid one at least 0.7; an invalid one at most 0.1, so that any valid plan beats it.

    The small part for invalid plans orders the completions of a group that all fail, which otherwise would teach nothing.
    """
    if verdict.valid:
        efficiency = optimal_makespan / verdict.makespan if verdict.makespan else 1.0
        return VALID + (1 - VALID) * efficiency
    if verdict.step is None:  # nothing that could be walked
        return 0.0
    legal = min(1.0, max(0, verdict.step - 1) / optimal_makespan) if optimal_makespan else 0.0
    home = sum(verdict.on_goal) / board.team
    return LEGAL_UNTIL_FAULT * (legal + home) / 2
