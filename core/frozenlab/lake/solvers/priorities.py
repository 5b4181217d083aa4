"""Priorities, written to be read.

Prioritized planning (Erdmann and Lozano-Perez 1987; Silver 2005): the agents plan one after the other, each its shortest path around the
paths of those before it. That is quick, and often good enough; but the plan need not be optimal, and for some orders, on some boards for
every order, the next agent finds no path although the board has a plan.

PIBT (Okumura, Machida, Defago and Tamura 2022): the agents decide where they are one step on, the most urgent first, and those in the way
inherit the priority.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from frozenlab.lake.board import MOVES, Board, Cell
from frozenlab.lake.rules import Path
from frozenlab.lake.solvers.cbs import Constraint, shortest_path


def plan_in_order(board: Board, order: Sequence[int], around: Mapping[int, Path] | None = None) -> dict[int, Path]:
    """The paths of the agents in ``order``, up to the first that finds none: agent -> path. Those that others have already, ``around``
    which they plan, come first.

    Example:
        >>> board = Board.from_text("S F F s\\nF F F F\\ng F F G")
        >>> sorted(plan_in_order(board, (1, 0)))
        [0, 1]
    """
    planned = dict(around or {})
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


def step_by_urgency(board: Board) -> dict[int, tuple[Cell, int | None]]:
    """PIBT's step from the starts, where the agent with the longest way is the most urgent: agent -> (its next cell, the agent that pushed
    it), in the order in which they begin to choose.

    Example:
        >>> step_by_urgency(Board.from_text("S s F F G\\nF F H g F"))
        {0: ((0, 1), None), 1: ((0, 2), 0)}
    """
    away = [board.distances_to_goal(i) for i in range(board.num_agents)]
    standing = {agent.start: i for i, agent in enumerate(board.agents)}
    moves: dict[int, tuple[Cell, int | None]] = {}

    def place(i: int, pusher: int | None = None) -> bool:
        start = board.agents[i].start
        choices = [(start[0] + dr, start[1] + dc) for dr, dc in MOVES.values()]
        for cell in sorted((cell for cell in choices if cell in away[i] and board.leads(start, cell, i)), key=away[i].__getitem__):
            if cell in [taken for taken, _ in moves.values()] or (pusher is not None and cell == board.agents[pusher].start):
                continue
            moves[i] = cell, pusher
            other = standing.get(cell, i)
            if other in moves or place(other, i):
                return True
        moves[i] = start, pusher
        return False

    for i in by_urgency(board):
        if i not in moves:
            place(i)
    return moves


def by_urgency(board: Board) -> list[int]:
    """The agents as PIBT begins, those with the longest way first."""
    return sorted(range(board.num_agents), key=lambda i: -board.distances_to_goal(i)[board.agents[i].start])
