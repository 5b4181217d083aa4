"""What a plan is worth: the one definition behind the environments, the TRL reward and the verifiers task; training sharpens it."""

from __future__ import annotations

VALID = 0.7
"""A valid plan earns this, and the rest in proportion to how close its makespan is to the optimum."""
LEGAL_UNTIL_FAULT = 0.1
"""The most that an invalid plan can earn, for the part of the optimum's time that it stayed legal and for agents it brought home."""


def plan_reward(optimal_makespan: int, makespan: int | None, fault_step: int | None, home: float) -> float:
    """0..1: an optimal plan earns 1, a valid one at least 0.7; an invalid one at most 0.1, so that any valid plan beats it.

    The small part for invalid plans orders the completions of a group that all fail, which otherwise would teach nothing.

    Args:
        makespan: of a valid plan; None where the plan is not valid.
        fault_step: the time step of the first fault; None where there was nothing that could be walked.
        home: 0..1, the share of the agents whose path ends on their goal, whatever goes wrong on the way.

    Example:
        >>> plan_reward(4, makespan=4, fault_step=None, home=1.0)
        1.0
        >>> round(plan_reward(4, makespan=6, fault_step=None, home=1.0), 2)
        0.9
        >>> plan_reward(4, makespan=None, fault_step=3, home=0.5)
        0.05
    """
    if makespan is not None:
        efficiency = optimal_makespan / makespan if makespan else 1.0
        return VALID + (1 - VALID) * efficiency
    if fault_step is None:
        return 0.0
    legal = min(1.0, max(0, fault_step - 1) / optimal_makespan) if optimal_makespan else 0.0
    return LEGAL_UNTIL_FAULT * (legal + home) / 2
