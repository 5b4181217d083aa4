"""The exact solver: what the best plan of a board is, whether it needs a WAIT, or that there is none.

Definitions (classical MAPF, Stern et al. 2019; an agent stays at its goal and still blocks; following and rotations are legal):

* *makespan*: the time step from which all agents stand on their goals for good; *sum of costs*: the sum over the agents of the time step
  from which each stands on its goal for good.
* *needs_wait* (WM): every plan of the optimal makespan contains a WAIT of some agent before that agent's arrival. Where it is False, the
  stored plan is one without such a WAIT, so the label and the plan that people see agree.

The search itself is compiled and lives in kernels.py; it is imported with the first board that is solved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from core.lake.board import FROZEN, Board, Plan
from core.lake.rules import judge


@dataclass(frozen=True)
class Solution:
    """What the solver found out about a board."""

    status: Literal["solved", "unsolvable", "undecided"]
    """``unsolvable`` is proven; ``undecided`` means that the search budget (in nodes, never in seconds) was used up."""
    makespan: int | None = None
    """The optimal makespan, proven."""
    sum_of_costs: int | None = None
    """The optimal sum of costs, proven; None where it was not asked for, or not decided within the budget."""
    needs_wait: bool | None = None
    """Whether every plan of the optimal makespan has an agent wait before its arrival; None where that is not decided."""
    plan: Plan | None = None
    """A plan of the optimal makespan, each agent's letters up to its arrival for good."""


def solve(board: Board, sum_of_costs: bool = False) -> Solution:
    """Solves ``board`` exactly.

    Exact up to 10x10 with 5 agents; larger boards as far as the budget goes, else ``undecided``. The first call on a machine compiles
    the kernels (seconds); later ones load them from numba's cache.

    Args:
        sum_of_costs: also find the optimal sum of costs. The plan stays the one of optimal makespan.

    Raises:
        AssertionError: a found plan does not pass :func:`core.lake.rules.judge`, which would be a bug of the kernels.
    """
    from core.lake import kernels

    free, starts, goals = arrays(board)
    codes = np.empty((kernels.HORIZON + 1, board.team), np.int16)
    moves = np.empty((board.team, kernels.HORIZON), np.uint8)
    lengths = np.zeros(board.team, np.int64)
    status, makespan, needs_wait = kernels.solve_board(
        free, board.width, starts, goals, kernels.BUDGET_FULL, kernels.new_memo(20), codes, moves, lengths
    )
    if status != kernels.SOLVED:
        return Solution("unsolvable" if status == kernels.UNSOLVABLE else "undecided")
    plan = tuple(moves[i, :n].tobytes().decode("ascii") for i, n in enumerate(lengths))
    verdict = judge(board, plan)
    assert verdict.valid and verdict.makespan == makespan, f"the solver's plan is {verdict}\n{board}\n{plan}"
    solution = Solution("solved", int(makespan), None, None if needs_wait < 0 else bool(needs_wait), plan)
    return with_sum_of_costs(board, solution) if sum_of_costs else solution


def with_sum_of_costs(board: Board, solution: Solution) -> Solution:
    """``solution`` of a solved board with the optimal sum of costs added, where the budget suffices."""
    from core.lake import kernels, kernels_costs

    assert solution.plan is not None
    free, starts, goals = arrays(board)
    arrivals = np.array([len(motions) for motions in solution.plan], np.int64)
    costs = kernels_costs.least_costs(free, board.width, starts, goals, arrivals, kernels.BUDGET_FULL, kernels.new_memo(20))
    return replace(solution, sum_of_costs=int(costs) if costs >= 0 else None)


def arrays(board: Board) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """A board as the kernels take it: frozen cells (1, row-major), and the row-major cell numbers of starts and goals."""
    free = np.frombuffer("".join(board.rows).encode("ascii"), np.uint8) == ord(FROZEN)
    starts = np.array([agent.start[0] * board.width + agent.start[1] for agent in board.agents], np.int64)
    goals = np.array([agent.goal[0] * board.width + agent.goal[1] for agent in board.agents], np.int64)
    return free.astype(np.uint8), starts, goals
