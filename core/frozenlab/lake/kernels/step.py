"""The compiled stepper: many boards a call, one joint action each, in the order of precedence of rules.py. Imports numba."""

import numpy as np

from frozenlab.lake.board import MOVES
from frozenlab.lake.kernels.compiled import kernel, outer
from frozenlab.lake.kernels.grid import DIRECTIONS, locked
from frozenlab.lake.kernels.judge import AGAINST_ARROW, EDGE_CONFLICT, GOAL_NOT_REACHED, HOLE, LOCKED_DOOR, OUT_OF_BOUNDS, VERTEX_CONFLICT
from frozenlab.lake.reward import plan_reward

NO_FAULT = -1
BLOCKED, SELF, GOAL, OTHERS, OTHER_GOALS, EXITS = range(6)
"""The planes of an observation; those of the four exits are there only where boards may have one-way ice or doors."""
STEPS = np.array(list(MOVES.values()), np.int64)
WAIT = list(MOVES).index("W")

earned = kernel(plan_reward)


@outer
def begin(row, boards, rows):
    """Puts the agents of a row on the starts of its board, and draws the row's observations from scratch."""
    board = rows.board[row]
    rows.steps[row] = 0
    rows.faults[row] = NO_FAULT
    rows.rewards[row] = 0
    rows.terminated[row] = False
    rows.truncated[row] = False
    k = rows.cells.shape[1]
    seen = rows.observations[row]
    seen[:] = 0
    for i in range(k):
        start, goal = boards.starts[board, i], boards.goals[board, i]
        rows.cells[row, i] = start
        seen[i, BLOCKED] = boards.blocked[board]
        if seen.shape[1] > EXITS:
            _draw_exits(i, boards.exits[board], seen[i])
        for j in range(k):
            seen[j, SELF if i == j else OTHERS, start[0], start[1]] = 1
            seen[j, GOAL if i == j else OTHER_GOALS, goal[0], goal[1]] = 1


@outer
def step_rows(actions, boards, rows, auto_reset, after):
    """One time step of every row; what becomes of it is in the arrays of ``rows``.

    Args:
        actions: int8 ``[row, agent]``, indices into MOVES.
        auto_reset: a row whose episode has ended begins on the next of its boards instead of moving; else it stays as it is.
        after: int64 ``[agent, 2]``, room to work in.
    """
    n, k = actions.shape
    for row in range(n):
        if rows.terminated[row] or rows.truncated[row]:
            rows.rewards[row] = 0
            if auto_reset:
                rows.board[row] = (rows.board[row] + n) % boards.blocked.shape[0]
                begin(row, boards, rows)
            continue
        board = rows.board[row]
        home = 0
        for i in range(k):
            after[i, 0] = rows.cells[row, i, 0] + STEPS[actions[row, i], 0]
            after[i, 1] = rows.cells[row, i, 1] + STEPS[actions[row, i], 1]
            home += after[i, 0] == boards.goals[board, i, 0] and after[i, 1] == boards.goals[board, i, 1]
        rows.steps[row] += 1
        step, optimum = rows.steps[row], boards.optima[board]
        fault = first_fault(actions[row], rows.cells[row], after, boards.exits[board], boards.sides[board])
        rows.rewards[row] = 0
        if fault != NO_FAULT:
            rows.terminated[row] = True
            rows.rewards[row] = earned(optimum, None, step, home / k)
        else:
            _move(rows.cells[row], after, rows.observations[row])
            if home == k:
                if (actions[row] == WAIT).all():  # they began at home: a WAIT at the end of a plan is free
                    rows.steps[row] = step = 0
                rows.terminated[row] = True
                rows.rewards[row] = earned(optimum, step, None, 1.0)
            elif step == boards.limits[board]:
                rows.truncated[row] = True
                fault = GOAL_NOT_REACHED
                rows.rewards[row] = earned(optimum, None, step, home / k)
        rows.faults[row] = fault


@kernel
def first_fault(actions, before, after, exits, sides):
    """The first fault of one joint move from legal cells, as an index in FAULTS; NO_FAULT if there is none."""
    k = before.shape[0]
    barred = False
    for i in range(k):
        barred |= exits[before[i, 0], before[i, 1]] >> actions[i] & 1 == 0
    if barred:
        for i in range(k):
            if not (0 <= after[i, 0] < sides[0] and 0 <= after[i, 1] < sides[1]):
                return OUT_OF_BOUNDS
        for i in range(k):
            if exits[after[i, 0], after[i, 1]] == 0:
                return HOLE
        for i in range(k):
            if locked(exits[after[i, 0], after[i, 1]], i):
                return LOCKED_DOOR
        return AGAINST_ARROW
    for i in range(k):
        if locked(exits[after[i, 0], after[i, 1]], i):
            return LOCKED_DOOR
    for i in range(k):
        for j in range(i):
            if after[i, 0] == after[j, 0] and after[i, 1] == after[j, 1]:
                return VERTEX_CONFLICT
    for i in range(k):
        for j in range(i):
            swapped = after[i, 0] == before[j, 0] and after[i, 1] == before[j, 1]
            if swapped and after[j, 0] == before[i, 0] and after[j, 1] == before[i, 1]:
                return EDGE_CONFLICT
    return NO_FAULT


@kernel
def _draw_exits(agent, exits, seen):
    """Writes the exits of the cells into what an agent sees, and the doors of others as blocked."""
    for r in range(exits.shape[0]):
        for c in range(exits.shape[1]):
            if locked(exits[r, c], agent):
                seen[BLOCKED, r, c] = 1
            for direction in range(DIRECTIONS):
                seen[EXITS + direction, r, c] = exits[r, c] >> direction & 1


@kernel
def _move(cells, after, seen):
    """Carries out a legal joint move. Only agents that moved are redrawn: all of them are erased first, as one may enter another's cell."""
    k = cells.shape[0]
    for i in range(k):
        if cells[i, 0] != after[i, 0] or cells[i, 1] != after[i, 1]:
            _draw(i, cells[i, 0], cells[i, 1], 0, seen)
    for i in range(k):
        if cells[i, 0] != after[i, 0] or cells[i, 1] != after[i, 1]:
            _draw(i, after[i, 0], after[i, 1], 1, seen)
            cells[i, 0], cells[i, 1] = after[i, 0], after[i, 1]


@kernel
def _draw(agent, r, c, value, seen):
    """Writes one agent into everybody's observation."""
    for i in range(seen.shape[0]):
        seen[i, SELF if i == agent else OTHERS, r, c] = value
