"""The compact question about a board, for language models that had a warm start on it, and the worked answers that they learn from.

It states no rules. A cell has a name, a letter for its row and a number for its column, and is followed by the ways out of it, so that a
model finds what it needs by copying what stands behind a name. Holes are left out.

The answer says where each agent stands and its ways from there, then time step by time step, agent by agent, its move, the cell it comes
to and its ways from there, or that it is home. Moves that are barred by agents that have moved already in this step come before its move.
"""

from __future__ import annotations

import re

from frozenlab.base.spoken import spoken
from frozenlab.lake.board import FROZEN, MOVES, Board, BoardError, Cell, Plan
from frozenlab.lake.rules import walk
from frozenlab.lake.words.answers import ACTION_WORDS, ACTIONS
from frozenlab.lake.words.reading import Answer

SYSTEM = "Plan on the frozen lake."
"""What a model reads before each question."""
ROWS = "abcdefghijklmnopqrstuvwxyz"
WORDS = {letter: ACTION_WORDS[letter].lower() for letter in MOVES}

_WAY, _CELL = "(?:up|down|left|right)", r"([a-z])(\d{1,2})"
_START = re.compile(rf"(\d{{1,3}}) {_CELL}(?: {_WAY})*")
_STEP = re.compile(rf"(\d{{1,3}}) (?:not(?: (?:{_WAY}|wait))+, )?(?:home|({_WAY}|wait) {_CELL}(?: home|(?: {_WAY})*))")


def question(board: Board) -> str:
    """The size, the cells row by row with the ways out of them, and the start and goal of each agent.

    The letter of one-way ice or of a door follows the name of its cell. Raises BoardError for a board with more rows than letters.

    Example:
        >>> print(question(Board.from_text("S H G\\nF F F")))
        2x3
         a0 down a2 down
         b0 up right b1 left right b2 up left
        0 a0 to a2
    """
    if board.height > len(ROWS):
        raise BoardError(f"the board has {board.height} rows; the compact question has letters for {len(ROWS)}")
    rows = []
    for r, row in enumerate(board.rows):
        free = [(r, c) for c in range(board.width) if not board.is_hole((r, c))]
        kinds = ("" if row[c] == FROZEN else f" {row[c]}" for _, c in free)
        rows.append("".join(f" {name(cell)}{kind}{ways(board, cell)}" for cell, kind in zip(free, kinds, strict=True)))
    agents = (f"{i} {name(agent.start)} to {name(agent.goal)}" for i, agent in enumerate(board.agents))
    return "\n".join([f"{board.height}x{board.width}", *filter(None, rows), *agents])


def worked_answer(board: Board, plan: Plan) -> str:
    """What a model should write about a board whose plan is known.

    Example:
        >>> print(worked_answer(Board.from_text("S F G s g"), ("RR", "R")))
        0 a0 right
        1 a3 left right
        0 right a1 left right
        1 right a4 home
        0 right a2 home
        1 home
    """
    steps = max(map(len, plan))
    paths = walk(board, tuple(motions.ljust(steps, "W") for motions in plan))
    lines = [f"{i} {name(path[0])}{ways(board, path[0], i)}" for i, path in enumerate(paths)]
    for step in range(1, steps + 1):
        moved: list[tuple[Cell, Cell]] = []
        for i, path in enumerate(paths):
            lines.append(f"{i} {one_step(board, i, path[step - 1], path[step], moved)}")
            moved.append((path[step - 1], path[step]))
    return "\n".join(lines)


def one_step(board: Board, agent: int, here: Cell, there: Cell, moved: list[tuple[Cell, Cell]]) -> str:
    """What an agent does in a time step; ``moved`` are the cells that agents before it leave and come to."""
    goal = board.agents[agent].goal
    if here == there == goal:
        return "home"
    bars = [
        WORDS[move] for move, to in targets(board, here, agent).items() if any(to == new or (to, here) == (old, new) for old, new in moved)
    ]
    move = next(letter for letter, (dr, dc) in MOVES.items() if (here[0] + dr, here[1] + dc) == there)
    end = " home" if there == goal else ways(board, there, agent)
    barred = f"not {' '.join(bars)}, " if bars else ""
    return f"{barred}{WORDS[move]} {name(there)}{end}"


def targets(board: Board, here: Cell, agent: int | None) -> dict[str, Cell]:
    """Move -> the cell to which it leads from a cell, if no agent is in the way; without an ``agent``, doors are open."""
    cells = {move: (here[0] + dr, here[1] + dc) for move, (dr, dc) in MOVES.items()}
    return {
        move: there for move, there in cells.items() if board.has_exit(here, there) and (agent is None or not board.is_locked(there, agent))
    }


def ways(board: Board, cell: Cell, agent: int | None = None) -> str:
    """The moves that leave a cell, a space before each."""
    return "".join(f" {WORDS[move]}" for move in targets(board, cell, agent) if move != "W")


def name(cell: Cell) -> str:
    """
    >>> name((1, 0))
    'b0'
    """
    return f"{ROWS[cell[0]]}{cell[1]}"


def read_answer(board: Board, text: str, finished: bool) -> Answer:
    """The plan in an answer to the compact question, in the form of :func:`worked_answer` and in no other.

    The moves are the plan. Not judged is what is said about ways, barred moves and being home. An answer that was cut off is
    ``truncated``; lines that end before every agent has moved leave a ``missing_agent``; any other line, or a cell of the board to which
    its move does not lead, is a ``parse_error``.
    """
    if not finished:
        return Answer(fault="truncated")
    team = board.num_agents
    paths: list[list[Cell]] = []
    agents: list[int] = []
    for number, line in enumerate(filter(str.strip, spoken(text).splitlines())):
        found = (_START if number < team else _STEP).fullmatch(line.strip())
        if found is None:
            return Answer(fault="parse_error")
        agents.append(int(found[1]))
        *_, letter, column = found.groups()
        written = None if letter is None else (ROWS.index(letter), int(column))
        if number < team:
            assert written is not None
            paths.append([written])
            continue
        here = paths[number % team][-1]
        dr, dc = MOVES[ACTIONS[(found[2] or "wait").upper()]]
        there = (here[0] + dr, here[1] + dc)
        if written not in (None, there) and board.contains(there):
            return Answer(fault="parse_error")
        paths[number % team].append(there)
    if any(agent != number % team for number, agent in enumerate(agents)) or not agents:
        return Answer(fault="missing_agent" if agents and set(agents) < set(range(team)) else "parse_error")
    return Answer(fault="missing_agent") if len(agents) % team else Answer(paths=tuple(map(tuple, paths)))
