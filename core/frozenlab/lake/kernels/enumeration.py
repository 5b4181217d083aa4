"""Breadth-first search of a whole joint space: exact for any bound, and the proof that a board has no solution. Imports numba."""

import numpy as np

from frozenlab.lake.kernels.compiled import kernel
from frozenlab.lake.kernels.limits import SOLVED, UNSOLVABLE
from frozenlab.lake.kernels.problem import vertices_of


@kernel
def enumerate_joint_space(team, problem, model, positions):
    """Breadth-first search of the whole joint space back from the goals, WAIT allowed: (SOLVED, makespan) or (UNSOLVABLE, 0).

    Exact for any bound; memory is about 6 bytes a joint state of the team. Fills ``positions`` with an optimal plan.
    """
    starts, goals = problem.starts, problem.goals
    k = team.shape[0]
    vertex_at = vertices_of(team, problem)
    n = vertex_at.shape[0]
    local = np.full(problem.m, -1, np.int64)
    for place in range(n):
        local[vertex_at[place]] = place
    power = np.empty(k + 1, np.int64)
    power[0] = 1
    for p in range(k):
        power[p + 1] = power[p] * n
    steps = np.full(power[k], -1, np.int16)
    queue = np.empty(power[k], np.int32)
    source = np.int64(0)
    target = np.int64(0)
    for p in range(k):
        source += local[goals[team[p]]] * power[p]
        target += local[starts[team[p]]] * power[p]
    steps[source] = 0
    queue[0] = source
    head, tail = np.int64(0), np.int64(1)
    now = np.empty(k, np.int64)
    then = np.empty(k, np.int64)
    choice = np.empty(k, np.int64)
    # forth = False: spread back from the goals until the starts are met; then forth: follow falling step counts from the starts
    forth = False
    moves, n_moves = model.before, model.n_before
    state = source
    t = 0
    while True:
        if not forth:
            if steps[target] >= 0:
                forth = True
                moves, n_moves = model.after, model.n_after
                state = target
                makespan = np.int64(steps[target])
            elif head == tail:
                return UNSOLVABLE, 0
            else:
                state = queue[head]
                head += 1
        if forth:
            for p in range(k):
                positions[t, team[p]] = vertex_at[(state // power[p]) % n]
            if steps[state] == 0:
                return SOLVED, makespan
        for p in range(k):
            now[p] = vertex_at[(state // power[p]) % n]
        depth = steps[state]
        following = np.int64(-1)
        p = 0
        choice[0] = 0
        while p >= 0:
            i = team[p]
            moved = False
            while choice[p] < n_moves[i, now[p]]:
                vertex = moves[i, now[p], choice[p]]
                choice[p] += 1
                conflict = False
                for q in range(p):
                    if vertex == then[q] or (vertex == now[q] and now[p] == then[q]):
                        conflict = True
                        break
                if not conflict:
                    then[p] = vertex
                    moved = True
                    break
            if not moved:
                p -= 1
            elif p < k - 1:
                p += 1
                choice[p] = 0
            else:
                other = np.int64(0)
                for q in range(k):
                    other += local[then[q]] * power[q]
                if forth:
                    if steps[other] == depth - 1:
                        following = other
                        break
                elif steps[other] < 0:
                    steps[other] = depth + 1
                    queue[tail] = other
                    tail += 1
        if forth:
            state = following
            t += 1
