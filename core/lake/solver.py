"""The exact solver: what the best plan of a board is, whether it needs a WAIT, or that there is none.

Definitions (classical MAPF, Stern et al. 2019; an agent stays at its goal and still blocks; following and rotations are legal):

* *makespan*: the time step from which all agents stand on their goals for good; *sum of costs*: the sum over the agents of the time step
  from which each stands on its goal for good. WAITs at the end of a plan are free.
* *needs_wait*, by makespan (WM, the default): every plan of the optimal makespan contains a WAIT of some agent before that agent's arrival.
  Where it is False, the stored plan is one without such a WAIT, so the label and the plan that people see agree.
* *needs_wait*, by sum of costs (WS): the same for the plans of the optimal sum of costs, and the same for the stored cheapest plan.

The search itself is compiled and lives in kernels.py; it is imported with the first board that is solved.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from core.lake.board import FROZEN, Board, Plan
from core.lake.config import WaitDefinition

if TYPE_CHECKING:
    from core.lake.kernels import Memo

ROWS = 256
"""Boards solved in one call of the kernel."""


@dataclass(frozen=True)
class Solution:
    """What the solver found out about a board."""

    status: Literal["solved", "bounded", "unsolvable", "undecided"]
    """``solved``: the makespan is proven; ``bounded``: there is a plan, but whether it is the best is open; ``unsolvable`` is proven;
    ``undecided``: the search budget (in nodes, never in seconds) was used up and no plan found."""
    makespan: int | None = None
    """The optimal makespan, proven."""
    sum_of_costs: int | None = None
    """The optimal sum of costs, proven; None where it was not asked for, or not decided within the budget."""
    needs_wait: bool | None = None
    """Whether every best plan has an agent wait before its arrival; None where that is not decided."""
    plan: Plan | None = None
    """A plan of the optimal makespan, with ``bounded`` the best one known; each agent's letters up to its arrival for good."""
    bounds: tuple[int, int] | None = None
    """With ``bounded``: the optimal makespan is at least the first and at most the second, which is that of ``plan``."""
    cheapest_plan: Plan | None = None
    """A plan of the optimal sum of costs, where that was asked for and decided."""


def solve(board: Board, sum_of_costs: bool = False, wait_definition: WaitDefinition = "makespan") -> Solution:
    """Solves one board; see :func:`solve_all`."""
    return solve_all([board], sum_of_costs, wait_definition)[0]


def solve_all(boards: Sequence[Board], sum_of_costs: bool = False, wait_definition: WaitDefinition = "makespan") -> list[Solution]:
    """Solves many boards, much faster than one by one.

    Exact up to 10x10 with 5 agents, save for very few boards; beyond that a plan by prioritised planning, ``solved`` where it meets the
    lower bound, else ``bounded``. The first call on a machine compiles the kernels (seconds); later ones load them from numba's cache.

    Args:
        sum_of_costs: also find the optimal sum of costs. ``plan`` stays the one of optimal makespan.
        wait_definition: which plans ``needs_wait`` is about; ``"sum_of_costs"`` finds the optimal sum of costs as well.

    Raises:
        AssertionError: a found plan does not pass the judge, which would be a bug of the kernels.
    """
    from core.lake import kernels

    solutions: list[Solution | None] = [None] * len(boards)
    by_shape: dict[tuple[int, int, int], list[int]] = {}
    for number, board in enumerate(boards):
        by_shape.setdefault((board.height, board.width, board.team), []).append(number)
    for numbers in by_shape.values():
        for first in range(0, len(numbers), ROWS):
            chunk = numbers[first : first + ROWS]
            group = [boards[number] for number in chunk]
            found = solve_group(*stacked(group), group[0].width, kernels.BUDGET_FULL)
            if sum_of_costs or wait_definition == "sum_of_costs":
                found = with_sum_of_costs(group, found, wait_definition)
            for number, solution in zip(chunk, found, strict=True):
                solutions[number] = solution
    return [solution for solution in solutions if solution is not None]


def solve_group(
    free: NDArray[np.uint8], starts: NDArray[np.int64], goals: NDArray[np.int64], width: int, budgets: NDArray[np.int64]
) -> list[Solution]:
    """The solutions of boards of one shape, given as :func:`stacked` gives them back."""
    from core.lake import kernels

    n, team = starts.shape
    statuses, makespans, needs_wait = np.empty(n, np.int64), np.empty((n, 2), np.int64), np.empty(n, np.int64)
    moves, lengths = np.empty((n, team, kernels.HORIZON), np.uint8), np.zeros((n, team), np.int64)
    wrong = kernels.solve_boards(free, width, starts, goals, budgets, _workspace.memo(), statuses, makespans, needs_wait, moves, lengths)
    assert wrong < 0, f"the solver's plan does not hold on {free[wrong].tolist()}, {starts[wrong]}, {goals[wrong]}"
    out = []
    for status, (least, makespan), waits, plan in zip(
        statuses.tolist(), makespans.tolist(), needs_wait.tolist(), read_plans(moves, lengths), strict=True
    ):
        if status == kernels.SOLVED:
            out.append(Solution("solved", makespan, None, None if waits < 0 else waits == 1, plan))
        elif status == kernels.ENCLOSED:
            out.append(Solution("bounded", plan=plan, bounds=(least, makespan)))
        else:
            out.append(Solution("unsolvable" if status == kernels.UNSOLVABLE else "undecided"))
    return out


def with_sum_of_costs(
    boards: Sequence[Board], solutions: Sequence[Solution], wait_definition: WaitDefinition = "makespan"
) -> list[Solution]:
    """The solutions of boards of one shape with the optimal sums of costs added, where the budget suffices."""
    from core.lake import kernels, kernels_costs

    n, team, width = len(boards), boards[0].team, boards[0].width
    free, starts, goals = stacked(boards)
    solved = np.array([solution.status == "solved" for solution in solutions])
    moves, lengths = np.empty((n, team, kernels.HORIZON), np.uint8), np.zeros((n, team), np.int64)
    for row, solution in enumerate(solutions):
        for i, motions in enumerate(solution.plan or ()):
            lengths[row, i] = len(motions)
            moves[row, i, : len(motions)] = np.frombuffer(motions.encode("ascii"), np.uint8)
    costs, needs_wait = np.zeros((n, 2), np.int64), np.full(n, -1, np.int64)
    wrong = kernels_costs.least_costs_of_boards(
        free,
        width,
        starts,
        goals,
        solved,
        wait_definition == "sum_of_costs",
        kernels.BUDGET_FULL,
        _workspace.memo(),
        costs,
        needs_wait,
        moves,
        lengths,
    )
    assert wrong < 0, f"the solver's cheapest plan does not hold on\n{boards[wrong]}"
    out = []
    plans = read_plans(moves, lengths)
    for row, solution in enumerate(solutions):
        if not solved[row]:
            out.append(solution if wait_definition == "makespan" else replace(solution, needs_wait=None))
            continue
        lower, upper = costs[row].tolist()
        decided = lower == upper
        waits = solution.needs_wait
        if wait_definition == "sum_of_costs":
            waits = None if needs_wait[row] < 0 else bool(needs_wait[row])
        out.append(
            replace(solution, sum_of_costs=upper if decided else None, needs_wait=waits, cheapest_plan=plans[row] if decided else None)
        )
    return out


def read_plans(moves: NDArray[np.uint8], lengths: NDArray[np.int64]) -> list[Plan]:
    """Plans from the kernels' arrays: ASCII letters ``[row, agent, time]`` and how many of them each agent has, ``[row, agent]``."""
    longest = int(lengths.max(initial=0))
    letters = moves[:, :, :longest].tobytes().decode("latin-1")
    team = moves.shape[1]
    plans, at = [], 0
    for row in lengths.tolist():
        plans.append(tuple(letters[at + i * longest : at + i * longest + length] for i, length in enumerate(row)))
        at += team * longest
    return plans


def stacked(boards: Sequence[Board]) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Boards of one shape as the kernels take them, one a row: frozen cells (1, row-major), row-major cell numbers of starts and goals."""
    width, shape = boards[0].width, (len(boards), boards[0].team)
    letters = "".join(["".join(board.rows) for board in boards]).encode("ascii")
    free = (np.frombuffer(letters, np.uint8) == ord(FROZEN)).astype(np.uint8).reshape(len(boards), -1)
    cells = [r * width + c for board in boards for agent in board.agents for r, c in (agent.start, agent.goal)]
    ends = np.array(cells, np.int64).reshape(*shape, 2)
    return free, np.ascontiguousarray(ends[..., 0]), np.ascontiguousarray(ends[..., 1])


class _Workspace(threading.local):
    """The solver's transposition table, one a thread: the kernels run side by side."""

    _memo: Memo | None = None

    def memo(self) -> Memo:
        if self._memo is None:
            from core.lake import kernels

            self._memo = kernels.new_memo(20)
        return self._memo


_workspace = _Workspace()
