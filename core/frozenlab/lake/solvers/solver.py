"""The exact solver: what the best plan of a board is, whether it needs a WAIT, or that there is none.

Definitions (classical MAPF, Stern et al. 2019; an agent stays at its goal and still blocks; following and rotations are legal):

* *makespan*: the time step from which all agents stand on their goals for good; *sum of costs*: the sum over the agents of the time step
  from which each stands on its goal for good. WAITs at the end of a plan are free.
* *needs_wait*, by makespan (WM, the default): every plan of the optimal makespan contains a WAIT of some agent before that agent's arrival.
  Where it is False, the stored plan is one without such a WAIT, so the label and the plan that people see agree.
* *needs_wait*, by sum of costs (WS): the same for the plans of the optimal sum of costs, and the same for the stored cheapest plan.

The search itself is compiled and lives in the folder kernels (makespan.py, costs.py); it is imported with the first board that is solved.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from frozenlab.base import seeds
from frozenlab.lake.board import HOLE, Board, Plan
from frozenlab.lake.config import WaitDefinition
from frozenlab.lake.config_cell import MAX_AGENTS, MAX_SIZE
from frozenlab.lake.exits import ADDED, KEPT
from frozenlab.lake.kernels.limits import (
    BOUNDED,
    BUDGET_FULL,
    DONE,
    EXACT_CELLS,
    FAR,
    HORIZON,
    IN_TURN,
    IN_TURN_AGENTS,
    IN_TURN_CELLS,
    KEY_BITS,
    SOLVED,
    TOGETHER,
    UNDECIDED,
    UNSOLVABLE,
)
from frozenlab.lake.solvers import many

if TYPE_CHECKING:
    from frozenlab.lake.kernels.joint_space import Memo

ROWS = 256
"""Boards solved in one call of the kernel."""
CROWD_NODES, CROWD_EFFORT, LEAST_NODES = 20_000, 1 << 28, 100
"""Nodes of Conflict-Based Search on a board whose joint states do not fit a number, and nodes times cells times agents: some seconds. Where
that is less than LEAST_NODES, it is not tried."""
LABELS = (False, True, None)
"""What the kernels' 0, 1 and -1 for ``needs_wait`` mean."""


@dataclass(frozen=True, slots=True)
class Solution:
    """What the solver found out about a board."""

    status: Literal["solved", "bounded", "unsolvable", "undecided"]
    """``solved``: the makespan is proven; ``bounded``: there is a plan, but whether it is the best is open; ``unsolvable`` is proven;
    ``undecided``: the search budget (in nodes, never in seconds) was used up and no plan found."""
    makespan: int | None = None
    """The optimal makespan, proven."""
    sum_of_costs: int | None = None
    """The optimal sum of costs, proven, with ``bounded`` too; None where it was not asked for, or not decided within the budget."""
    needs_wait: bool | None = None
    """Whether every best plan has an agent wait before its arrival; None where that is not decided."""
    plan: Plan | None = None
    """A plan of the optimal makespan, with ``bounded`` the best one known; each agent's letters up to its arrival for good."""
    bounds: tuple[int, int] | None = None
    """With ``bounded``: the optimal makespan is at least the first and at most the second, which is that of ``plan``."""
    cheapest_plan: Plan | None = None
    """A plan of the optimal sum of costs, where that was asked for and decided."""
    planner: Literal["exact", "prioritized", "lacam"] = field(default="exact", compare=False)
    """The planner of :mod:`frozenlab.lake.planners` by which ``plan`` was made."""


def is_joint(board: Board) -> bool:
    """Whether the exact search takes the board: it has few cells, and the places of all agents together fit a number."""
    cells = board.height * board.width
    return cells <= EXACT_CELLS and (cells - len(board.holes)).bit_length() * board.num_agents <= KEY_BITS


def solve(board: Board, sum_of_costs: bool = False, wait_definition: WaitDefinition = "makespan") -> Solution:
    """Solves one board; see :func:`solve_all`.

    Example:
        >>> solution = solve(Board.from_text("S g F G s\\nH H F H H"), sum_of_costs=True)
        >>> solution.status, solution.makespan, solution.sum_of_costs, solution.needs_wait
        ('solved', 5, 9, True)
    """
    return solve_all([board], sum_of_costs, wait_definition)[0]


def solve_all(boards: Sequence[Board], sum_of_costs: bool = False, wait_definition: WaitDefinition = "makespan") -> list[Solution]:
    """Solves many boards, much faster than one by one.

    Exact up to 10x10 with 5 agents, save for very few boards; beyond that a plan by prioritised planning, or by LaCAM where that finds
    none or the board is too large for it, ``solved`` where it meets the lower bound, else ``bounded``. The first call on a machine
    compiles the kernels (seconds); later ones load them from numba's cache.

    Args:
        sum_of_costs: also find the optimal sum of costs. ``plan`` stays the one of optimal makespan.
        wait_definition: which plans ``needs_wait`` is about; ``"sum_of_costs"`` finds the optimal sum of costs as well.

    Raises:
        AssertionError: a found plan does not pass the judge, which would be a bug of the kernels.
    """
    solutions: list[Solution | None] = [None] * len(boards)
    for places, group in groups_of(boards):
        for place, solution in zip(places, solve_group(group, BUDGET_FULL, sum_of_costs, wait_definition), strict=True):
            solutions[place] = solution
    return [solution for solution in solutions if solution is not None]


class Boards(NamedTuple):
    """Boards of one shape as the kernels take them, one a row."""

    exits: NDArray[np.uint8]
    """``[board, cell]``, row-major, the masks of :mod:`frozenlab.lake.exits`."""
    starts: NDArray[np.int64]
    """``[board, agent]``, row-major cell numbers."""
    goals: NDArray[np.int64]
    width: int

    def rows(self, chosen: NDArray[Any]) -> Boards:
        return Boards(self.exits[chosen], self.starts[chosen], self.goals[chosen], self.width)


class Plans(NamedTuple):
    """One plan a board."""

    moves: NDArray[np.uint8]
    """``[board, agent, time]``, ASCII letters."""
    lengths: NDArray[np.int64]
    """``[board, agent]``, how many of them."""

    def read(self) -> list[Plan]:
        longest = int(self.lengths.max(initial=0))
        letters = self.moves[:, :, :longest].tobytes().decode("latin-1")
        plans, at = [], 0
        for row in self.lengths.tolist():
            plans.append(tuple([letters[at + i * longest : at + i * longest + length] for i, length in enumerate(row)]))
            at += len(row) * longest
        return plans


def solve_group(
    boards: Boards, budgets: NDArray[np.int64], sum_of_costs: bool = False, wait_definition: WaitDefinition = "makespan"
) -> list[Solution]:
    """:func:`solve_all` for boards of one shape, with one of the kernels' budgets."""
    from frozenlab.lake.kernels.makespan import solve_boards
    from frozenlab.lake.kernels.prioritised import bound_large_boards

    n, num_agents = boards.starts.shape
    statuses, makespans, needs_wait = np.empty(n, np.int64), np.empty((n, 3), np.int64), np.empty(n, np.int64)
    plans = Plans(np.empty((n, num_agents, HORIZON), np.uint8), np.zeros((n, num_agents), np.int64))
    exits, starts, goals, width = boards
    cells = exits.shape[1]
    if cells <= EXACT_CELLS:
        solve_boards(exits, width, starts, goals, budgets, _workspace.memo(), statuses, makespans, needs_wait, *plans)
    else:
        statuses[:] = UNDECIDED
    planners: list[Literal["exact", "prioritized", "lacam"]] = ["prioritized" if status == UNDECIDED else "exact" for status in statuses]
    if cells <= IN_TURN_CELLS and num_agents <= IN_TURN_AGENTS and cells * num_agents <= IN_TURN and (statuses == UNDECIDED).any():
        bound_large_boards(exits, width, starts, goals, statuses, makespans, needs_wait, *plans)
    planned = np.isin(statuses, (SOLVED, BOUNDED))
    ensure_valid(boards, plans, planned, MAKESPAN, makespans[:, 1])
    texts = plans.read()

    cheapest: list[tuple[int, Plan] | None] = [None] * n
    if cells <= EXACT_CELLS and (sum_of_costs or wait_definition == "sum_of_costs"):
        # where every agent takes a shortest way, nothing is cheaper, and no agent waits
        shortest = zip(statuses.tolist(), makespans[:, 2].tolist(), texts, strict=True)
        cheapest = [None if status == BOUNDED else (cost, text) for status, cost, text in shortest]
        delayed = np.flatnonzero((statuses == SOLVED) & (plans.lengths.sum(axis=1) > makespans[:, 2]))
        if len(delayed):
            known = Plans(plans.moves[delayed], plans.lengths[delayed])
            found, waits = _least_costs(boards.rows(delayed), known, budgets, wait_definition == "sum_of_costs")
            for row, costs in zip(delayed.tolist(), found, strict=True):
                cheapest[row] = costs
            if wait_definition == "sum_of_costs":
                needs_wait[delayed] = waits
    drawn = cells <= MAX_SIZE**2 and num_agents <= MAX_AGENTS  # boards that a config can draw keep what was found out about them
    for row in [] if drawn else np.flatnonzero(statuses == UNDECIDED).tolist():
        statuses[row], makespans[row, :2], texts[row] = _plan_together(boards.rows(np.array([row])))
        needs_wait[row], cheapest[row], planners[row] = -1, None, "lacam"
    if sum_of_costs and budgets is BUDGET_FULL:
        for row in np.flatnonzero(np.isin(statuses, (SOLVED, BOUNDED))).tolist():
            if cheapest[row] is None and int((exits[row] > 0).sum()).bit_length() * num_agents > KEY_BITS:
                cheapest[row] = _costs_of_crowd(boards.rows(np.array([row])))  # beyond the reach of the search above

    out = []
    rows = zip(statuses.tolist(), makespans.tolist(), needs_wait.tolist(), texts, cheapest, planners, strict=True)
    for status, (least, makespan, _), label, plan, best, planner in rows:
        if status == SOLVED:
            out.append(Solution("solved", makespan, best and best[0], LABELS[label], plan, None, best and best[1], planner))
        elif status == BOUNDED:
            cost, cheap = best or (None, None)
            out.append(Solution("bounded", sum_of_costs=cost, plan=plan, bounds=(least, makespan), cheapest_plan=cheap, planner=planner))
        else:
            out.append(Solution("unsolvable" if status == UNSOLVABLE else "undecided"))
    return out


def _plan_together(one: Boards) -> tuple[int, tuple[int, int], Plan]:
    """(status, the longest distance and the makespan of the plan, the plan) of one board by LaCAM, for teams that are too large to plan
    in turn."""
    from frozenlab.lake.kernels.lacam import GOAL, begin_lacam, cells_to, go_on_lacam, new_search
    from frozenlab.lake.kernels.pibt import new_room

    (exits,), (starts,), (goals,), width = one
    *_, (crowd, cut_off) = many.crowd_in(exits, starts, goals, width)
    k, m = crowd.distance.shape
    if cut_off >= 0:  # distances of FAR and more are not measured
        return (UNSOLVABLE if m < FAR or crowd.starts[cut_off] < 0 else UNDECIDED), (0, 0), ()
    search, state = new_search(k), np.uint64(seeds.derive(0, "solver/large"))
    begin_lacam(crowd, search)
    status, _ = go_on_lacam(crowd, search, new_room(m, k), np.empty(k, np.int32), state, max(TOGETHER // k, 1), False)
    if (goal := int(search.counters[GOAL])) < 0:
        return (UNSOLVABLE if status == DONE else UNDECIDED), (0, 0), ()
    plan, _, makespan = written(cells_to(goal, crowd, search), one)
    least = max(int(crowd.distance[i, start]) for i, start in enumerate(crowd.starts))
    return (SOLVED if makespan == least else BOUNDED), (least, makespan), plan


def written(cells: NDArray[Any], one: Boards) -> tuple[Plan, int, int]:
    """(plan, sum of costs, makespan) of a plan as cells ``[time, agent]``. Raises AssertionError if it does not pass the judge."""
    steps = np.diff(cells.astype(np.int64), axis=0)
    letters = np.full(steps.shape, ord("W"), np.uint8)
    for letter, step in (("L", -1), ("R", 1), ("U", -one.width), ("D", one.width)):
        letters[steps == step] = ord(letter)
    away = cells != cells[-1]
    arrivals = np.where(away.any(axis=0), len(cells) - np.argmax(away[::-1], axis=0), 0)
    moves = np.ascontiguousarray(letters.T)
    plan = tuple(row[:length].tobytes().decode("ascii") for row, length in zip(moves, arrivals, strict=True))
    cost = int(arrivals.sum())
    plans = Plans(moves[None], arrivals[None].astype(np.int64))
    ensure_valid(one, plans, np.ones(1, np.bool_), SUM_OF_COSTS, np.array([cost]))
    return plan, cost, int(arrivals.max())


def _costs_of_crowd(one: Boards) -> tuple[int, Plan] | None:
    """The smallest sum of costs of one board whose goals can all be reached, and a plan of it, by Conflict-Based Search for any number of
    agents; None if it is not decided."""
    agents, cells = one.starts.shape[1], one.exits.shape[1]
    nodes = min(CROWD_NODES, CROWD_EFFORT // (agents * cells))
    if nodes < LEAST_NODES:
        return None
    efforts, best = iter([many.AT_ONCE] * -(-agents // many.AT_ONCE) + [nodes, 1]), None
    *_, (crowd, _) = many.crowd_in(one.exits[0], one.starts[0], one.goals[0], one.width)
    for state in many.search(crowd, 1.0, lambda _: next(efforts, 0)):
        if state.cells is not None:
            best = written(state.cells, one)
    return (best[1], best[0]) if best is not None and best[1] == state.lower_bound else None


def _least_costs(
    boards: Boards, plans: Plans, budgets: NDArray[np.int64], label: bool
) -> tuple[list[tuple[int, Plan] | None], NDArray[np.int64]]:
    """(sum of costs and plan of each board, None where not decided; needs_wait as the kernels say it, if ``label``).

    ``plans`` holds valid plans and gets cheaper ones.
    """
    from frozenlab.lake.kernels.costs import least_costs

    n = len(boards.exits)
    costs, waits = np.empty((n, 2), np.int64), np.empty(n, np.int64)
    exits, starts, goals, width = boards
    least_costs(exits, width, starts, goals, label, budgets, _workspace.memo(), costs, waits, *plans)
    ensure_valid(boards, plans, np.full(n, True), SUM_OF_COSTS, costs[:, 1])
    found = zip(costs.tolist(), plans.read(), strict=True)
    return [(upper, plan) if lower == upper else None for (lower, upper), plan in found], waits


MAKESPAN, SUM_OF_COSTS = 4, 5
"""Columns of what the compiled judge says."""


def ensure_valid(boards: Boards, plans: Plans, chosen: NDArray[np.bool_], column: int, claimed: NDArray[np.int64]) -> None:
    """Judges the chosen plans once more; raises AssertionError if one is not valid or not as good as claimed."""
    from frozenlab.lake.kernels.judge import judge_plans

    exits, starts, goals, width = boards
    said = judge_plans(exits, width, starts, goals, *plans)
    wrong = np.flatnonzero(chosen & ((said[:, 0] >= 0) | (said[:, column] != claimed)))
    assert not len(wrong), f"a plan does not hold on {exits[wrong[0]].tolist()}, {starts[wrong[0]]}, {goals[wrong[0]]}: {said[wrong[0]]}"


def groups_of(boards: Sequence[Board]) -> Iterator[tuple[list[int], Boards]]:
    """Up to ROWS boards of one height, width and team at a time: their places in the sequence, and the boards."""
    shapes: dict[tuple[int, int, int], list[int]] = {}
    for place, board in enumerate(boards):
        shapes.setdefault((board.height, board.width, board.num_agents), []).append(place)
    for places in shapes.values():
        for first in range(0, len(places), ROWS):
            chunk = places[first : first + ROWS]
            yield chunk, stacked([boards[place] for place in chunk])


def stacked(boards: Sequence[Board]) -> Boards:
    """Boards of one shape as the kernels take them."""
    from frozenlab.lake.kernels.grid import write_exits_of_boards

    width, shape = boards[0].width, (len(boards), boards[0].num_agents)
    letters = "".join(["".join(board.rows) for board in boards]).encode("ascii")
    ice = np.frombuffer(letters, np.uint8).reshape(len(boards), -1)
    exits = np.empty_like(ice)
    write_exits_of_boards((ice != ord(HOLE)).astype(np.uint8), width, exits)
    exits = exits & np.frombuffer(KEPT, np.uint8)[ice] | np.frombuffer(ADDED, np.uint8)[ice]
    cells = [r * width + c for board in boards for agent in board.agents for r, c in (agent.start, agent.goal)]
    ends = np.array(cells, np.int64).reshape(*shape, 2)
    return Boards(exits, np.ascontiguousarray(ends[..., 0]), np.ascontiguousarray(ends[..., 1]), width)


class _Workspace(threading.local):
    """The solver's transposition table, one a thread: the kernels run side by side."""

    _memo: Memo | None = None

    def memo(self) -> Memo:
        if self._memo is None:
            from frozenlab.lake.kernels.joint_space import new_memo

            self._memo = new_memo(20)
        return self._memo


_workspace = _Workspace()
