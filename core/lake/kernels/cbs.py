"""Compiled Conflict-Based Search for the optimal sum of costs of one team (Sharon, Stern, Felner and Sturtevant 2015).

A node of the constraint tree holds constraints on single agents and the least waste of each agent that obeys them. A node whose agents'
ways clash is split into two that exclude the clash in the one or the other way, so that no plan is lost.

Sets of cells are bitboards, and everything an agent can do within an arrival time is one bitboard a time step: its *layers* (the
multi-valued decision diagrams of ICTS and ICBS). They cost next to nothing, so they are computed anew where they are needed. From them come

* the exact waste of two agents under a node's constraints, and by a weighted vertex cover of these a bound for the node (WDG, Li, Felner,
  Boyarski, Ma and Koenig 2019);
* the splits. Two agents that cannot get along within wastes x and y have a first time step that no pair of ways reaches; one of them is not
  in its layer then. This is one split where single cells would need many: rectangles, corridors and occupied goals are special cases of it
  (mutex propagation, Zhang, Li, Surynek, Kumar and Koenig 2020). x and y are raised as far as they clash.
* Where all pairs get along but the chosen ways clash, an agent is at the cell in question or is not (disjoint splitting, Li, Harabor,
  Stuckey, Felner, Ma and Koenig 2019), and one that is parked there arrives later or has settled (target reasoning, Li et al. 2021).
"""

# mypy: disallow-untyped-defs=False
# Numba compiles these functions and takes their types from the calls.

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frozenlab.lake.kernels.compiled import inlined, kernel

WORD = 62
"""Bits of a word of a bitboard, so that no word is ever negative."""
BOARD_BITS = 2 * WORD
DE_BRUIJN = 0x03F79D71B4CB0A89
_places = np.zeros(64, np.int64)
for _n in range(64):
    _places[((DE_BRUIJN << _n) & 0xFFFF_FFFF_FFFF_FFFF) >> 58] = _n
PLACES = _places
"""Where a power of two times DE_BRUIJN has its uppermost six bits: the number of its zeros."""

BARRED, THROUGH, NO_STEP, LATER, SETTLED = 0, 1, 2, 3, 4
"""Constraints on an agent: not in a set of cells at a time; there, and nobody else; not from one cell to another; arriving for good
after a time; arrived for good by a time, and nobody else on its goal from then on."""


class Team(NamedTuple):
    """What does not change: a cell is a place in a bitboard, rows being ``stride`` apart with one column that is never free."""

    stride: int
    low: int
    high: int
    """The free cells."""
    starts: NDArray[np.int64]
    goals: NDArray[np.int64]
    alone: NDArray[np.int64]
    """The agents' distances."""
    near: NDArray[np.int64]
    """``[agent, steps, word]`` the cells from which an agent's goal is at most so many steps away."""


class Rules(NamedTuple):
    """The constraints of a node, agent by agent."""

    allowed: NDArray[np.int64]
    """``[agent, time, word]`` cells."""
    steps: NDArray[np.int64]
    """``[agent, n]`` forbidden steps: (time of arrival, from, to)."""
    n_steps: NDArray[np.int64]
    earliest: NDArray[np.int64]
    """``[agent]`` the arrival for good is not before."""
    latest: NDArray[np.int64]


class Tree(NamedTuple):
    """The constraint tree, one node a row."""

    parent: NDArray[np.int64]
    rule: NDArray[np.int64]
    """``[node, 6]`` kind, agent, time, and the two words of a set of cells, or two cells."""
    waste: NDArray[np.int64]
    """``[node, agent]`` least waste of each agent alone."""
    pair: NDArray[np.int64]
    """``[node, agent, agent]`` least waste of two agents."""
    mark: NDArray[np.int64]
    """``[node, agent]`` tells the layers of an agent at its least waste from others."""
    least: NDArray[np.int64]
    """Lower bound of the waste of all."""
    after: NDArray[np.int64]
    """The next node that waits with the same ``least``."""


@kernel
def bit(cell):
    """The bitboard of one cell."""
    if cell < WORD:
        return np.int64(1) << cell, np.int64(0)
    return np.int64(0), np.int64(1) << (cell - WORD)


@kernel
def has(low, high, cell):
    """Whether a cell is in a bitboard."""
    return (low >> cell & 1 if cell < WORD else high >> (cell - WORD) & 1) == 1


@kernel
def first(low, high):
    """The least cell of a bitboard that is not empty."""
    if low:
        return PLACES[((low & -low) * DE_BRUIJN) >> 58 & 63]
    return WORD + PLACES[((high & -high) * DE_BRUIJN) >> 58 & 63]


@kernel
def count(low, high):
    """How many cells are in a bitboard."""
    n = 0
    while low:
        low &= low - 1
        n += 1
    while high:
        high &= high - 1
        n += 1
    return n


@kernel
def spread(low, high, team):
    """The cells one step from those of a bitboard, and these themselves."""
    s = team.stride
    out_low = low | low << 1 | low >> 1 | high << (WORD - 1) | low << s | low >> s | high << (WORD - s)
    out_high = high | high << 1 | high >> 1 | low >> (WORD - 1) | high << s | high >> s | low >> (WORD - s)
    return out_low & team.low, out_high & team.high


@kernel
def sources(i, t, cell, low, high, team, rules):
    """The cells of a bitboard from which agent i may come to ``cell`` at time t."""
    bit_low, bit_high = bit(cell)
    from_low, from_high = spread(bit_low, bit_high, team)
    from_low &= low
    from_high &= high
    for n in range(rules.n_steps[i]):
        if rules.steps[i, n, 0] == t and rules.steps[i, n, 2] == cell:
            bit_low, bit_high = bit(rules.steps[i, n, 1])
            from_low &= ~bit_low
            from_high &= ~bit_high
    return from_low, from_high


@kernel
def onward(i, t, low, high, team, rules):
    """The cells that agent i can be in at time t if it was in those of a bitboard before; ``allowed`` is not looked at."""
    out_low, out_high = spread(low, high, team)
    for n in range(rules.n_steps[i]):
        if rules.steps[i, n, 0] == t:
            cell = rules.steps[i, n, 2]
            from_low, from_high = sources(i, t, cell, low, high, team, rules)
            if not from_low and not from_high:
                bit_low, bit_high = bit(cell)
                out_low &= ~bit_low
                out_high &= ~bit_high
    return out_low, out_high


@kernel
def may_step(i, t, old, new, rules):
    """Whether agent i may step from one cell to another so as to be there at time t."""
    for n in range(rules.n_steps[i]):
        if rules.steps[i, n, 0] == t and rules.steps[i, n, 1] == old and rules.steps[i, n, 2] == new:
            return False
    return True


@kernel
def unfold(i, arrival, team, rules, layers):
    """Fills ``layers[time, word]`` with the cells of all ways on which agent i stands on its goal from ``arrival`` on; False: none."""
    if arrival < rules.earliest[i] or arrival > rules.latest[i]:
        return False
    low, high = bit(team.starts[i])
    layers[0, 0], layers[0, 1] = low, high
    for t in range(1, arrival + 1):
        low, high = onward(i, t, low, high, team, rules)
        low &= rules.allowed[i, t, 0] & team.near[i, arrival - t, 0]
        high &= rules.allowed[i, t, 1] & team.near[i, arrival - t, 1]
        if not low and not high:
            return False
        layers[t, 0], layers[t, 1] = low, high
    goal_low, goal_high = low, high
    for t in range(arrival - 1, 0, -1):
        back_low, back_high = spread(low, high, team)
        back_low &= layers[t, 0]
        back_high &= layers[t, 1]
        for n in range(rules.n_steps[i]):
            cell = rules.steps[i, n, 1]
            if rules.steps[i, n, 0] == t + 1 and has(back_low, back_high, cell):
                on_low, on_high = bit(cell)
                on_low, on_high = spread(on_low, on_high, team)
                on_low &= low
                on_high &= high
                stuck = True
                while on_low or on_high:
                    other = first(on_low, on_high)
                    stuck &= not may_step(i, t + 1, cell, other, rules)
                    bit_low, bit_high = bit(other)
                    on_low &= ~bit_low
                    on_high &= ~bit_high
                if stuck:
                    bit_low, bit_high = bit(cell)
                    back_low &= ~bit_low
                    back_high &= ~bit_high
        low, high = back_low, back_high
        layers[t, 0], layers[t, 1] = low, high
    for t in range(arrival + 1, layers.shape[0]):
        layers[t, 0], layers[t, 1] = goal_low, goal_high
    return True


@kernel
def parting(i, j, end, of_i, of_j, team, rules, joint):
    """The first time that no two ways of agents i and j within their layers reach together, -1 if they get along.

    ``end`` is when both have arrived. ``joint[parity, cell]``, scratch: where j can be if i is in a cell.
    """
    begin, last = 0, -1  # before and after these they cannot meet
    for t in range(1, end + 1):
        meet = of_i[t, 0] & of_j[t, 0] | of_i[t, 1] & of_j[t, 1]
        if not meet:
            meet = (of_i[t, 0] & of_j[t - 1, 0] | of_i[t, 1] & of_j[t - 1, 1]) and (
                of_i[t - 1, 0] & of_j[t, 0] | of_i[t - 1, 1] & of_j[t, 1]
            )
        if meet:
            last = t
            if begin == 0:
                begin = t
    low, high = of_i[begin - 1, 0], of_i[begin - 1, 1]
    while last >= 0 and (low or high):
        a = first(low, high)
        joint[begin - 1 & 1, a, 0], joint[begin - 1 & 1, a, 1] = of_j[begin - 1, 0], of_j[begin - 1, 1]
        low, high = (low & low - 1, high) if low else (low, high & high - 1)
    for t in range(begin, last + 1):
        now, then = joint[t - 1 & 1], joint[t & 1]
        low, high = of_i[t, 0], of_i[t, 1]
        while low or high:
            a = first(low, high)
            then[a, 0], then[a, 1] = 0, 0
            low, high = (low & low - 1, high) if low else (low, high & high - 1)
        nobody = True
        low, high = of_i[t - 1, 0], of_i[t - 1, 1]
        while low or high:
            a = first(low, high)
            low, high = (low & low - 1, high) if low else (low, high & high - 1)
            from_low, from_high = now[a, 0], now[a, 1]
            if not from_low and not from_high:
                continue
            to_low, to_high = onward(j, t, from_low, from_high, team, rules)
            to_low &= of_j[t, 0]
            to_high &= of_j[t, 1]
            on_low, on_high = bit(a)
            on_low, on_high = spread(on_low, on_high, team)
            on_low &= of_i[t, 0]
            on_high &= of_i[t, 1]
            while on_low or on_high:
                b = first(on_low, on_high)
                on_low, on_high = (on_low & on_low - 1, on_high) if on_low else (on_low, on_high & on_high - 1)
                if not may_step(i, t, a, b, rules):
                    continue
                bit_low, bit_high = bit(b)
                new_low, new_high = to_low & ~bit_low, to_high & ~bit_high
                if a != b and has(from_low, from_high, b) and has(new_low, new_high, a):
                    rest_low, rest_high = sources(j, t, a, from_low & ~bit_low, from_high & ~bit_high, team, rules)
                    if not rest_low and not rest_high:
                        bit_low, bit_high = bit(a)
                        new_low &= ~bit_low
                        new_high &= ~bit_high
                if new_low or new_high:
                    nobody = False
                    then[b, 0] |= new_low
                    then[b, 1] |= new_high
        if nobody:
            return t
    return -1


@kernel
def clash(i, j, x, y, team, rules, sheets, joint):
    """:func:`parting` of agents i and j with wastes up to x and y, which each of them can have alone; their layers go to ``sheets``."""
    until_i, until_j = min(team.alone[i] + x, rules.latest[i]), min(team.alone[j] + y, rules.latest[j])
    unfold(i, until_i, team, rules, sheets[0])
    unfold(j, until_j, team, rules, sheets[1])
    return parting(i, j, max(until_i, until_j), sheets[0], sheets[1], team, rules, joint)


@kernel
def waste_together(i, j, x, y, at_least, most, team, rules, sheets, joint):
    """The least waste of agents i and j, which alone waste x and y, from ``at_least`` on; more than ``most`` where it is above that."""
    if at_least > most:
        return at_least
    for part in range(x, at_least - y + 1):
        if clash(i, j, part, at_least - part, team, rules, sheets, joint) < 0:
            return at_least
    part = x
    while most > at_least and part <= most - y:  # down the stairs: who can do with less can do with more
        if clash(i, j, part, most - part, team, rules, sheets, joint) < 0:
            most -= 1
        else:
            part += 1
    return max(at_least, most) + 1


@kernel
def cover(extra, most):
    """The least sum of what is added to each agent so that any two are given their ``extra[i, j]`` (i > j), cut off at ``most``."""
    k = extra.shape[0]
    given = np.zeros(k, np.int64)
    enough = np.zeros(k, np.int64)  # more than this is of no use, after what those before were given
    spent, i = 0, 0
    forward = True
    while True:
        if forward:
            for j in range(i):
                given[i] = max(given[i], extra[i, j] - given[j])
            enough[i] = given[i]
            for j in range(i + 1, k):
                enough[i] = max(enough[i], extra[j, i])
        if given[i] <= enough[i] and spent + given[i] < most:
            forward = i < k - 1
            if forward:
                spent += given[i]
                i += 1
                given[i] = 0
                continue
            most = spent + given[i]
        if i == 0:
            return most
        forward = False
        i -= 1
        spent -= given[i]
        given[i] += 1


@kernel
def gather(node, tree, team, rules):
    """Fills ``rules`` with the constraints of a node and of those above it."""
    k, times = rules.allowed.shape[0], rules.allowed.shape[1]
    rules.allowed[:, :, 0] = team.low
    rules.allowed[:, :, 1] = team.high
    rules.n_steps[:] = 0
    rules.earliest[:] = 0
    rules.latest[:] = times - 1
    while tree.parent[node] >= 0:
        kind, i, t, one, two = tree.rule[node]
        if kind == BARRED:
            rules.allowed[i, t, 0] &= ~one
            rules.allowed[i, t, 1] &= ~two
        elif kind == THROUGH:
            for j in range(k):
                rules.allowed[j, t, 0] &= one if j == i else ~one
                rules.allowed[j, t, 1] &= two if j == i else ~two
        elif kind == NO_STEP:
            rules.steps[i, rules.n_steps[i], 0] = t
            rules.steps[i, rules.n_steps[i], 1] = one
            rules.steps[i, rules.n_steps[i], 2] = two
            rules.n_steps[i] += 1
        elif kind == LATER:
            rules.earliest[i] = max(rules.earliest[i], t + 1)
        else:
            rules.latest[i] = min(rules.latest[i], t)
            low, high = bit(team.goals[i])
            for j in range(k):
                for later in range(t if j != i else times, times):
                    rules.allowed[j, later, 0] &= ~low
                    rules.allowed[j, later, 1] &= ~high
        node = tree.parent[node]
    for i in range(k):
        for t in range(times - 1, rules.earliest[i] - 1, -1):
            if not has(rules.allowed[i, t, 0], rules.allowed[i, t, 1], team.goals[i]):
                rules.earliest[i] = t + 1
                break


@kernel
def bound(node, tree, most, team, rules, layers, sheets, joint):
    """Raises the wastes, of each agent alone and of pairs, of a node with these rules; fills ``layers[agent]``.

    Returns:
        a lower bound of the waste of all, more than ``most`` where that is too much
    """
    k = team.starts.shape[0]
    waste, pair = tree.waste[node], tree.pair[node]
    total = waste.sum()
    for i in range(k):
        while total <= most and not unfold(i, team.alone[i] + waste[i], team, rules, layers[i]):
            waste[i] += 1
            total += 1
    if total > most:
        return total
    changed = np.empty(k, np.bool_)
    for i in range(k):
        mark = np.int64(0)
        for t in range(1, team.alone[i] + waste[i] + 1):
            mark = (mark * 31 + layers[i, t, 0]) * DE_BRUIJN + layers[i, t, 1]
        changed[i] = mark != tree.mark[node, i]
        tree.mark[node, i] = mark
    extra = np.zeros((k, k), np.int64)
    clashing = False
    for i in range(k):
        for j in range(i):
            apart = waste[i] + waste[j]
            if changed[i] or changed[j]:
                until = max(team.alone[i] + waste[i], team.alone[j] + waste[j])
                if pair[i, j] <= apart and parting(i, j, until, layers[i], layers[j], team, rules, joint) < 0:
                    pair[i, j] = apart
                else:
                    pair[i, j] = waste_together(
                        i, j, waste[i], waste[j], max(apart + 1, pair[i, j]), most - total + apart, team, rules, sheets, joint
                    )
            extra[i, j] = pair[i, j] - apart
            clashing |= extra[i, j] > 0
            if total + extra[i, j] > most:
                return total + extra[i, j]
    if not clashing:
        return total
    return total + cover(extra, most - total + 1)


@kernel
def choose_ways(end, team, rules, layers, ways, toll, onto):
    """Chooses a way within the layers for each agent in turn that clashes least with those before: ``ways[agent, time]``.

    ``toll[time, cell]`` and ``onto[time, cell]`` are scratch: the clashes from a cell on, and the best next cell.

    Returns:
        the clashes left
    """
    clashes = 0
    for i in range(team.starts.shape[0]):
        for t in range(end, -1, -1):
            low, high = layers[i, t, 0], layers[i, t, 1]
            while low or high:
                a = first(low, high)
                low, high = (low & low - 1, high) if low else (low, high & high - 1)
                here = 0
                for j in range(i):
                    here += ways[j, t] == a
                if t == end:
                    toll[t, a] = here
                    continue
                best = 1 << 30
                on_low, on_high = bit(a)
                on_low, on_high = spread(on_low, on_high, team)
                on_low &= layers[i, t + 1, 0]
                on_high &= layers[i, t + 1, 1]
                while on_low or on_high:
                    b = first(on_low, on_high)
                    on_low, on_high = (on_low & on_low - 1, on_high) if on_low else (on_low, on_high & on_high - 1)
                    if not may_step(i, t + 1, a, b, rules):
                        continue
                    cost = toll[t + 1, b]
                    for j in range(i):
                        cost += a != b and ways[j, t] == b and ways[j, t + 1] == a
                    if cost < best:
                        best = cost
                        onto[t, a] = b
                toll[t, a] = best + here
        a = team.starts[i]
        clashes += toll[0, a]
        ways[i, 0] = a
        for t in range(end):
            a = onto[t, a]
            ways[i, t + 1] = a
    return clashes


@kernel
def widest_gap(node, tree):
    """The two agents, i > j, whose least waste together is most above what they waste alone; i = j if there are none."""
    most, best_i, best_j = 0, 0, 0
    for i in range(tree.waste.shape[1]):
        for j in range(i):
            gap = tree.pair[node, i, j] - tree.waste[node, i] - tree.waste[node, j]
            if gap > most:
                most, best_i, best_j = gap, i, j
    return best_i, best_j


@kernel
def split_pair(i, j, x, y, gap, spare, team, rules, sheets, joint, out):
    """The two rules into ``out`` that split the plans of a node whose agents i and j waste ``gap`` more together than x and y alone.

    x and y are raised, by at most ``spare``, as long as the agents cannot get along within them: one of them has to waste more. The ways
    to where the parting is all lie in the layers, so that even who wastes more later cannot be there.
    """
    most_x, most_y = x + spare, y + spare
    x += (gap - 1) // 2
    y += gap // 2
    grow_x, grow_y = True, True
    while grow_x or grow_y:
        grow_y = grow_y and y < most_y and clash(i, j, x, y + 1, team, rules, sheets, joint) >= 0
        y += grow_y
        grow_x = grow_x and x < most_x and clash(i, j, x + 1, y, team, rules, sheets, joint) >= 0
        x += grow_x
    t = clash(i, j, x, y, team, rules, sheets, joint)
    for n in range(2):
        agent, until = (i, team.alone[i] + x) if n == 0 else (j, team.alone[j] + y)
        until = min(until, rules.latest[agent])
        out[n, 0], out[n, 1], out[n, 2] = BARRED, agent, t
        out[n, 3], out[n, 4] = sheets[n, min(t, until), 0], sheets[n, min(t, until), 1]
        if t > until:
            out[n, 0], out[n, 2] = LATER, until


@kernel
def split_clash(node, end, tree, team, layers, ways, out):
    """The two rules into ``out`` that split the plans of a node at a clash of its ways: where there is the least freedom."""
    k = team.starts.shape[0]
    best = 1 << 30
    for t in range(1, end + 1):
        for i in range(k):
            for j in range(i):
                if ways[i, t] == ways[j, t]:
                    wide_i, wide_j = count(layers[i, t, 0], layers[i, t, 1]), count(layers[j, t, 0], layers[j, t, 1])
                    if min(wide_i, wide_j) >= best:
                        continue
                    best = min(wide_i, wide_j)
                    agent = i if wide_i <= wide_j else j
                    out[0, 0], out[1, 0] = BARRED, THROUGH
                    for n in range(2):
                        out[n, 1], out[n, 2] = agent, t
                        out[n, 3], out[n, 4] = bit(ways[i, t])
                    if t > team.alone[agent] + tree.waste[node, agent]:
                        out[0, 0], out[1, 0] = LATER, SETTLED
                elif ways[i, t] == ways[j, t - 1] and ways[i, t - 1] == ways[j, t]:
                    wide = count(layers[i, t, 0], layers[i, t, 1]) + count(layers[j, t, 0], layers[j, t, 1])
                    if wide >= best:
                        continue
                    best = wide
                    for n in range(2):
                        agent = i if n == 0 else j
                        out[n, 0], out[n, 1], out[n, 2] = NO_STEP, agent, t
                        out[n, 3], out[n, 4] = ways[agent, t - 1], ways[agent, t]


@kernel
def see(team, starts, goals, m, cell_of, width, horizon, place):
    """The :class:`Team` of these agents; ``place[code]`` gets the place of a code in a bitboard."""
    stride = width + 1
    low, high = np.int64(0), np.int64(0)
    for code in range(m):
        place[code] = cell_of[code] // width * stride + cell_of[code] % width
        bit_low, bit_high = bit(place[code])
        low |= bit_low
        high |= bit_high
    k = team.shape[0]
    near = np.empty((k, horizon + 1, 2), np.int64)
    alone = np.empty(k, np.int64)
    out = Team(stride, low, high, place[starts[team]], place[goals[team]], alone, near)
    for i in range(k):
        low, high = bit(out.goals[i])
        alone[i] = -1
        for steps in range(horizon + 1):
            near[i, steps, 0], near[i, steps, 1] = low, high
            if alone[i] < 0 and has(low, high, out.starts[i]):
                alone[i] = steps
            low, high = spread(low, high, out)
    return out


@kernel
def fits(cells, width):
    """Whether a board is small enough for bitboards."""
    return width + 1 < WORD and cells // width * (width + 1) <= BOARD_BITS


@inlined
def resolve(team, starts, goals, m, distance, cell_of, width, at_least, known, known_length, budget, nodes, best):
    """The least waste of ``team``, if it is from ``at_least`` on and below ``known``, the waste of a plan that is there already.

    Args:
        budget: nodes that are looked at; they are counted in ``nodes[0]``.

    Returns:
        (proven lower bound, waste of the best plan, its length in ``best``, or ``known_length`` if it is the known one)
    """
    k = team.shape[0]
    horizon = known
    for i in team:
        horizon = max(horizon, known + distance[i, starts[i]])
    place = np.empty(m, np.int64)
    squad = see(team, starts, goals, m, cell_of, width, horizon, place)
    size = 2 * budget + 2
    tree = Tree(
        np.empty(size, np.int64),
        np.empty((size, 5), np.int64),
        np.empty((size, k), np.int64),
        np.empty((size, k, k), np.int64),
        np.empty((size, k), np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )
    rules = Rules(
        np.empty((k, horizon + 1, 2), np.int64),
        np.empty((k, budget + 1, 3), np.int64),
        np.empty(k, np.int64),
        np.empty(k, np.int64),
        np.empty(k, np.int64),
    )
    layers = np.empty((k, horizon + 1, 2), np.int64)
    sheets = np.empty((2, horizon + 1, 2), np.int64)
    joint = np.empty((2, BOARD_BITS, 2), np.int64)
    ways = np.empty((k, horizon + 1), np.int64)
    toll = np.empty((horizon + 1, BOARD_BITS), np.int64)
    onto = np.empty((horizon + 1, BOARD_BITS), np.int64)
    split = np.empty((2, 5), np.int64)
    waiting = np.full(known + 1, -1, np.int64)
    tree.parent[0] = -1
    tree.waste[0] = 0
    tree.pair[0] = 0
    tree.mark[0] = 0
    tree.least[0] = at_least
    tree.after[0] = -1
    waiting[at_least] = 0
    used = 1
    least = at_least
    for _ in range(budget):
        while least < known and waiting[least] < 0:
            least += 1
        if least == known:
            break
        nodes[0] += 1
        node = waiting[least]
        waiting[least] = tree.after[node]
        gather(node, tree, squad, rules)
        lower = bound(node, tree, known - 1, squad, rules, layers, sheets, joint)
        if lower > least:
            if lower < known:
                tree.least[node] = lower
                tree.after[node] = waiting[lower]
                waiting[lower] = node
            continue
        i, j = widest_gap(node, tree)
        if i != j:
            x, y = tree.waste[node, i], tree.waste[node, j]
            gap, spare = tree.pair[node, i, j] - x - y, known - 1
            for p in range(k):
                spare -= tree.waste[node, p]
            split_pair(i, j, x, y, gap, spare, squad, rules, sheets, joint, split)
        else:
            end = np.int64(0)
            for p in range(k):
                end = max(end, squad.alone[p] + tree.waste[node, p])
            if choose_ways(end, squad, rules, layers, ways, toll, onto) == 0:
                code_at = np.empty(BOARD_BITS, np.int64)
                for code in range(m):
                    code_at[place[code]] = code
                for t in range(end + 1):
                    for p in range(k):
                        best[t, team[p]] = code_at[ways[p, t]]
                return least, least, end
            split_clash(node, end, tree, squad, layers, ways, split)
        for n in range(2):
            tree.parent[used] = node
            for q in range(split.shape[1]):
                tree.rule[used, q] = split[n, q]
            for p in range(k):
                tree.waste[used, p], tree.mark[used, p] = tree.waste[node, p], tree.mark[node, p]
                for q in range(k):
                    tree.pair[used, p, q] = tree.pair[node, p, q]
            tree.least[used] = least
            tree.after[used] = waiting[least]
            waiting[least] = used
            used += 1
    while least < known and waiting[least] < 0:
        least += 1
    return least, known, known_length
