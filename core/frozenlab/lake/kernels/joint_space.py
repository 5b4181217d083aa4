"""Searches of the joint states of a team: depth-first within a bound, and breadth-first of the whole space. Imports numba.

The first, iterated over rising bounds, is IDA* (Korf 1985). It decides one agent's move at a time (operator decomposition, Standley 2010).
A transposition table holds the largest bound that was tried in each joint state. The bound is either on time steps or on *delay*: what
agents spend over their distances. The second is exact for any bound, and proves that a board has no solution.
"""

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from frozenlab.lake.kernels.compiled import inlined, kernel, kernel_of
from frozenlab.lake.kernels.limits import FAILED, FOUND, GAVE_UP, HORIZON, SOLVED, UNSOLVABLE
from frozenlab.lake.kernels.moves import MODEL
from frozenlab.lake.kernels.problem import PROBLEM, bits_per_agent, vertices_of


class Memo(NamedTuple):
    """Transposition table: a slot whose stamp is not the current one counts as empty."""

    keys: NDArray[np.int64]
    entries: NDArray[np.int64]
    """``stamp << 16 | bound tried + 1``; the length is a power of two."""
    stamp: NDArray[np.int64]
    """One element, the current stamp."""
    nodes: NDArray[np.int64]
    """One element, nodes spent so far."""


class Scratch(NamedTuple):
    """Where a search works."""

    memo: Memo
    positions: NDArray[np.int16]
    """``[time, agent]`` vertices; holds the plan when one was FOUND."""


MEMO = types.NamedUniTuple(types.int64[::1], 4, Memo)
SCRATCH = types.NamedTuple([MEMO, types.int16[:, ::1]], Scratch)
"""Numba's types of these."""


def new_memo(bits: int) -> Memo:
    """A transposition table of ``2**bits`` slots (16 bytes each)."""
    return Memo(np.zeros(1 << bits, np.int64), np.zeros(1 << bits, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))


@inlined
def admissible(p, t, vertex, limit, team, problem, pairs, positions):
    """Whether the agent at place p of the team may go to ``vertex`` at time t + 1, as far as the agents before it are concerned.

    They have moved already. None of them may be in the same cell or swap cells with it, and none may form a pair with it that needs more
    than ``limit``.
    """
    m, goals = problem.m, problem.goals
    i = team[p]
    here = positions[t, i]
    cell_here = goals[i] if here == m else here
    cell = goals[i] if vertex == m else vertex
    for q in range(p):
        j = team[q]
        vertex_j = positions[t + 1, j]
        cell_j = goals[j] if vertex_j == m else vertex_j
        was = positions[t, j]
        cell_was = goals[j] if was == m else was
        if cell == cell_j or (cell == cell_was and cell_here == cell_j):
            return False
        if pairs.shape[0] > 0 and pairs[j, i, vertex_j, vertex] > limit:
            return False
    return True


@inlined
def tried(memo, key, rest, table_bits):
    """Whether the joint state ``key`` was tried with a bound of ``rest`` or more; if not, it is noted as tried with ``rest``.

    Where four slots in a row are taken, the one with the least bound is given up.
    """
    stamp = memo.stamp[0]
    mask = (1 << table_bits) - 1
    slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - table_bits))
    weakest, place = np.int64(1 << 60), slot
    for probe in range(4):
        s = (slot + probe) & mask
        entry = memo.entries[s]
        if entry >> 16 != stamp:
            place = s
            break
        if memo.keys[s] == key:
            place = s
            if (entry & 0xFFFF) > rest:
                return True
            break
        if (entry & 0xFFFF) < weakest:
            weakest, place = entry & 0xFFFF, s
    memo.keys[place] = key
    memo.entries[place] = (stamp << 16) | (rest + 1)
    return False


@kernel_of(
    types.UniTuple(types.int64, 2)(
        types.int64[::1], PROBLEM, MODEL, types.int16[:, :, :, ::1], types.boolean, types.int64, types.int64, SCRATCH
    )
)
def search(team, problem, model, pairs, by_delay, bound, budget, scratch):
    """Looks for a plan of ``team`` within ``bound``: (FOUND, length), (FAILED, 0) if there is none, (GAVE_UP, 0) after ``budget`` nodes.

    Args:
        pairs: ``[i, j, vertex, vertex]`` fewest steps of agents i < j, with ``by_delay`` their least delay; empty: not known.
        by_delay: the bound is on the delay of all agents together instead of time steps.

    A joint state is noted as tried with the bound that is left when it is *entered*. This is sound: the note can only be wrong if
    the state has a plan, and then that plan is found before the search leaves the state, which ends the call.
    """
    memo, positions = scratch.memo, scratch.positions
    memo.stamp[0] += 1
    m, after, n_after, least = problem.m, model.after, model.n_after, model.least
    k = team.shape[0]
    bits = bits_per_agent(m)
    table_bits = 6
    while (1 << table_bits) < 4 * budget and (1 << (table_bits + 1)) <= memo.entries.shape[0]:
        table_bits += 1

    step_cost = 0 if by_delay else 1
    parks = least[team[0], problem.goals[team[0]]] > 0
    left = np.empty((HORIZON + 1, k + 1), np.int64)  # of the bound, after this step, once agents 0..p-1 of the team have moved
    choice = np.empty((HORIZON + 1, k), np.int64)
    for p in range(k):
        i = team[p]
        positions[0, i] = problem.starts[i]
        if not by_delay and problem.distance[i, problem.starts[i]] > bound:
            return FAILED, 0
    left[0, 0] = bound - step_cost
    choice[0, 0] = 0
    nodes = 0
    t, p = 0, 0
    while True:
        i = team[p]
        here = positions[t, i]
        at_home = t == 0 and parks and here == problem.goals[i]  # then it is done already, unless it leaves
        moved = False
        while not moved and choice[t, p] < n_after[i, here] + at_home:
            vertex = m if at_home and choice[t, p] == 0 else after[i, here, choice[t, p] - at_home]
            choice[t, p] += 1
            delay = 0
            if by_delay and here != m and not (at_home and vertex == m):
                delay = least[i, vertex] + 1 - (0 if at_home else least[i, here])
            if (delay if by_delay else least[i, vertex]) > left[t, p]:
                break  # successors come in ascending order of what is left to go
            left[t, p + 1] = left[t, p] - delay
            if admissible(p, t, vertex, left[t, p + 1], team, problem, pairs, positions):
                positions[t + 1, i] = vertex
                moved = True
        if not moved:
            if p > 0:
                p -= 1
            elif t > 0:
                t -= 1
                p = k - 1
            else:
                memo.nodes[0] += nodes
                return FAILED, 0
            continue
        if p < k - 1:
            p += 1
            choice[t, p] = 0
            continue

        # all agents have moved: a joint state at time t + 1
        done = True
        key = np.int64(0)
        for q in range(k):
            j = team[q]
            key = (key << bits) | np.int64(positions[t + 1, j])
            if least[j, positions[t + 1, j]] > 0:
                done = False
        if done:
            memo.nodes[0] += nodes
            return FOUND, t + 1
        nodes += 1
        if nodes > budget or t + 2 > HORIZON:
            memo.nodes[0] += nodes
            return GAVE_UP, 0
        if tried(memo, key, left[t, k], table_bits):
            continue
        t += 1
        p = 0
        left[t, 0] = left[t - 1, k] - step_cost
        choice[t, 0] = 0


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
