"""What a plan is worth: the one definition behind the environments, the TRL reward and the verifiers task; training sharpens it."""

from __future__ import annotations

from frozenlab.lake.board import Board
from frozenlab.lake.rules import Paths, Verdict

VALID = 0.7
"""A valid plan earns this, and the rest in proportion to how close its makespan is to the optimum."""
LEGAL_UNTIL_FAULT = 0.1
"""The most that an invalid plan can earn, for the part of the optimum's time that it stayed legal and for agents it brought home."""


def plan_reward(optimal_makespan: int, makespan: int | None, fault_step: int | None, home: float, most: float = 1.0) -> float:
    """0..1: an optimal plan earns 1, a valid one at least 0.7; an invalid one at most 0.1, so that any valid plan beats it.

    The small part for invalid plans orders the completions of a group that all fail, which otherwise would teach nothing.

    Args:
        makespan: of a valid plan; None where the plan is not valid.
        fault_step: the time step of the first fault; None where there was nothing that could be walked.
        home: 0..1, the share of the agents whose path ends on their goal, whatever goes wrong on the way.
        most: 0..1, the most that staying legal counts, as with :func:`nearer`.

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
    legal = min(most, max(0, fault_step - 1) / optimal_makespan) if optimal_makespan else 0.0
    return LEGAL_UNTIL_FAULT * (legal + home) / 2


def earned(board: Board, paths: Paths | None, verdict: Verdict, optimal_makespan: int) -> float:
    """The reward of a judged answer to a board, in which standing still earns nothing; ``paths`` is None where it could not be read."""
    if verdict.makespan is not None or paths is None:
        return plan_reward(optimal_makespan, verdict.makespan, None, 0.0)
    home = sum(verdict.on_goal) / board.num_agents
    return plan_reward(optimal_makespan, None, verdict.step, home, nearer(board, paths, verdict))


def nearer(board: Board, paths: Paths, verdict: Verdict) -> float:
    """0..1: the part of the agents' shortest ways to their goals that is behind them before the first fault of an invalid plan, less what
    they went back; 0 where they only stood still."""
    legal = (verdict.step or 0) - (verdict.fault != "goal_not_reached")  # the last step without a fault
    far = left = 0
    for i, (agent, path) in enumerate(zip(board.agents, paths, strict=True)):
        distances = board.distances_to_goal(i)
        whole = distances.get(agent.start, 0)
        far += whole
        left += distances.get(path[max(0, min(legal, len(path) - 1))], whole)
    return max(0.0, 1 - left / far) if far else 0.0
