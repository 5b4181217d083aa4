"""What a file tells about one board, and how other tools' coordinates and moves become ours.

Ours: a cell is ``(row, col)`` from the top left, and ``D`` is row + 1. Other tools:

========================  =====================  ==================================================
tool                      cells                  moves
========================  =====================  ==================================================
MovingAI, Kei18           ``x, y`` = col, row    none
MAPF Tracker              ``x, y`` = col, row    ``d`` is y + 1, unless ``flip_up_down`` is set
libMultiRobotPlanning     ``x, y`` = col, row    none
paths.txt                 ``row, col``, some x,y none
PlanViz (model MAPF)      ``row, col``           ``U`` is row + 1, in logs of late 2023 row - 1
POGEMA, FrozenLake,       as ours                none
benchmark
========================  =====================  ==================================================

All of them count from the top left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from frozenlab.lake.board import MAX_TEAM, MOVES, Agent, Board, BoardError, Cell, Plan
from frozenlab.lake.rules import Path, Paths, judge, walk

MAX_STEPS = 10_000
"""Time steps that a plan in a file may have: a run-length code of a few letters could ask for billions."""

_MOVE_OF_STEP = {step: letter for letter, step in MOVES.items()}
_UP_DOWN = str.maketrans("UD", "DU")


@dataclass(frozen=True)
class Entry:
    """One board of a file."""

    name: str
    board: Board
    plan: Plan | None = None
    """The plan that the file gives for it, right or wrong and without WAITs at its end; None if it gives none."""
    notes: tuple[str, ...] = ()
    """What a person should know of how the file was read, a sentence each."""

    def first(self, agents: int | None) -> Entry:
        """The same with its first ``agents`` agents only; all of them for None. Raises BoardError if it has fewer."""
        if agents is None or agents == self.board.num_agents:
            return self
        if agents > self.board.num_agents:
            raise BoardError(f"the board has {self.board.num_agents} agents; {agents} cannot be taken")
        board = replace(self.board, agents=self.board.agents[:agents])
        return replace(self, board=board, plan=self.plan and self.plan[:agents])


@dataclass(frozen=True)
class Source:
    """What a reader is given: the texts of a file and of those that it goes with."""

    text: str
    name: str = ""
    """What to call the board where the file itself has no name for it."""
    map: str | None = None
    """The MovingAI map that the file is about, for formats that leave the map to another file."""
    map_name: str | None = None
    """The map's file name, where it is known."""
    scenario: str | None = None
    """The MovingAI scenario that the file is about, for plans that leave starts and goals to another file."""
    agents: int | None = None
    """Take this many agents, the first ones; all for None."""
    scenario_name: str | None = None
    """The scenario's file name, where it is known."""


def from_xy(x: int, y: int) -> Cell:
    """The cell in column ``x`` and row ``y``."""
    return (y, x)


def to_xy(cell: Cell) -> tuple[int, int]:
    """A cell as ``(x, y)``: column, row."""
    return (cell[1], cell[0])


def swap_up_down(motions: str) -> str:
    """The same motions for a tool whose rows count from below."""
    return motions.translate(_UP_DOWN)


def plan_of(paths: Sequence[Path]) -> Plan:
    """Motion strings from the cells of each agent. Raises BoardError at a jump, which no motion string can say."""
    return tuple(_motions(i, path) for i, path in enumerate(paths))


def _motions(agent: int, path: Path) -> str:
    motions = ""
    for step, (before, now) in enumerate(pairwise(path), 1):
        letter = _MOVE_OF_STEP.get((now[0] - before[0], now[1] - before[1]))
        if letter is None:
            raise BoardError(f"step {step}: agent {agent} goes from {before} to {now} (row, col), which is no neighbouring cell")
        motions += letter
    return motions


def trimmed(plan: Plan) -> Plan:
    """``plan`` without the WAITs at its end, which are redundant: an agent without letters left waits."""
    return tuple(motions.rstrip("W") for motions in plan)


def walk_on_ice(board: Board, plan: Plan, tool: str) -> Paths:
    """The paths of ``plan``. Raises BoardError where one leaves the free cells, for which files of ``tool`` have no place."""
    paths = walk(board, plan)
    for t in range(max(map(len, paths))):
        for i, path in enumerate(paths):
            cell = path[min(t, len(path) - 1)]
            if not board.contains(cell) or board.is_hole(cell):
                raise BoardError(f"step {t}: agent {i} is on {cell} (row, col), which is no free cell: {tool} cannot show it")
    return paths


def standing(board: Board, plan: Plan) -> tuple[bool, int]:
    """Whether ``plan`` is valid, and how many agents it takes to their goals: what tells two readings of a file apart."""
    verdict = judge(board, plan)
    return verdict.valid, sum(verdict.on_goal)


def board_of(rows: tuple[str, ...], agents: Sequence[Agent], place: Callable[[int], str]) -> Board:
    """The board of a file; ``place(i)`` says where the file speaks of agent ``i``, for the reason if it is no board."""
    if len(agents) > MAX_TEAM:
        first = f"--agents {MAX_TEAM} takes the first of them, and so does 'Agents to take' on the page Play"
        raise BoardError(f"the file has {len(agents)} agents; a board has at most {MAX_TEAM}: {first}")
    try:
        return Board(rows, tuple(agents))
    except BoardError as error:
        named = re.match(r"the (?:start|goal) of agent ([0-9]+)", str(error))
        if named is None:
            raise
        i = int(named[1])
        advice = f"; the first {i} agents make a board" if i else ""
        raise BoardError(f"{place(i)}: {error} (cells are row, col){advice}") from None


def whole_number(text: str, what: str) -> int:
    """``text`` as a whole number from 0 to 999,999,999. Raises BoardError that begins with ``what``."""
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise BoardError(f"{what} is {text[:20]!r}; a whole number is expected")
    return int(text)


def needs_plan(entry: Entry, tool: str) -> Plan:
    """The plan of ``entry``, for files that are about nothing else. Raises BoardError if there is none."""
    if entry.plan is None:
        raise BoardError(f"board {entry.name[:80]!r} has no plan, and a {tool} file is about one: solve the board first")
    return trimmed(entry.plan)
