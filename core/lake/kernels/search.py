"""Compiled search: optimal makespan, the certificate of ``needs_wait``, proofs of unsolvability.

Importing this module imports numba and compiles (or loads from its cache) every kernel, so import it only where something is solved.

How it works. Free cells are numbered 0..m-1 (*codes*); code ``m`` means *parked*: on the goal for good. Three movement models share one
search, and differ only in the table of successor codes:

* ``FREE``: an agent moves or waits; it is done when all stand on their goals at once. Decides the makespan.
* ``STEADY``: an agent moves at every step until it parks. A plan of the optimal makespan here means that no WAIT is needed.
* ``COSTED``: an agent moves or waits until it parks, and each step before that costs one. Decides the sum of costs (costs.py).

:func:`search` is a depth-first search over joint states that decides one agent's move at a time (operator decomposition), bounded by the
time (or the cost) that is left, with a transposition table of the largest bound tried in each joint state. Iterated over rising bounds it
is IDA* (Korf 1985). Plans are looked for by prioritised planning too (:func:`plan_in_turn`). Lower bounds come from subsets of the agents
(if three cannot do it in time, neither can five) and from exact tables of all pairs of agents. Joint spaces that resist and are small
enough are enumerated by breadth-first search from the goals, which also proves that a board has no solution. Boards that are too large
for joint states get what prioritised planning finds (:func:`enclose`). All effort is limited in nodes, never in seconds, so results are
the same everywhere.
"""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from frozenlab.lake.kernels.compiled import entry, inlined, kernel, kernel_of
from frozenlab.lake.kernels.grid import neighbour
from frozenlab.lake.kernels.judge import DOWN, LEFT, RIGHT, UP, WAIT

FREE, STEADY, COSTED = 0, 1, 2
FOUND, FAILED, GAVE_UP = 1, 0, -1
SOLVED, UNSOLVABLE, UNDECIDED, ENCLOSED = 1, 0, -1, 2
BRANCH = 6
"""Most successors of a code: four neighbours, WAIT, and the goal cell both passing and parking."""
FAR = 30_000
"""Stands for "never" in int16 tables of distances."""
HORIZON = 1024
"""Longest plan, in time steps, that the buffers hold."""
KEY_BITS = 62
"""A joint state is packed into so many bits."""
SMALL_SPACE = 1 << 14
"""Joint spaces up to this many states are enumerated as soon as the first search fails."""
LARGE_SPACE = 1 << 18
"""Those up to this many states, as soon as searching for longer has failed too."""
PATIENCE = 6
"""How far the bound rises before larger joint spaces are enumerated."""
TRIES = 20
"""Orders of the agents that :func:`enclose` tries for a horizon."""

GLANCE = 300
"""Nodes of a first look, without tables."""
BUDGET_BULK = np.array([GLANCE, 2_000, 10_000, 30_000, 1 << 14], dtype=np.int64)
"""Nodes of the first, second, ... try; at last the states of the largest joint space that is enumerated. For drawing boards in bulk."""
BUDGET_FULL = np.array([GLANCE, 2_000, 10_000, 100_000, 1_000_000, 10_000_000, 1 << 24], dtype=np.int64)
"""The same for a single board."""


class Model(NamedTuple):
    """The tables of one movement model; see :func:`movement`."""

    after: NDArray[np.int16]
    """``[agent, code, n]`` codes one step after a code, nearest to the goal first."""
    n_after: NDArray[np.int16]
    before: NDArray[np.int16]
    """``[agent, code, n]`` codes one step before a code."""
    n_before: NDArray[np.int16]
    least: NDArray[np.int16]
    """``[agent, code]`` fewest steps from a code to being done when no other agent is in the way."""


class Memo(NamedTuple):
    """Transposition table: where a slot's stamp is not the current one, the slot counts as empty."""

    keys: NDArray[np.int64]
    entries: NDArray[np.int64]
    """``stamp << 16 | bound tried + 1``; the length is a power of two."""
    stamp: NDArray[np.int64]
    """One element, the current stamp."""
    nodes: NDArray[np.int64]
    """One element, nodes spent so far."""


MODEL = types.NamedTuple(
    [types.int16[:, :, ::1], types.int16[:, ::1], types.int16[:, :, ::1], types.int16[:, ::1], types.int16[:, ::1]], Model
)
MEMO = types.NamedUniTuple(types.int64[::1], 4, Memo)
"""Numba's types of these."""


def new_memo(bits: int) -> Memo:
    """A transposition table of ``2**bits`` slots (16 bytes each)."""
    return Memo(np.zeros(1 << bits, np.int64), np.zeros(1 << bits, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))


@kernel
def graph(free, width, goal_cells, code_of, cell_of, adjacent):
    """Numbers the frozen cells from which some goal can be reached, and fills their neighbours (-1: none, always last).

    ``code_of`` is -1 elsewhere. Gives back how many there are.
    """
    cells = free.shape[0]
    code_of[:] = -1
    m = 0
    for goal in goal_cells:
        if code_of[goal] >= 0:
            continue
        code_of[goal] = m
        cell_of[m] = goal
        head = m
        m += 1
        while head < m:
            for direction in range(4):
                other = neighbour(cell_of[head], direction, width, cells)
                if other >= 0 and free[other] and code_of[other] < 0:
                    code_of[other] = m
                    cell_of[m] = other
                    m += 1
            head += 1
    for a in range(m):
        n = 0
        for direction in range(4):
            other = neighbour(cell_of[a], direction, width, cells)
            if other >= 0 and free[other]:
                adjacent[a, n] = code_of[other]
                n += 1
        for rest in range(n, 4):
            adjacent[a, rest] = -1
    return m


@kernel
def distances(adjacent, m, target, out, queue):
    """Breadth-first distances of all codes to ``target`` into ``out`` (FAR where there is no way)."""
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


@kernel_of(MODEL(types.int64, types.int64[:, ::1], types.int64, types.int64[::1], types.int16[:, ::1]))
def movement(model, adjacent, m, goals, distance):
    """The tables of movement model ``model`` (FREE, STEADY or COSTED) for agents with these goals."""
    k = goals.shape[0]
    after = np.empty((k, m + 1, BRANCH), np.int16)
    before = np.empty((k, m + 1, BRANCH), np.int16)
    n_after = np.zeros((k, m + 1), np.int16)
    n_before = np.zeros((k, m + 1), np.int16)
    least = np.empty((k, m + 1), np.int16)
    for i in range(k):
        goal = goals[i]
        for c in range(m):
            least[i, c] = distance[i, c]
        least[i, m] = 0
        if model != FREE:
            least[i, goal] = 2
        for c in range(m):
            if distance[i, c] == FAR:
                continue
            n = 0
            for q in range(4):
                b = adjacent[c, q]
                if b < 0:
                    break
                after[i, c, n] = b
                before[i, c, n] = b
                n += 1
            if model != STEADY:
                after[i, c, n] = c
                before[i, c, n] = c
                n += 1
            n_before[i, c] = n
            if model != FREE and distance[i, c] == 1:
                after[i, c, n] = m
                n += 1
            n_after[i, c] = n
            for p in range(1, n):  # insertion sort, stable, by what is left to go
                code = after[i, c, p]
                q = p - 1
                while q >= 0 and least[i, after[i, c, q]] > least[i, code]:
                    after[i, c, q + 1] = after[i, c, q]
                    q -= 1
                after[i, c, q + 1] = code
        if model != FREE:
            after[i, m, 0] = m
            n_after[i, m] = 1
            before[i, m, 0] = m
            n = 1
            for q in range(4):
                b = adjacent[goal, q]
                if b < 0:
                    break
                before[i, m, n] = b
                n += 1
            n_before[i, m] = n
    return Model(after, n_after, before, n_before, least)


@kernel
def pair_bounds(i, j, m, goals, done_i, done_j, since, limit, model, out, queue):
    """Exact fewest steps until agents i and j are both done, from every pair of codes, the other agents left out.

    FAR where it is never, and where the two cannot have come in time for a plan of ``limit`` steps: ``since[agent, code]`` is the least
    number of steps from an agent's start to a code. ``queue`` has room for every pair of codes.
    """
    before, n_before = model.before, model.n_before
    side = m + 1
    for a in range(side):
        for b in range(side):
            out[a, b] = FAR
    out[done_i, done_j] = 0
    queue[0, 0], queue[0, 1] = done_i, done_j
    head, tail = 0, 1
    while head < tail:
        a, b = queue[head, 0], queue[head, 1]
        head += 1
        steps = out[a, b] + 1
        cell_a = goals[i] if a == m else a
        cell_b = goals[j] if b == m else b
        for p in range(n_before[i, a]):
            a2 = before[i, a, p]
            cell_a2 = goals[i] if a2 == m else a2
            if since[i, a2] + steps > limit:
                continue
            for q in range(n_before[j, b]):
                b2 = before[j, b, q]
                if out[a2, b2] != FAR or since[j, b2] + steps > limit:
                    continue
                cell_b2 = goals[j] if b2 == m else b2
                if cell_a2 == cell_b2 or (cell_a2 == cell_b and cell_b2 == cell_a):
                    continue
                out[a2, b2] = steps
                queue[tail, 0], queue[tail, 1] = a2, b2
                tail += 1


@kernel
def joint_bits(m):
    """How many bits of a joint state hold one agent's code."""
    bits = 1
    while (1 << bits) <= m:
        bits += 1
    return bits


@kernel_of(
    types.UniTuple(types.int64, 2)(
        types.int64[::1],
        types.int64[::1],
        types.int64[::1],
        types.int64,
        MODEL,
        types.int16[:, :, :, ::1],
        types.boolean,
        types.boolean,
        types.int64,
        types.int64,
        MEMO,
        types.int16[:, ::1],
    )
)
def search(team, starts, goals, m, model, pairs, has_pairs, costed, bound, budget, memo, codes):
    """Looks for a plan of ``team`` within ``bound``: (FOUND, length), (FAILED, 0) if there is none, (GAVE_UP, 0) after ``budget`` nodes.

    Args:
        team: the agents, ascending.
        bound: time steps; with ``costed`` the steps that the agents together may waste over their distances.
        pairs: ``[i, j, code, code]`` fewest steps of two agents, with ``costed`` their least waste; read for i < j if ``has_pairs``.
        codes: ``[time, agent]``, gets the plan when FOUND.

    A joint state is noted as tried with the bound that is left when it is *entered*. This is sound: the note can only be wrong if
    the state has a plan, and then that plan is found before the search leaves the state, which ends the call.
    """
    memo.stamp[0] += 1
    stamp = memo.stamp[0]
    after, n_after, least = model.after, model.n_after, model.least
    k = team.shape[0]
    bits = joint_bits(m)
    table_bits = 6
    while (1 << table_bits) < 4 * budget and (1 << (table_bits + 1)) <= memo.entries.shape[0]:
        table_bits += 1
    mask = (1 << table_bits) - 1

    left = np.empty(HORIZON + 1, np.int64)  # bound left before the step that leaves time t
    choice = np.empty((HORIZON + 1, k), np.int64)
    waste = np.empty((HORIZON + 1, k + 1), np.int64)  # costed: what is left once agents 0..p-1 of the team have moved
    for p in range(k):
        i = team[p]
        codes[0, i] = starts[i]
        if not costed and least[i, starts[i]] > bound:
            return FAILED, 0
    left[0] = bound
    waste[0, 0] = bound
    choice[0, 0] = 0
    nodes = 0
    t, p = 0, 0
    while True:
        i = team[p]
        here = codes[t, i]
        cell_here = goals[i] if here == m else here
        moved = False
        while choice[t, p] < n_after[i, here]:
            code = after[i, here, choice[t, p]]
            choice[t, p] += 1
            if costed:
                if here != m:
                    wasted = least[i, code] + 1 - least[i, here]
                    if wasted > waste[t, p]:
                        break  # successors come in ascending order of what is left to go
                    waste[t, p + 1] = waste[t, p] - wasted
                else:
                    waste[t, p + 1] = waste[t, p]
            elif least[i, code] >= left[t]:
                break
            cell = goals[i] if code == m else code
            clash = False
            for q in range(p):
                j = team[q]
                code_j = codes[t + 1, j]
                cell_j = goals[j] if code_j == m else code_j
                was = codes[t, j]
                cell_was = goals[j] if was == m else was
                if cell == cell_j or (cell == cell_was and cell_here == cell_j):
                    clash = True
                    break
                if has_pairs:
                    if costed:
                        if pairs[j, i, code_j, code] > waste[t, p + 1]:
                            clash = True
                            break
                    elif pairs[j, i, code_j, code] >= left[t]:
                        clash = True
                        break
            if not clash:
                codes[t + 1, i] = code
                moved = True
                break
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
            key = (key << bits) | np.int64(codes[t + 1, j])
            if least[j, codes[t + 1, j]] > 0:
                done = False
        if done:
            memo.nodes[0] += nodes
            return FOUND, t + 1
        nodes += 1
        if nodes > budget or t + 2 > HORIZON:
            memo.nodes[0] += nodes
            return GAVE_UP, 0
        rest = waste[t, k] if costed else left[t] - 1
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - table_bits))
        weakest, place = np.int64(1 << 60), slot
        known = False
        for probe in range(4):
            s = (slot + probe) & mask
            entry = memo.entries[s]
            if entry >> 16 != stamp:
                place = s
                break
            if memo.keys[s] == key:
                place = s
                known = (entry & 0xFFFF) > rest
                break
            if (entry & 0xFFFF) < weakest:
                weakest, place = entry & 0xFFFF, s
        if known:
            continue
        memo.keys[place] = key
        memo.entries[place] = (stamp << 16) | (rest + 1)
        t += 1
        p = 0
        left[t] = rest
        waste[t, 0] = rest
        choice[t, 0] = 0


@kernel
def enumerate_space(team, starts, goals, m, distance, model, codes):
    """Breadth-first search of the whole joint space back from the goals, WAIT allowed: (SOLVED, makespan) or (UNSOLVABLE, 0).

    Exact for any bound; memory is about 6 bytes a joint state of the team's connected component. Fills ``codes`` with an optimal plan.
    """
    after, n_after = model.after, model.n_after
    k = team.shape[0]
    local = np.full(m, -1, np.int64)
    code_at = np.empty(m, np.int64)
    n = 0
    for c in range(m):
        if distance[team[0], c] != FAR:
            local[c] = n
            code_at[n] = c
            n += 1
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
    state = source
    t = 0
    while True:
        if not forth:
            if steps[target] >= 0:
                forth = True
                state = target
                makespan = np.int64(steps[target])
            elif head == tail:
                return UNSOLVABLE, 0
            else:
                state = queue[head]
                head += 1
        if forth:
            for p in range(k):
                codes[t, team[p]] = code_at[(state // power[p]) % n]
            if steps[state] == 0:
                return SOLVED, makespan
        for p in range(k):
            now[p] = code_at[(state // power[p]) % n]
        depth = steps[state]
        following = np.int64(-1)
        p = 0
        choice[0] = 0
        while p >= 0:
            i = team[p]
            moved = False
            while choice[p] < n_after[i, now[p]]:
                code = after[i, now[p], choice[p]]
                choice[p] += 1
                clash = False
                for q in range(p):
                    if code == then[q] or (code == now[q] and now[p] == then[q]):
                        clash = True
                        break
                if not clash:
                    then[p] = code
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


@kernel
def ones(mask):
    """How many bits are set."""
    n = 0
    while mask:
        mask &= mask - 1
        n += 1
    return n


@kernel
def part_of(team, mask):
    """The agents of ``team`` whose bits are set in ``mask``."""
    out = np.empty(team.shape[0], np.int64)
    n = 0
    for p in range(team.shape[0]):
        if mask >> p & 1:
            out[n] = team[p]
            n += 1
    return out[:n]


@kernel
def led_by(leader, team_of):
    """The agents whose ``team_of`` is ``leader``, ascending."""
    out = np.empty(team_of.shape[0], np.int64)
    n = 0
    for i in range(team_of.shape[0]):
        if team_of[i] == leader:
            out[n] = i
            n += 1
    return out[:n]


@kernel
def all_pairs(team, goals, m, since, limit, model, parks):
    """``[i, j, code, code]`` of :func:`pair_bounds` for all i < j of the team; ``parks``: who is done has parked."""
    pairs = np.empty((goals.shape[0], goals.shape[0], m + 1, m + 1), np.int16)
    queue = np.empty(((m + 1) * (m + 1), 2), np.int16)
    for q in range(team.shape[0]):
        for p in range(q):
            i, j = team[p], team[q]
            done_i, done_j = (m, m) if parks else (goals[i], goals[j])
            pair_bounds(i, j, m, goals, done_i, done_j, since, limit, model, pairs[i, j], queue)
    return pairs


@kernel
def steps_since(team, starts, goals, m, adjacent):
    """``[agent, code]`` the least number of steps from each agent's start to a code (FAR: never)."""
    since = np.empty((starts.shape[0], m + 1), np.int16)
    queue = np.empty(m, np.int64)
    for i in team:
        distances(adjacent, m, starts[i], since[i], queue)
        since[i, m] = since[i, goals[i]]
    return since


@kernel
def widest_pair(team, starts, pairs):
    """The largest of the pairs' bounds from the starts."""
    most = 0
    for q in range(team.shape[0]):
        for p in range(q):
            i, j = team[p], team[q]
            most = max(most, pairs[i, j, starts[i], starts[j]])
    return most


@kernel_of(
    types.UniTuple(types.int64, 3)(
        types.int64[::1],
        types.int64,
        types.int64[::1],
        types.int64[::1],
        types.int64,
        types.int64[:, ::1],
        types.int16[:, ::1],
        types.boolean,
        types.boolean,
        types.int64,
        types.int16[:, ::1],
    )
)
def plan_in_turn(team, turn, starts, goals, m, adjacent, distance, waits, costed, bound, codes):
    """Prioritised planning (Erdmann and Lozano-Perez 1987): the agents plan one after the other, each around those before it.

    Each takes the first arrival for good that it can have, by breadth-first search over (time, code). What it finds is within ``bound`` as
    in :func:`search`; that it finds nothing proves nothing.

    Args:
        turn: the agent at place ``turn`` of the team is the first; then those after it, then those before it.
        waits: whether an agent may wait on its way.

    Returns:
        (FOUND, length of the plan in ``codes``, with ``costed`` what is left of ``bound``) or (GAVE_UP, 0, the place of
        the agent that finds no way)
    """
    k = team.shape[0]
    horizon = bound
    if costed:
        for p in range(k):
            horizon = max(horizon, bound + distance[team[p], starts[team[p]]])
    if horizon >= HORIZON:
        return GAVE_UP, 0, 0
    spare = bound
    length = 0
    came = np.empty((horizon + 1, m), np.int16)  # the code before, of those that are reached
    frontier = np.empty((2, m), np.int64)
    for q in range(k):
        place = (turn + q) % k
        i = team[place]
        goal = goals[i]
        last = spare + distance[i, starts[i]] if costed else bound
        clear = 0  # from this time on nobody else is on the goal
        for o in range(q):
            j = team[(turn + o) % k]
            for t in range(length, -1, -1):
                if codes[t, j] == goal:
                    clear = max(clear, t + 1)
                    break
        if clear > last:
            return GAVE_UP, 0, place
        t, n = 0, 1
        frontier[0, 0] = starts[i]
        while True:
            now = frontier[t & 1]
            arrived = False
            for f in range(n):
                if now[f] == goal and t >= clear:
                    arrived = True
            if arrived:
                break
            if t == last or n == 0:
                return GAVE_UP, 0, place
            then = frontier[(t + 1) & 1]
            came[t + 1, :] = -1
            n2 = 0
            for f in range(n):
                c = now[f]
                for direction in range(4 + waits):
                    code = c if direction == 4 else adjacent[c, direction]
                    if code < 0 or came[t + 1, code] >= 0 or t + 1 + distance[i, code] > last:
                        continue
                    free = True
                    for o in range(q):
                        j = team[(turn + o) % k]
                        ahead = codes[min(t + 1, length), j]
                        if ahead == code or (ahead == c and codes[min(t, length), j] == code):
                            free = False
                            break
                    if free:
                        came[t + 1, code] = c
                        then[n2] = code
                        n2 += 1
            n = n2
            t += 1
        for later in range(length + 1, t + 1):
            for o in range(q):
                j = team[(turn + o) % k]
                codes[later, j] = codes[length, j]
        length = max(length, t)
        for later in range(t, length + 1):
            codes[later, i] = goal
        c = goal
        for back in range(t, 0, -1):
            codes[back, i] = c
            c = came[back, c]
        codes[0, i] = c
        if costed:
            spare -= t - distance[i, starts[i]]
    return FOUND, length, spare


@kernel_of(
    types.UniTuple(types.int64, 2)(
        types.int64[::1],
        types.int64[::1],
        types.int64[::1],
        types.int64,
        types.int64[:, ::1],
        types.int16[:, ::1],
        MODEL,
        types.boolean,
        types.int64,
        types.int64[::1],
        MEMO,
        types.int16[:, ::1],
    )
)
def glance(team, starts, goals, m, adjacent, distance, model, waits, bound, known, memo, codes):
    """A first look for a plan of ``team`` within ``bound`` steps: few nodes, no tables; gives back what :func:`search` does.

    The whole team comes first, as most boards have a plan at once; then its pairs and triples, as most bounds that are too low are too
    low for two or three agents already. ``known[mask]`` is the least bound so far at which a plan of that subset was found (FAR: none);
    it is read and kept up.
    """
    no_pairs = np.empty((0, 0, 0, 0), np.int16)
    k = team.shape[0]
    for effort in (GLANCE, 10 * GLANCE):
        outcome = search(team, starts, goals, m, model, no_pairs, False, False, bound, effort, memo, codes)
        if outcome[0] != GAVE_UP:
            return outcome
        if effort == GLANCE:
            for turn in range(k):
                status, length, _ = plan_in_turn(team, turn, starts, goals, m, adjacent, distance, waits, False, bound, codes)
                if status == FOUND:
                    return FOUND, length
        for size in range(2, min(k, 4)):
            for mask in range(1 << k):
                if ones(mask) != size or known[mask] <= bound:
                    continue
                part = part_of(team, mask)
                status, _ = search(part, starts, goals, m, model, no_pairs, False, False, bound, effort, memo, codes)
                if status == FAILED:
                    return FAILED, 0
                if status == FOUND:
                    known[mask] = bound
    return GAVE_UP, 0


@kernel
def within(team, starts, goals, m, model, pairs, bound, budgets, known, memo, codes):
    """Looks for a plan of ``team`` within ``bound``, with rising effort: subsets of the agents, then all.

    Gives back what :func:`search` does.
    """
    k = team.shape[0]
    for effort in budgets:
        for size in range(3, k + 1):
            for mask in range(1 << k):
                if ones(mask) != size or known[mask] <= bound:
                    continue
                part = part_of(team, mask)
                status, length = search(part, starts, goals, m, model, pairs, True, False, bound, effort, memo, codes)
                if status == FAILED or (size == k and status == FOUND):
                    return status, length
                if status == FOUND:
                    known[mask] = bound
    return GAVE_UP, 0


@inlined
def team_makespan(team, starts, goals, m, adjacent, distance, model, at_least, budgets, memo, codes):
    """The least makespan from ``at_least`` on with which ``team``, all in one component, has a plan.

    Returns:
        (SOLVED | UNSOLVABLE | UNDECIDED, makespan, length of the plan in ``codes``)
    """
    bound = at_least
    k = team.shape[0]
    known = np.full(1 << k, FAR, np.int64)
    status, length = GAVE_UP, 0
    for bound in range(at_least, at_least + PATIENCE):
        status, length = glance(team, starts, goals, m, adjacent, distance, model, True, bound, known, memo, codes)
        if status != FAILED:
            break
    if status == FOUND:
        return SOLVED, bound, length
    cells = 0
    for c in range(m):
        if distance[team[0], c] != FAR:
            cells += 1
    if float(cells) ** k <= SMALL_SPACE:
        status, length = enumerate_space(team, starts, goals, m, distance, model, codes)
        return status, max(bound, length), length

    since = steps_since(team, starts, goals, m, adjacent)
    for limit in (bound + PATIENCE, HORIZON - 1):
        pairs = all_pairs(team, goals, m, since, limit, model, False)
        widest = np.int64(widest_pair(team, starts, pairs))
        if widest >= FAR and limit == HORIZON - 1:
            return UNSOLVABLE, 0, 0
        bound = max(bound, min(limit + 1, widest))
        status = FAILED
        before = memo.nodes[0]
        while bound <= limit and status == FAILED and memo.nodes[0] - before < 4 * budgets[-2]:
            status, length = within(team, starts, goals, m, model, pairs, bound, budgets[1:-1], known, memo, codes)
            bound += status == FAILED
        if status == FOUND:
            return SOLVED, bound, length
        if limit == HORIZON - 1:
            break
        if float(cells) ** k <= LARGE_SPACE:
            status, length = enumerate_space(team, starts, goals, m, distance, model, codes)
            return status, max(bound, length), length
        for size in range(3, k + 1):
            if float(cells) ** size > budgets[-1]:
                break
            for mask in range(1 << k):
                if ones(mask) != size or known[mask] <= bound:
                    continue
                part = part_of(team, mask)
                status, length = enumerate_space(part, starts, goals, m, distance, model, codes)
                if status == UNSOLVABLE:
                    return UNSOLVABLE, 0, 0
                bound = max(bound, length)
                known[mask] = length
                if size == k:
                    return SOLVED, bound, length
    return UNDECIDED, 0, 0


@inlined
def team_steady(team, starts, goals, m, adjacent, distance, model, bound, budgets, memo, codes):
    """Whether ``team`` has a plan within ``bound`` steps in which nobody waits before arriving; gives back what :func:`search` does."""
    known = np.full(1 << team.shape[0], FAR, np.int64)
    outcome = glance(team, starts, goals, m, adjacent, distance, model, False, bound, known, memo, codes)
    if outcome[0] != GAVE_UP:
        return outcome
    pairs = all_pairs(team, goals, m, steps_since(team, starts, goals, m, adjacent), bound, model, True)
    if widest_pair(team, starts, pairs) > bound:
        return FAILED, 0
    return within(team, starts, goals, m, model, pairs, bound, budgets[1:-1], known, memo, codes)


@kernel
def keep(team, order, cell_of, width, goals, m, codes, length, moves, lengths):
    """Writes the plan in ``codes[:length + 1]`` as letters, each agent's up to its arrival for good, agents in the order of the board."""
    for p in range(team.shape[0]):
        i = team[p]
        arrival = 0
        for t in range(length):
            old = cell_of[goals[i] if codes[t, i] == m else codes[t, i]]
            new = cell_of[goals[i] if codes[t + 1, i] == m else codes[t + 1, i]]
            letter = WAIT
            if new == old + width:
                letter = DOWN
            elif new == old - width:
                letter = UP
            elif new == old + 1:
                letter = RIGHT
            elif new == old - 1:
                letter = LEFT
            if letter != WAIT:
                arrival = t + 1
            moves[order[i], t] = letter
        lengths[order[i]] = arrival


@kernel
def prepare(free, width, start_cells, goal_cells, cell_of):
    """Numbers the cells, orders the agents and splits them into teams of one connected component each.

    Returns:
        (m, adjacent, order, starts, goals, distance, team_of): ``order[i]`` is the board's number of the i-th agent here, far ones first;
        ``team_of[i]`` the least agent in i's component. Where a goal cannot be reached, m is -1 and the rest means nothing.
    """
    k = start_cells.shape[0]
    code_of = np.empty(free.shape[0], np.int64)
    adjacent = np.empty((free.shape[0], 4), np.int64)
    m = graph(free, width, goal_cells, code_of, cell_of, adjacent)
    raw = np.empty((k, m), np.int16)
    queue = np.empty(m, np.int64)
    far = np.empty(k, np.int64)
    for i in range(k):
        distances(adjacent, m, code_of[goal_cells[i]], raw[i], queue)
        start = code_of[start_cells[i]]
        if start < 0 or raw[i, start] == FAR:
            return -1, adjacent, goal_cells, start_cells, goal_cells, raw, goal_cells
        far[i] = -raw[i, start]
    order = np.arange(k)
    for p in range(1, k):  # insertion sort, stable
        for q in range(p, 0, -1):
            if far[order[q - 1]] <= far[order[q]]:
                break
            order[q - 1], order[q] = order[q], order[q - 1]
    starts = np.empty(k, np.int64)
    goals = np.empty(k, np.int64)
    distance = np.empty((k, m), np.int16)
    team_of = np.empty(k, np.int64)
    for i in range(k):
        starts[i] = code_of[start_cells[order[i]]]
        goals[i] = code_of[goal_cells[order[i]]]
        for c in range(m):
            distance[i, c] = raw[order[i], c]
        team_of[i] = i
        for j in range(i - 1, -1, -1):
            if distance[i, starts[j]] != FAR:
                team_of[i] = team_of[j]
    return m, adjacent, order, starts, goals, distance, team_of


@inlined
def solve_board(free, width, start_cells, goal_cells, budgets, memo, codes, moves, lengths):
    """Optimal makespan, ``needs_wait`` and a plan of one board.

    Args:
        free: uint8, one a cell in row-major order, 1 where it is frozen.
        start_cells, goal_cells: int64 ``[k]``, row-major cell numbers.
        budgets: BUDGET_BULK or BUDGET_FULL.
        codes: int16 ``[HORIZON + 1, k]``, scratch.
        moves: uint8 ``[k, HORIZON]``, gets the letters of the plan; ``lengths``: int64 ``[k]``, how many of them each agent has.

    Returns:
        (SOLVED | UNSOLVABLE | UNDECIDED, makespan, needs_wait as 1, 0 or -1 for undecided, sum of the agents' distances). The plan waits
        before an arrival only where ``needs_wait`` is not 0.
    """
    cell_of = np.empty(free.shape[0], np.int64)
    m, adjacent, order, starts, goals, distance, team_of = prepare(free, width, start_cells, goal_cells, cell_of)
    k = starts.shape[0]
    if m < 0:
        return UNSOLVABLE, 0, 0, 0
    if joint_bits(m) * k > KEY_BITS:
        return UNDECIDED, 0, -1, 0

    bound = np.int64(distance[0, starts[0]])
    alone = 0
    for i in range(k):
        alone += distance[i, starts[i]]
    everybody = np.arange(k)
    for turn in (0, k - 1):
        status, length, _ = plan_in_turn(everybody, turn, starts, goals, m, adjacent, distance, False, True, 0, codes)
        if status == FOUND:  # everybody on a shortest way: best in every respect
            keep(everybody, order, cell_of, width, goals, m, codes, length, moves, lengths)
            return SOLVED, bound, 0, alone

    steady = movement(STEADY, adjacent, m, goals, distance)
    no_pairs = np.empty((0, 0, 0, 0), np.int16)
    for costed in (True, False):  # everybody on a shortest way; or at least nobody waiting and nobody late
        status = FOUND
        for leader in range(k):
            team = led_by(leader, team_of)
            if team.shape[0] > 0 and status == FOUND:
                most = 0 if costed else bound
                status, length = search(team, starts, goals, m, steady, no_pairs, False, costed, most, GLANCE, memo, codes)
                if status == FOUND:
                    keep(team, order, cell_of, width, goals, m, codes, length, moves, lengths)
        if status == FOUND:
            return SOLVED, bound, 0, alone

    model = movement(FREE, adjacent, m, goals, distance)
    undecided = False
    for leader in range(k):
        team = led_by(leader, team_of)
        if team.shape[0] == 0:
            continue
        status, makespan, length = team_makespan(team, starts, goals, m, adjacent, distance, model, bound, budgets, memo, codes)
        if status == UNSOLVABLE:
            return UNSOLVABLE, 0, 0, 0
        if status == UNDECIDED:
            undecided = True
        else:
            bound = makespan
            keep(team, order, cell_of, width, goals, m, codes, length, moves, lengths)
    if undecided:
        return UNDECIDED, 0, -1, 0

    needs_wait = 0
    for leader in range(k):
        team = led_by(leader, team_of)
        if team.shape[0] == 0:
            continue
        status, length = team_steady(team, starts, goals, m, adjacent, distance, steady, bound, budgets, memo, codes)
        if status == FOUND:
            keep(team, order, cell_of, width, goals, m, codes, length, moves, lengths)
        elif status == FAILED:
            needs_wait = 1
        elif needs_wait == 0:
            needs_wait = -1
    return SOLVED, bound, needs_wait, alone


@inlined
def enclose(free, width, start_cells, goal_cells, tries, codes, moves, lengths):
    """A plan of a large board by prioritised planning, and how good it can at best be; the other arguments as in :func:`solve_board`.

    The agents plan in turn within a horizon, from the longest of their distances on. Who finds no way goes to the front in the next try.

    Args:
        tries: how many orders of the agents are tried for each horizon.

    Returns:
        (SOLVED if the plan is optimal, ENCLOSED, UNSOLVABLE or UNDECIDED, the longest distance, the makespan of the plan,
        needs_wait as 0 or -1 for undecided)
    """
    cell_of = np.empty(free.shape[0], np.int64)
    m, adjacent, order, starts, goals, distance, _ = prepare(free, width, start_cells, goal_cells, cell_of)
    if m < 0:
        return UNSOLVABLE, 0, 0, 0
    least = np.int64(distance[0, starts[0]])
    team = np.arange(starts.shape[0])
    horizon = least
    while horizon < HORIZON and horizon <= 2 * least + PATIENCE:
        for waits in (False, True):
            for _ in range(tries):
                status, length, late = plan_in_turn(team, 0, starts, goals, m, adjacent, distance, waits, False, horizon, codes)
                if status == FOUND:
                    keep(team, order, cell_of, width, goals, m, codes, length, moves, lengths)
                    makespan = 0
                    for i in team:
                        makespan = max(makespan, lengths[i])
                    if makespan == least:
                        return SOLVED, least, makespan, (-1 if waits else 0)
                    return ENCLOSED, least, makespan, -1
                first = team[late]
                for place in range(late, 0, -1):
                    team[place] = team[place - 1]
                team[0] = first
        horizon += 1 + (horizon - least)
    return UNDECIDED, least, 0, -1


@entry("solver")
def solve_boards(free, width, starts, goals, budgets, memo, statuses, makespans, needs_wait, moves, lengths):
    """:func:`solve_board` for boards of one shape, one a row.

    Args:
        statuses: int64 ``[n]``, gets SOLVED, UNSOLVABLE or UNDECIDED.
        makespans: int64 ``[n, 3]``, gets the makespan twice (it is its own lower bound) and the sum of the agents' distances.
        needs_wait: int64 ``[n]``, gets 1, 0 or -1 for undecided.
    """
    codes = np.empty((HORIZON + 1, starts.shape[1]), np.int16)
    for row in range(free.shape[0]):
        status, makespan, waits, alone = solve_board(
            free[row], width, starts[row], goals[row], budgets, memo, codes, moves[row], lengths[row]
        )
        statuses[row], needs_wait[row] = status, waits
        makespans[row, 0], makespans[row, 1], makespans[row, 2] = makespan, makespan, alone


@entry("large")
def enclose_boards(free, width, starts, goals, statuses, makespans, needs_wait, moves, lengths):
    """:func:`enclose` for the boards of :func:`solve_boards` that it left UNDECIDED; ``makespans`` gets the lower bound and the plan's."""
    codes = np.empty((HORIZON + 1, starts.shape[1]), np.int16)
    for row in range(free.shape[0]):
        if statuses[row] == UNDECIDED:
            status, least, makespan, waits = enclose(free[row], width, starts[row], goals[row], TRIES, codes, moves[row], lengths[row])
            statuses[row], needs_wait[row] = status, waits
            makespans[row, 0], makespans[row, 1] = least, makespan
