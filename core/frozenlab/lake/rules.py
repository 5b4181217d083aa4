"""The rules of the lake: what a plan does on a board, and its first fault if it breaks them.

All agents move at once, one cell or a WAIT a time step. Following another agent and rotations are legal; sharing a cell and swapping
cells are not. One-way ice is left only in the direction of its arrow, and a door is entered only by the agent that has its key. An agent
whose path has ended waits where it stands, and still blocks (classical MAPF, Stern et al. 2019).
This one classifier serves reward, charts, board viewer and the engineer's context: people see what the model saw.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

from frozenlab.base.errors import LabError
from frozenlab.lake.board import EXIT_OF, MOVES, Board, Cell, Plan

Fault = Literal[
    "parse_error",
    "truncated",
    "missing_agent",
    "out_of_bounds",
    "hole",
    "locked_door",
    "against_arrow",
    "illegal_jump",
    "vertex_conflict",
    "edge_conflict",
    "goal_not_reached",
]
FAULTS: tuple[Fault, ...] = get_args(Fault)
"""Every reason why an answer is not a valid plan. The first two are found by the parser, the others here."""

Path = tuple[Cell, ...]
"""The cell of one agent at time 0, 1, 2, ..."""
Paths = tuple[Path, ...]
"""One path an agent, in the order of the board's agents."""


@dataclass(frozen=True)
class Verdict:
    """What the rules say about one answer."""

    fault: Fault | None
    """The first fault, by time step and then in the order of FAULTS; None if the plan is valid."""
    step: int | None = None
    """The time step of the fault (1 is the first move, 0 a wrong start); the last one for ``goal_not_reached``."""
    agents: tuple[int, ...] = ()
    """The agents at fault, ascending: both of a conflict, all that are missing or not on their goal, else one."""
    cell: Cell | None = None
    """Where it happened: the cell that the first of these agents has at ``step`` (it may lie off the board)."""
    makespan: int | None = None
    """Time step from which all agents stand on their goals for good; None unless valid."""
    sum_of_costs: int | None = None
    """Sum over the agents of the time step from which each stands on its goal for good; None unless valid."""
    optimal: bool | None = None
    """Whether the makespan is the best possible; None if the plan is valid and the optimum is not known."""
    on_goal: tuple[bool, ...] = ()
    """Per agent whether its path ends on its goal, whatever goes wrong on the way."""

    @property
    def valid(self) -> bool:
        return self.fault is None

    @property
    def outcome(self) -> str:
        """``optimal``, ``suboptimal``, ``valid`` (the optimum is not known), or the fault."""
        if self.fault is not None:
            return self.fault
        return "valid" if self.optimal is None else "optimal" if self.optimal else "suboptimal"


class PlanError(LabError, ValueError):
    """A plan does not fit its board; the message says what is wrong with it."""


def walk(board: Board, plan: Plan) -> Paths:
    """The cells that ``plan`` leads to from the starts, legal or not.

    Raises:
        PlanError: a letter other than ``U D L R W``, or more motion strings than agents.

    Example:
        >>> walk(Board.from_text("S F G"), ("RWR",))
        (((0, 0), (0, 1), (0, 1), (0, 2)),)
    """
    if len(plan) > board.num_agents:
        raise PlanError(f"the plan has {len(plan)} motion strings, the board has {board.num_agents} agents")
    paths = []
    for i, motions in enumerate(plan):
        r, c = board.agents[i].start
        path = [(r, c)]
        for letter in motions:
            if letter not in MOVES:
                raise PlanError(f"agent {i}: {letter!r} is no action; use {' '.join(MOVES)}")
            r, c = r + MOVES[letter][0], c + MOVES[letter][1]
            path.append((r, c))
        paths.append(tuple(path))
    return tuple(paths)


def judge(board: Board, plan: Plan, optimal_makespan: int | None = None) -> Verdict:
    """Judges a plan of motion strings; see :func:`judge_paths`. Raises PlanError as :func:`walk` does.

    Example:
        >>> board = Board.from_text("S g F\\nF G s")
        >>> judge(board, ("RD", "LU"), optimal_makespan=2).fault
        'edge_conflict'
        >>> verdict = judge(board, ("DR", "UL"), optimal_makespan=2)
        >>> verdict.outcome, verdict.makespan, verdict.sum_of_costs
        ('optimal', 2, 4)
    """
    return judge_paths(board, walk(board, plan), optimal_makespan)


def judge_paths(board: Board, paths: Paths, optimal_makespan: int | None = None) -> Verdict:
    """The verdict on ``paths``: the first fault, or the makespan and sum of costs.

    A path begins at its agent's start (else ``illegal_jump`` at step 0). An empty path counts as missing; more paths than agents are a
    ``parse_error``. Trailing WAITs are free: they change neither makespan nor sum of costs.

    Args:
        optimal_makespan: the best possible makespan, where it is known.
    """
    on_goal = tuple(i < len(paths) and paths[i][-1:] == (agent.goal,) for i, agent in enumerate(board.agents))
    if len(paths) > board.num_agents:
        return Verdict("parse_error", optimal=False, on_goal=on_goal)
    missing = tuple(i for i in range(board.num_agents) if i >= len(paths) or not paths[i])
    if missing:
        return Verdict("missing_agent", agents=missing, optimal=False, on_goal=on_goal)

    last = max(len(path) for path in paths) - 1
    before = tuple(agent.start for agent in board.agents)
    for step in range(last + 1):
        now = tuple(path[min(step, len(path) - 1)] for path in paths)
        found = next(_faults(board, before, now, moving=step > 0), None)
        if found is not None:
            fault, agents = found
            return Verdict(fault, step, agents, now[agents[0]], optimal=False, on_goal=on_goal)
        before = now

    astray = tuple(i for i, there in enumerate(on_goal) if not there)
    if astray:
        return Verdict("goal_not_reached", last, astray, before[astray[0]], optimal=False, on_goal=on_goal)
    arrivals = [_arrival(path) for path in paths]
    makespan = max(arrivals)
    optimal = None if optimal_makespan is None else makespan <= optimal_makespan
    return Verdict(None, makespan=makespan, sum_of_costs=sum(arrivals), optimal=optimal, on_goal=on_goal)


def _faults(board: Board, before: Path, now: Path, moving: bool) -> Iterator[tuple[Fault, tuple[int, ...]]]:
    """The faults of one time step in their order of precedence; ``before`` and ``now`` hold one cell an agent.

    Nobody is ``moving`` at step 0, where ``before`` is the starts. Later an agent goes where an exit of its cell leads. Between cells side
    by side only one-way ice lacks one.
    """
    # an exit leads to no hole and not off the board, so only who takes none is looked at
    barred = [i for i, (old, new) in enumerate(zip(before, now, strict=True)) if not (board.has_exit(old, new) if moving else old == new)]
    for i in barred:
        if not board.contains(now[i]):
            yield "out_of_bounds", (i,)
    for i in barred:
        if board.is_hole(now[i]):
            yield "hole", (i,)
    for i, cell in enumerate(now if board.is_furnished else ()):
        if board.is_locked(cell, i):
            yield "locked_door", (i,)
    for i in barred:
        if moving and (now[i][0] - before[i][0], now[i][1] - before[i][1]) in EXIT_OF:
            yield "against_arrow", (i,)
    for i in barred:
        yield "illegal_jump", (i,)
    if len(set(now)) < len(now):  # pairs are looked at only where there is something to find
        for i, j in combinations(range(len(now)), 2):
            if now[i] == now[j]:
                yield "vertex_conflict", (i, j)
    moves = set(zip(before, now, strict=True))
    if any(old != new and (new, old) in moves for old, new in moves):
        for i, j in combinations(range(len(now)), 2):
            if now[i] == before[j] and now[j] == before[i]:
                yield "edge_conflict", (i, j)


def _arrival(path: Path) -> int:
    """First time step from which the path stays on its last cell."""
    step = len(path) - 1
    while step > 0 and path[step - 1] == path[-1]:
        step -= 1
    return step
