"""A plain exhaustive search over the joint positions of all agents, to hold the solver against. Shares nothing with its kernels.

States are visited in order of their cost (Dijkstra with buckets); all states of one cost are expanded at once with NumPy.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from core.lake.board import MOVES, Board
from core.lake.solver import Solution


def brute_force(board: Board) -> Solution:
    """The true solution of a board, without a plan. Feasible to about 15,000 joint positions."""
    makespan = _cheapest(board, parking=False, waiting=True, sums=False)
    if makespan is None:
        return Solution("unsolvable")
    return Solution(
        "solved",
        makespan,
        _cheapest(board, parking=True, waiting=True, sums=True),
        _cheapest(board, parking=True, waiting=False, sums=False) != makespan,
    )


def _cheapest(board: Board, *, parking: bool, waiting: bool, sums: bool) -> int | None:
    """The least cost from the starts to all agents being done, None if there is no way.

    Args:
        parking: an agent is done when it parks on its goal, from where it never moves again; else when it stands there with all others.
        waiting: an agent that has not parked may wait.
        sums: a step costs the number of agents that have not parked before it; else 1.
    """
    n = board.height * board.width
    states = n + 1  # the last one: parked
    after = []
    for agent in board.agents:
        goal = agent.goal[0] * board.width + agent.goal[1]
        moves: list[list[int]] = []
        for r, c in product(range(board.height), range(board.width)):
            cells = [(r + dr, c + dc) for dr, dc in MOVES.values() if waiting or (dr, dc) != (0, 0)]
            moves.append([y * board.width + x for y, x in cells if board.contains((y, x)) and not board.is_hole((y, x))])
        moves = [found + [n] * (parking and goal in found) for found in moves] + [[n]]
        after.append(np.array([found + [-1] * (6 - len(found)) for found in moves]))
    cell_of = [np.append(np.arange(n), agent.goal[0] * board.width + agent.goal[1]) for agent in board.agents]
    choices = list(product(range(6), repeat=board.team))
    powers = states ** np.arange(board.team)

    start = np.array([agent.start[0] * board.width + agent.start[1] for agent in board.agents])
    done = np.array([n if parking else agent.goal[0] * board.width + agent.goal[1] for agent in board.agents])
    visited = np.zeros(states**board.team, bool)
    waiting_room = {0: [start[None]]}
    while waiting_room:
        cost = min(waiting_room)
        now = np.concatenate(waiting_room.pop(cost))
        _, first = np.unique(now @ powers, return_index=True)
        now = now[first]
        now = now[~visited[now @ powers]]
        visited[now @ powers] = True
        if (now == done).all(axis=1).any():
            return cost
        then = np.stack([after[i][now[:, i]][:, [choice[i] for choice in choices]] for i in range(board.team)], axis=-1)
        was = np.broadcast_to(now[:, None], then.shape)
        legal = (then >= 0).all(axis=-1)
        new = [cell_of[i][then[..., i]] for i in range(board.team)]
        old = [cell_of[i][was[..., i]] for i in range(board.team)]
        for i, j in combinations(range(board.team), 2):
            legal &= new[i] != new[j]
            legal &= ~((new[i] == old[j]) & (new[j] == old[i]))
        legal &= ~visited[np.where(legal, then @ powers, 0)]
        steps = np.broadcast_to((now != n).sum(axis=1)[:, None] if sums else 1, legal.shape)
        for step in np.unique(steps[legal]):
            waiting_room.setdefault(cost + int(step), []).append(then[legal & (steps == step)])
    return None
