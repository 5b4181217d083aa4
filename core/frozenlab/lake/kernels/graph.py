"""The graph of a board: numbered vertices, the moves between them, and distances. Imports numba.

Vertices are the cells from which some goal can be reached if all doors are open, numbered 0..m-1. A move need not be possible both ways: a
search from a start reads the successors of a vertex, a search back from a goal its predecessors. Both have the doors of others in them; the
distances of an agent go around them.
"""

import numpy as np

from frozenlab.lake.kernels.compiled import kernel, light_kernel
from frozenlab.lake.kernels.grid import DIRECTIONS, cell_towards, locked, write_entries
from frozenlab.lake.kernels.limits import FAR

SHUT = -1
"""Stands for a door of another agent while distances are measured."""


@kernel
def number_cells(exits, width, goal_cells, vertex_of, cell_of, successors, predecessors):
    """Numbers the cells from which some goal can be reached; returns how many there are.

    Args:
        vertex_of: ``[cell]``, gets the vertex of a cell, -1 where there is none.
        cell_of: ``[vertex]``, gets the cell of a vertex.
        successors, predecessors: ``[vertex, direction]``, get the vertices one move after and before a vertex, filled up with -1.
    """
    entries = np.empty(exits.shape[0], np.uint8)
    write_entries(exits, width, entries)
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
            n = 0
            for direction in range(DIRECTIONS):
                if entries[cell_of[head]] >> direction & 1:
                    other = cell_towards(cell_of[head], direction, width)
                    if vertex_of[other] < 0:
                        vertex_of[other] = m
                        cell_of[m] = other
                        m += 1
                    predecessors[head, n] = vertex_of[other]
                    n += 1
            for rest in range(n, DIRECTIONS):
                predecessors[head, rest] = -1
            head += 1
    for a in range(m):
        n = 0
        for direction in range(DIRECTIONS):
            if exits[cell_of[a]] >> direction & 1:
                other = vertex_of[cell_towards(cell_of[a], direction, width)]
                if other >= 0:
                    successors[a, n] = other
                    n += 1
        for rest in range(n, DIRECTIONS):
            successors[a, rest] = -1
    return m


@light_kernel
def distances(moves, m, source, exits, cell_of, agent, out, queue):
    """Breadth-first distances of all vertices into ``out``: from ``source``, or to it if ``moves`` are predecessors; FAR: no
    path, or none of less than FAR steps.

    Args:
        exits, cell_of: of the board; ``agent``: its number on the board, which says what doors it has no key for.
    """
    shut = 0
    for a in range(m):
        out[a] = FAR
        if locked(exits[cell_of[a]], agent):
            out[a] = SHUT
            shut += 1
    out[source] = 0
    queue[0] = source
    head, tail = 0, 1
    while head < tail:
        a = queue[head]
        head += 1
        if out[a] == FAR - 1:
            break
        for n in range(DIRECTIONS):
            b = moves[a, n]
            if b < 0:
                break
            if out[b] == FAR:
                out[b] = out[a] + 1
                queue[tail] = b
                tail += 1
    if shut > 0:
        for a in range(m):
            if out[a] == SHUT:
                out[a] = FAR


@kernel
def steps_from_start(team, problem):
    """``[agent, vertex]`` steps from an agent's start to a vertex (FAR: no path); the last column is for *parked*."""
    m, goals = problem.m, problem.goals
    steps = np.empty((problem.starts.shape[0], m + 1), np.int16)
    queue = np.empty(m, np.int64)
    for i in team:
        distances(problem.successors, m, problem.starts[i], problem.exits, problem.cell_of, problem.order[i], steps[i], queue)
        steps[i, m] = steps[i, goals[i]]
    return steps
