"""The optimal sum of costs; apart from makespan.py, so that only those who ask for it wait for its compilation. Imports numba.

Costs are counted as *delay*: what a team spends over the sum of its agents' distances. A plan by prioritised planning is the upper bound.
Then comes Conflict-Based Search (the folder cbs), which settles nearly all boards that fit into its bitboards. What it leaves open goes to
the search with a rising bound on the delay (delays.py). Teams whose joint states do not fit a number are left to ecbs.py.
"""

import numpy as np

from frozenlab.lake.kernels.cbs.bitboard import fits_bitboard
from frozenlab.lake.kernels.cbs.search import conflict_based_search
from frozenlab.lake.kernels.compiled import entry, inlined
from frozenlab.lake.kernels.delays import delay_by_priority, delay_by_subsets
from frozenlab.lake.kernels.ida import Scratch
from frozenlab.lake.kernels.limits import HORIZON, KEY_BITS
from frozenlab.lake.kernels.moves import NO_WAIT, PARKING, movement
from frozenlab.lake.kernels.problem import agents_of, bits_per_agent, build_problem, write_plan

NODE_PRICE = 30
"""A node of Conflict-Based Search costs about as much as this many nodes of the depth-first search."""


@inlined
def least_delay(team, problem, known, budgets, scratch, best):
    """The least delay of ``team``, if it is below ``known``, the delay of a plan that is there already.

    Returns:
        (proven lower bound, delay of the best plan, its length in ``best``, or 0 if it is the known one)
    """
    delay, length = delay_by_priority(team, problem, known, scratch.positions, best)
    proven = np.int64(0)  # a plain 0 would have the callees compiled once more, for a literal
    if team.shape[0] > 2 and fits_bitboard(problem.cell_of.shape[0], problem.width):  # for two agents the depth-first search is quicker
        for effort in budgets[:-2]:
            if proven < delay:
                proven, delay, length = conflict_based_search(
                    team, problem, proven, delay, length, effort // NODE_PRICE, scratch.memo.nodes, best
                )
    if proven < delay:
        model = movement(PARKING, problem)
        proven, delay, length = delay_by_subsets(team, problem, model, proven, delay, length, budgets[:-1], scratch, best)
    return proven, delay, length


@entry("costs")
def least_costs(exits, width, start_cells, goal_cells, label, budgets, memo, costs, needs_wait, moves, lengths):
    """Optimal sums of costs of solvable boards of one shape and, with ``label``, whether their plans need a WAIT (WS).

    Args:
        exits, start_cells, goal_cells, budgets, memo: as in ``solve_boards``.
        costs: int64 ``[n, 2]``, gets a lower bound on the sum of costs and the cost of the plan, which is optimal if they are equal.
        needs_wait: int64 ``[n]``, gets 1, 0 or -1 for undecided if ``label``.
        moves, lengths: as in ``solve_boards``, hold some valid plan and get one of least costs. With ``label`` it waits before an arrival
            only where that is needed or not decided.
    """
    k = start_cells.shape[1]
    scratch, best = Scratch(memo, np.empty((HORIZON + 1, k), np.int16)), np.empty((HORIZON + 1, k), np.int16)
    for row in range(exits.shape[0]):
        problem = build_problem(exits[row], width, start_cells[row], goal_cells[row])
        lower, upper, waits = 0, 0, 0
        for component in range(k):
            team = agents_of(component, problem)
            distances, known = np.int64(0), np.int64(0)
            for i in team:
                distance = problem.distance[i, problem.starts[i]]
                distances += distance
                known += lengths[row, problem.order[i]] - distance
            lower += distances
            upper += distances
            if known == 0:
                continue
            if bits_per_agent(problem.m) * k > KEY_BITS:  # beyond the reach of the search
                upper, waits = upper + known, -1
                continue
            proven, delay, length = least_delay(team, problem, known, budgets, scratch, best)
            if length > 0:
                write_plan(team, problem, best, length, moves[row], lengths[row])
            lower += proven
            upper += delay
            if not label or delay == 0:
                continue
            verdict = -1
            if proven == delay and delay % 2 == 1:
                verdict = 1  # on a grid the delay of an agent that never waits is even
            elif proven == delay:
                no_wait = movement(NO_WAIT, problem)
                proven, without_wait, length = delay_by_subsets(
                    team, problem, no_wait, delay, delay + 1, np.int64(0), budgets[:-1], scratch, best
                )
                if without_wait == delay:
                    write_plan(team, problem, best, length, moves[row], lengths[row])
                    verdict = 0
                elif proven > delay:
                    verdict = 1
            if verdict == 1 or waits == 0:
                waits = verdict
        costs[row, 0], costs[row, 1], needs_wait[row] = lower, upper, waits
