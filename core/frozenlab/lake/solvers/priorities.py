"""Prioritized planning, written to be read (Erdmann and Lozano-Perez 1987; Silver 2005): the agents plan one after the other.

Each agent takes its shortest path around the paths of those before it. That is quick, and often good enough; but the plan need not be
optimal, and for some orders, on some boards for every order, the next agent finds no path although the board has a plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from frozenlab.lake.board import Board
from frozenlab.lake.rules import Path
from frozenlab.lake.solvers.cbs import Constraint, shortest_path


def plan_in_order(board: Board, order: Sequence[int]) -> dict[int, Path]:
    """The paths of the agents in ``order``, up to the first that finds none: agent -> path.

    Example:
        >>> board = Board.from_text("S F F s\\nF F F F\\ng F F G")
        >>> sorted(plan_in_order(board, (1, 0)))
        [0, 1]
    """
    planned: dict[int, Path] = {}
    for agent in order:
        # After the last move of the others the board stands still, and no path needs more steps than there are cells.
        settled = max((len(path) - 1 for path in planned.values()), default=0) + board.height * board.width
        constraints = [constraint for path in planned.values() for constraint in keep_off(agent, path, settled)]
        path = shortest_path(board, agent, board.distances_to_goal(agent), constraints)
        if path is None or len(path) - 1 > settled:
            break
        planned[agent] = path
    return planned


def keep_off(agent: int, path: Path, settled: int) -> Iterator[Constraint]:
    """What ``agent`` must not do so that it never meets the ``path`` of another, which stays where it ends; up to the step ``settled``."""
    for step in range(1, settled + 1):
        before, cell = (path[min(time, len(path) - 1)] for time in (step - 1, step))
        yield Constraint(agent, step, cell)
        if cell != before:
            yield Constraint(agent, step, before, origin=cell)
