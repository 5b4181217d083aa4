"""Multi-valued decision diagrams (MDDs) as bitboards, and conflicts between the MDDs of two agents. Imports numba."""

from frozenlab.lake.kernels.cbs.bitboard import bit, cells_after, cells_before, first, has, without_first
from frozenlab.lake.kernels.compiled import kernel


@kernel
def predecessors(i, t, cell, low, high, grid, constraints):
    """The cells of a bitboard from which agent i may come to ``cell`` at time t."""
    bit_low, bit_high = bit(cell)
    from_low, from_high = cells_before(bit_low, bit_high, grid)
    from_low &= low
    from_high &= high
    for n in range(constraints.n_steps[i]):
        if constraints.steps[i, n, 0] == t and constraints.steps[i, n, 2] == cell:
            bit_low, bit_high = bit(constraints.steps[i, n, 1])
            from_low &= ~bit_low
            from_high &= ~bit_high
    return from_low, from_high


@kernel
def successors(i, t, low, high, grid, constraints):
    """The cells that agent i can be in at time t if it was in those of a bitboard before, as far as forbidden steps tell."""
    out_low, out_high = cells_after(low, high, grid)
    for n in range(constraints.n_steps[i]):
        if constraints.steps[i, n, 0] == t:
            cell = constraints.steps[i, n, 2]
            from_low, from_high = predecessors(i, t, cell, low, high, grid, constraints)
            if not from_low and not from_high:
                bit_low, bit_high = bit(cell)
                out_low &= ~bit_low
                out_high &= ~bit_high
    return out_low, out_high


@kernel
def may_step(i, t, old, new, constraints):
    """Whether agent i may step from one cell to another so as to be there at time t."""
    for n in range(constraints.n_steps[i]):
        if constraints.steps[i, n, 0] == t and constraints.steps[i, n, 1] == old and constraints.steps[i, n, 2] == new:
            return False
    return True


@kernel
def build_mdd(i, arrival, grid, constraints, mdd):
    """Fills ``mdd[time, word]`` with the cells of all paths that end on the goal of agent i by ``arrival``; False: there is none."""
    if arrival < constraints.earliest[i] or arrival > constraints.latest[i]:
        return False
    low, high = bit(grid.starts[i])
    mdd[0, 0], mdd[0, 1] = low, high
    for t in range(1, arrival + 1):
        low, high = successors(i, t, low, high, grid, constraints)
        low &= constraints.allowed[i, t, 0] & grid.near[i, arrival - t, 0]
        high &= constraints.allowed[i, t, 1] & grid.near[i, arrival - t, 1]
        if not low and not high:
            return False
        mdd[t, 0], mdd[t, 1] = low, high
    goal_low, goal_high = low, high
    for t in range(arrival - 1, 0, -1):
        back_low, back_high = cells_before(low, high, grid)
        back_low &= mdd[t, 0]
        back_high &= mdd[t, 1]
        for n in range(constraints.n_steps[i]):
            cell = constraints.steps[i, n, 1]
            if constraints.steps[i, n, 0] == t + 1 and has(back_low, back_high, cell):
                on_low, on_high = bit(cell)
                on_low, on_high = cells_after(on_low, on_high, grid)
                on_low &= low
                on_high &= high
                stuck = True
                while on_low or on_high:
                    other = first(on_low, on_high)
                    stuck &= not may_step(i, t + 1, cell, other, constraints)
                    bit_low, bit_high = bit(other)
                    on_low &= ~bit_low
                    on_high &= ~bit_high
                if stuck:
                    bit_low, bit_high = bit(cell)
                    back_low &= ~bit_low
                    back_high &= ~bit_high
        low, high = back_low, back_high
        mdd[t, 0], mdd[t, 1] = low, high
    for t in range(arrival + 1, mdd.shape[0]):
        mdd[t, 0], mdd[t, 1] = goal_low, goal_high
    return True


@kernel
def mdd_conflict(i, j, end, of_i, of_j, grid, constraints, joint):
    """The first time that no two paths of agents i and j within their MDDs reach together; -1 if the MDDs do not conflict.

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
        low, high = without_first(low, high)
    for t in range(begin, last + 1):
        now, then = joint[t - 1 & 1], joint[t & 1]
        low, high = of_i[t, 0], of_i[t, 1]
        while low or high:
            a = first(low, high)
            then[a, 0], then[a, 1] = 0, 0
            low, high = without_first(low, high)
        unreachable = True
        low, high = of_i[t - 1, 0], of_i[t - 1, 1]
        while low or high:
            a = first(low, high)
            low, high = without_first(low, high)
            from_low, from_high = now[a, 0], now[a, 1]
            if not from_low and not from_high:
                continue
            to_low, to_high = successors(j, t, from_low, from_high, grid, constraints)
            to_low &= of_j[t, 0]
            to_high &= of_j[t, 1]
            on_low, on_high = bit(a)
            on_low, on_high = cells_after(on_low, on_high, grid)
            on_low &= of_i[t, 0]
            on_high &= of_i[t, 1]
            while on_low or on_high:
                b = first(on_low, on_high)
                on_low, on_high = without_first(on_low, on_high)
                if not may_step(i, t, a, b, constraints):
                    continue
                bit_low, bit_high = bit(b)
                new_low, new_high = to_low & ~bit_low, to_high & ~bit_high
                if a != b and has(from_low, from_high, b) and has(new_low, new_high, a):
                    rest_low, rest_high = predecessors(j, t, a, from_low & ~bit_low, from_high & ~bit_high, grid, constraints)
                    if not rest_low and not rest_high:
                        bit_low, bit_high = bit(a)
                        new_low &= ~bit_low
                        new_high &= ~bit_high
                if new_low or new_high:
                    unreachable = False
                    then[b, 0] |= new_low
                    then[b, 1] |= new_high
        if unreachable:
            return t
    return -1


@kernel
def conflict_within(i, j, x, y, grid, constraints, two_mdds, joint):
    """:func:`mdd_conflict` of agents i and j with delays of up to x and y, which each can have alone; their MDDs go to ``two_mdds``."""
    until_i, until_j = min(grid.distances[i] + x, constraints.latest[i]), min(grid.distances[j] + y, constraints.latest[j])
    build_mdd(i, until_i, grid, constraints, two_mdds[0])
    build_mdd(j, until_j, grid, constraints, two_mdds[1])
    return mdd_conflict(i, j, max(until_i, until_j), two_mdds[0], two_mdds[1], grid, constraints, joint)
