"""A plain exhaustive search over the joint states of all agents, to hold the solver against. Shares nothing with its kernels.

An agent is in one of its *places*: a free cell, or *parked*, which is its goal for good. A joint state is one number, the agents' places
as digits. An array holds the least cost found of every joint state; states are settled in the order of that cost plus what the farthest
agent (for the makespan) or all agents together (for the sum of costs) need at least (A*, Hart, Nilsson and Raphael 1968).
"""

from collections.abc import Sequence
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from frozenlab.lake.board import Board, Cell

UNREACHED = 30_000


class Truth(NamedTuple):
    """What is true of a board."""

    status: Literal["solved", "unsolvable"]
    makespan: int | None = None
    sum_of_costs: int | None = None
    needs_wait: bool | None = None
    """WM: every plan of the least makespan has an agent wait before its arrival for good."""
    needs_wait_costs: bool | None = None
    """WS: every plan of the least sum of costs has one."""


Steps = dict[Cell, list[Cell]]
"""The cells that a move of some agent leads to, from each free cell."""


def brute_force(board: Board) -> Truth:
    """The truth about a board. Feasible to about two million joint states: 6x6 with 4 agents, in seconds at worst."""
    steps = [steps_of(board, agent) for agent in range(board.num_agents)]
    makespan = _cheapest(board, steps, sums=False, waiting=True)
    if makespan is None:
        return Truth("unsolvable")
    costs = _cheapest(board, steps, sums=True, waiting=True)
    assert costs is not None
    without_wait = _cheapest(board, steps, sums=False, waiting=False, most=makespan)
    costs_without_wait = _cheapest(board, steps, sums=True, waiting=False, most=costs)
    return Truth("solved", makespan, costs, without_wait is None, costs_without_wait is None)


def steps_of(board: Board, agent: int) -> Steps:
    """By the letters of the board: onto free cells and own doors, from one-way ice only in the direction of its arrow."""
    letter = {(r, c): row[c] for r, row in enumerate(board.rows) for c in range(board.width) if row[c] != "H"}
    around = {"^": (-1, 0), "v": (1, 0), "<": (0, -1), ">": (0, 1)}

    def may_enter(cell: Cell) -> bool:
        return cell in letter and (not letter[cell].isdigit() or letter[cell] == str(agent))

    return {
        (r, c): [
            (r + dr, c + dc)
            for arrow, (dr, dc) in around.items()
            if may_enter((r + dr, c + dc)) and (letter[r, c] == arrow or letter[r, c] not in around)
        ]
        for r, c in letter
    }


def _cheapest(board: Board, steps: Sequence[Steps], *, sums: bool, waiting: bool, most: int = UNREACHED) -> int | None:
    """The least cost from the starts to all agents being parked, None if it is above ``most`` or there is no way.

    Args:
        sums: a step costs the number of agents that have not parked before it; else 1.
        waiting: an agent that has not parked may wait.
    """
    place_of = {cell: place for place, cell in enumerate(steps[0])}
    parked = len(place_of)
    after = np.full((board.num_agents, parked + 1, 6), -1)
    still = np.full((board.num_agents, parked + 1), UNREACHED)
    for i, agent in enumerate(board.agents):
        for here, place in place_of.items():
            cells = steps[i][here] + [here] * waiting
            places = [place_of[cell] for cell in cells] + [parked] * (agent.goal in cells)
            after[i, place, : len(places)] = places
        after[i, parked, 0] = parked
        still[i, [place_of[agent.goal], parked]] = 0
        for _ in place_of:
            needed = np.append(still[i], UNREACHED)[after[i]] + 1  # -1 reads the appended one
            still[i] = np.minimum(still[i], needed.min(axis=1))
    goal = np.array([place_of[agent.goal] for agent in board.agents])
    begins = [(place_of[agent.start], *[parked] * (agent.start == agent.goal)) for agent in board.agents]
    costs = [_search(after, still, np.array(start), goal, sums, most) for start in product(*begins)]
    return min((cost for cost in costs if cost >= 0), default=None)


@njit(cache=True)
def _search(after, still, start, goal, sums, most):
    """:func:`_cheapest` on numbers, -1 for None.

    Args:
        after: ``[agent, place, n]`` the places one step later, filled up with -1.
        still: ``[agent, place]`` steps to the goal when no agent is in the way.
        start, goal: places.
    """
    num_agents, places = len(start), after.shape[1]
    parked = places - 1
    states = places**num_agents
    least = np.full(states, UNREACHED, np.int16)  # cost of the cheapest way found
    total = np.full(states, UNREACHED, np.int16)  # the same and what is still needed at least
    settled = np.zeros(states, np.bool_)
    stack = np.empty(states, np.int64)
    now, then, choice = np.empty(num_agents, np.int64), np.empty(num_agents, np.int64), np.empty(num_agents, np.int64)

    state, need = 0, 0
    for i in range(num_agents):
        state = state * places + start[i]
        need = need + still[i, start[i]] if sums else max(need, still[i, start[i]])
    if need >= UNREACHED:
        return -1
    least[state], total[state] = 0, need
    level, highest = need, need
    while level <= min(highest, most):
        height = 0
        for state in range(states):
            if total[state] == level and not settled[state]:
                stack[height] = state
                height += 1
        while height > 0:
            height -= 1
            state = stack[height]
            settled[state] = True
            cost, rest, step = least[state], state, 0
            for i in range(num_agents - 1, -1, -1):
                now[i] = rest % places
                rest //= places
                step += now[i] != parked
            if step == 0:
                return cost
            if not sums:
                step = 1
            # All combinations of the agents' moves, agent by agent.
            i = 0
            choice[0] = -1
            while i >= 0:
                choice[i] += 1
                if choice[i] == after.shape[2] or after[i, now[i], choice[i]] < 0:
                    i -= 1
                    continue
                then[i] = after[i, now[i], choice[i]]
                if not _fits(now, then, goal, parked, i):
                    continue
                if i < num_agents - 1:
                    i += 1
                    choice[i] = -1
                    continue
                reached, need = 0, 0
                for j in range(num_agents):
                    reached = reached * places + then[j]
                    need = need + still[j, then[j]] if sums else max(need, still[j, then[j]])
                if need < UNREACHED and least[reached] > cost + step:
                    least[reached] = cost + step
                    total[reached] = cost + step + need
                    highest = max(highest, total[reached])
                    if total[reached] == level:
                        stack[height] = reached
                        height += 1
        level += 1
    return -1


@njit(cache=True)
def _fits(now, then, goal, parked, i):
    """Whether the step of agent ``i`` is legal beside those of the agents before it: no shared cell, no swap."""
    here = goal[i] if now[i] == parked else now[i]
    there = goal[i] if then[i] == parked else then[i]
    for j in range(i):
        other_here = goal[j] if now[j] == parked else now[j]
        other_there = goal[j] if then[j] == parked else then[j]
        if there == other_there or (there == other_here and here == other_there):
            return False
    return True
