"""The compiled judge: what rules.py says about one plan of motion strings, in the same order of precedence. Imports numba.

rules.py is the definition and says everything about a plan; this says what can be counted and charted, some hundred times faster.
"""

import numpy as np

from frozenlab.lake.kernels.compiled import entry, kernel
from frozenlab.lake.kernels.grid import cell_towards, locked, neighbour
from frozenlab.lake.rules import FAULTS

MISSING = -1
"""The length of a motion string that is not there."""
MISSING_AGENT = FAULTS.index("missing_agent")
OUT_OF_BOUNDS = FAULTS.index("out_of_bounds")
HOLE = FAULTS.index("hole")
LOCKED_DOOR = FAULTS.index("locked_door")
AGAINST_ARROW = FAULTS.index("against_arrow")
VERTEX_CONFLICT = FAULTS.index("vertex_conflict")
EDGE_CONFLICT = FAULTS.index("edge_conflict")
GOAL_NOT_REACHED = FAULTS.index("goal_not_reached")
UP, DOWN, LEFT, RIGHT, WAIT = (ord(letter) for letter in "UDLRW")


@kernel
def judge_plan(exits, width, starts, goals, moves, lengths, out):
    """Judges one plan, in time proportional to agents times steps.

    Every agent leaves its stamp ``step * team + agent`` on the cell that it enters. An agent that finds a stamp of this step there is in a
    vertex conflict, and a stamp of the step before names the one agent it can have swapped cells with: no pairs need comparing.

    Args:
        exits: uint8[cells], row-major, the masks of :mod:`frozenlab.lake.exits`.
        starts, goals: int64[team], row-major cell numbers.
        moves: uint8[team, steps], the ASCII letters of ``U D L R W``; other letters are not checked for and count as ``R``.
        lengths: int64[team], the letters of each agent, :data:`MISSING` where the plan has none for it.
        out: int64[6], written: index of the first fault in FAULTS (-1 if valid), its step, the first and the second agent at fault,
            makespan, sum of costs; -1 for each that is not there.
    """
    team, cells, last = len(starts), len(exits), 0
    out[:] = -1
    for i in range(team):
        last = max(last, lengths[i])
        if lengths[i] == MISSING:
            _blame(i, out)
    if out[2] >= 0:
        out[0] = MISSING_AGENT
        return

    now, before, arrival = np.empty(team, np.int64), np.empty(team, np.int64), np.zeros(team, np.int64)
    stamps = np.empty(cells, np.int64)
    for cell in range(cells):
        stamps[cell] = -1
    for i in range(team):
        now[i] = starts[i]
        stamps[now[i]] = i
    for step in range(1, last + 1):
        outside = fallen = shut = barred = -1
        for i in range(team):
            before[i] = now[i]
            letter = moves[i, step - 1] if step <= lengths[i] else WAIT
            if letter == WAIT:
                continue
            arrival[i] = step
            direction = 0 if letter == UP else 1 if letter == DOWN else 2 if letter == LEFT else 3
            if exits[before[i]] >> direction & 1:
                now[i] = cell_towards(before[i], direction, width)
                if locked(exits[now[i]], i):
                    shut = i if shut < 0 else shut
            else:
                ahead = neighbour(before[i], direction, width, cells)
                if ahead < 0:
                    outside = i if outside < 0 else outside
                elif exits[ahead] == 0:
                    fallen = i if fallen < 0 else fallen
                elif locked(exits[ahead], i):
                    shut = i if shut < 0 else shut
                else:
                    barred = i if barred < 0 else barred
        for fault, agent in ((OUT_OF_BOUNDS, outside), (HOLE, fallen), (LOCKED_DOOR, shut), (AGAINST_ARROW, barred)):
            if agent >= 0:
                out[0], out[1], out[2] = fault, step, agent
                return

        swapped = other = -1
        for i in range(team):
            there = stamps[now[i]] - (step - 1) * team  # the agent that stood there one step ago, if it is not negative
            if there > i and now[there] == before[i] and swapped < 0:
                swapped, other = i, there
        first = second = team
        for i in range(team):
            there = stamps[now[i]] - step * team
            if there < 0:
                stamps[now[i]] = step * team + i
            elif there < first:
                first, second = there, i
        if first < team:
            out[0], out[1], out[2], out[3] = VERTEX_CONFLICT, step, first, second
            return
        if swapped >= 0:
            out[0], out[1], out[2], out[3] = EDGE_CONFLICT, step, swapped, other
            return

    for i in range(team):
        if now[i] != goals[i]:
            _blame(i, out)
    if out[2] >= 0:
        out[0], out[1] = GOAL_NOT_REACHED, last
    else:
        out[4], out[5] = 0, 0
        for i in range(team):
            out[4] = max(out[4], arrival[i])
            out[5] += arrival[i]


@entry("judge")
def judge_plans(exits, width, starts, goals, moves, lengths):
    """:func:`judge_plan` for boards of one shape, one a row: int64 ``[n, 6]``."""
    out = np.empty((exits.shape[0], 6), np.int64)
    for row in range(exits.shape[0]):
        judge_plan(exits[row], width, starts[row], goals[row], moves[row], lengths[row], out[row])
    return out


@kernel
def _blame(agent, out):
    """Notes ``agent`` as the first or the second at fault, if there is room."""
    if out[2] < 0:
        out[2] = agent
    elif out[3] < 0:
        out[3] = agent
