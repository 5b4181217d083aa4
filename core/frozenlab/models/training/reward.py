"""What a stage pays for an answer."""

from __future__ import annotations

from frozenlab.tasks.task import Judged


def reward(judged: Judged, optimality: float) -> float:
    """0..1: the best answer earns 1, a valid one at least ``1 - optimality``, an invalid one its credit, at most 0.1.

    Args:
        optimality: the part of a valid answer's reward that depends on its efficiency; one half of it shrinks with the efficiency, the
            other is for the optimum alone.
    """
    if not judged.valid:
        return judged.credit
    return 1 - optimality * (1 - (judged.efficiency + judged.optimal) / 2)
