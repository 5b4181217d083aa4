"""The graph of a board: numbered vertices, their neighbours, and distances between them. Imports numba.

Vertices are the frozen cells from which some goal can be reached, numbered 0..m-1.
"""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

import numpy as np

from frozenlab.lake.kernels.compiled import kernel
from frozenlab.lake.kernels.grid import neighbour
from frozenlab.lake.kernels.limits import FAR


@kernel
def number_cells(free, width, goal_cells, vertex_of, cell_of, adjacent):
    """Numbers the frozen cells from which some goal can be reached; returns how many there are.

    Args:
        vertex_of: ``[cell]``, gets the vertex of a cell, -1 where there is none.
        cell_of: ``[vertex]``, gets the cell of a vertex.
        adjacent: ``[vertex, 4]``, gets the neighbours of a vertex, filled up with -1.
    """
    cells = free.shape[0]
    vertex_of[:] = -1
    m = 0
    for goal in goal_cells:
        if vertex_of[goal] >= 0:
            continue
        vertex_of[goal] = m
        cell_of[m] = goal
        head = m
        m += 1
        while head < m:
            for direction in range(4):
                other = neighbour(cell_of[head], direction, width, cells)
                if other >= 0 and free[other] and vertex_of[other] < 0:
                    vertex_of[other] = m
                    cell_of[m] = other
                    m += 1
            head += 1
    for a in range(m):
        n = 0
        for direction in range(4):
            other = neighbour(cell_of[a], direction, width, cells)
            if other >= 0 and free[other]:
                adjacent[a, n] = vertex_of[other]
                n += 1
        for rest in range(n, 4):
            adjacent[a, rest] = -1
    return m


@kernel
def distances(adjacent, m, target, out, queue):
    """Breadth-first distances of all vertices to ``target`` into ``out`` (FAR where there is no path)."""
    for a in range(m):
        out[a] = FAR
    out[target] = 0
    queue[0] = target
    head, tail = 0, 1
    while head < tail:
        a = queue[head]
        head += 1
        for n in range(4):
            b = adjacent[a, n]
            if b < 0:
                break
            if out[b] == FAR:
                out[b] = out[a] + 1
                queue[tail] = b
                tail += 1


@kernel
def steps_from_start(team, problem):
    """``[agent, vertex]`` steps from an agent's start to a vertex (FAR: no path); the last column is for *parked*."""
    m, goals = problem.m, problem.goals
    steps = np.empty((problem.starts.shape[0], m + 1), np.int16)
    queue = np.empty(m, np.int64)
    for i in team:
        distances(problem.adjacent, m, problem.starts[i], steps[i], queue)
        steps[i, m] = steps[i, goals[i]]
    return steps
