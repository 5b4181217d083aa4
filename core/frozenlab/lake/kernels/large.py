"""Boards that are too large for an exact search: a plan by prioritised planning, and how good it can at best be. Imports numba."""

import numpy as np

from frozenlab.lake.kernels.compiled import entry, inlined
from frozenlab.lake.kernels.limits import BOUNDED, FOUND, HORIZON, PATIENCE, SOLVED, TRIES, UNDECIDED, UNSOLVABLE
from frozenlab.lake.kernels.prioritised import plan_by_priority
from frozenlab.lake.kernels.problem import build_problem, write_plan


@inlined
def bound_large(exits, width, start_cells, goal_cells, tries, positions, moves, lengths):
    """A plan of a large board, and a lower bound; the other arguments as in :func:`frozenlab.lake.kernels.makespan.solve_board`.

    The agents plan in turn within a horizon, from the longest of their distances on. Who finds no path goes to the front in the next try.

    Args:
        tries: how many orders of the agents are tried for each horizon.

    Returns:
        (SOLVED if the plan is optimal, BOUNDED, UNSOLVABLE or UNDECIDED, the longest distance, the makespan of the plan,
        needs_wait as 0 or -1 for undecided)
    """
    problem = build_problem(exits, width, start_cells, goal_cells)
    if problem.m < 0:
        return UNSOLVABLE, 0, 0, 0
    least = np.int64(problem.distance[0, problem.starts[0]])
    team = np.arange(start_cells.shape[0])
    horizon = least
    while horizon < HORIZON and horizon <= 2 * least + PATIENCE:
        for waits in (False, True):
            for _ in range(tries):
                status, length, late = plan_by_priority(team, 0, problem, waits, False, horizon, positions)
                if status == FOUND:
                    write_plan(team, problem, positions, length, moves, lengths)
                    makespan = 0
                    for i in team:
                        makespan = max(makespan, lengths[i])
                    if makespan == least:
                        return SOLVED, least, makespan, (-1 if waits else 0)
                    return BOUNDED, least, makespan, -1
                first = team[late]
                for place in range(late, 0, -1):
                    team[place] = team[place - 1]
                team[0] = first
        horizon += 1 + (horizon - least)
    return UNDECIDED, least, 0, -1


@entry("large")
def bound_large_boards(exits, width, starts, goals, statuses, makespans, needs_wait, moves, lengths):
    """:func:`bound_large` for the boards that ``solve_boards`` left UNDECIDED; ``makespans`` gets the lower bound and the plan's."""
    positions = np.empty((HORIZON + 1, starts.shape[1]), np.int16)
    for row in range(exits.shape[0]):
        if statuses[row] == UNDECIDED:
            status, least, makespan, waits = bound_large(
                exits[row], width, starts[row], goals[row], TRIES, positions, moves[row], lengths[row]
            )
            statuses[row], needs_wait[row] = status, waits
            makespans[row, 0], makespans[row, 1] = least, makespan
