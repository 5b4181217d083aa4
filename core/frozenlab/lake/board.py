"""Boards: the grid, the agents on it, and the two forms a board is written in.

The text form is the public MAPF-FrozenLake benchmark's map: one row a line, cells separated by one space, the letters
``S s A B C`` for the starts and ``G g a b c`` for the goals of agents 0..4. The JSON form is one line and has no limit on agents.
Both also have ``^ v < >`` for one-way ice, which agents leave only that way, and ``0`` .. ``4`` for doors that only this agent may enter.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from frozenlab.base.errors import LabError
from frozenlab.lake.exits import ARROWS, DOORS, exits_of, locked

Cell = tuple[int, int]
"""``(row, col)``, 0-based, from the top left."""

FROZEN, HOLE = "F", "H"
START_LETTERS = "SsABC"
GOAL_LETTERS = "Ggabc"
ICE = FROZEN + HOLE + ARROWS + DOORS
"""What a cell can be."""
ICE_WORDS = f"F (frozen), H (hole), {' '.join(ARROWS)} (one-way ice) or {DOORS[0]} to {DOORS[-1]} (an agent's door)"
MAX_SIDE, MAX_CELLS, MAX_TEAM = 2_048, 1 << 20, 1_000

MOVES: dict[str, Cell] = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1), "W": (0, 0)}
"""Action letter -> (row, col) step. The words are UP DOWN LEFT RIGHT WAIT."""
EXIT_OF = {step: 1 << action for action, step in enumerate(MOVES.values())}
"""(row, col) step -> its bit in the exits of a cell."""

Plan = tuple[str, ...]
"""One motion string over ``U D L R W`` an agent. An agent whose string has ended waits where it stands."""


class BoardError(LabError, ValueError):
    """A board, or a file that should hold one, is not valid; the message says what and where."""


@dataclass(frozen=True, slots=True)
class Agent:
    """Where one agent begins and where it has to go."""

    start: Cell
    goal: Cell


@dataclass(frozen=True)
class Board:
    """A rectangular grid of frozen and hole cells with agents on it (a MAPF *instance*).

    Raises:
        BoardError: rows of different length, an unknown letter, a door of an agent that is not there, a start or goal off the grid, on
            anything but plain ice, two agents with one start, or with one goal.

    Example:
        >>> board = Board(("FFF", "FHF"), (Agent(start=(0, 0), goal=(1, 2)),))
        >>> print(board.to_text())
        S F F
        F H G
        >>> board.num_agents, board.holes, board.distances_to_goal(0)[0, 0]
        (1, ((1, 1),), 3)
    """

    rows: tuple[str, ...]
    """One string over ``F H ^ v < > 0 1 2 3 4`` a row; starts and goals are plain frozen cells."""
    agents: tuple[Agent, ...]

    def __post_init__(self) -> None:
        if not self.rows or not self.rows[0]:
            raise BoardError("the board has no cells")
        if self.size > MAX_SIDE or self.height * self.width > MAX_CELLS:
            most = f"sides of at most {MAX_SIDE} cells, {MAX_CELLS:,} cells in all"
            raise BoardError(f"the board is {self.height}x{self.width}; allowed are {most}")
        for r, row in enumerate(self.rows):
            if len(row) != self.width:
                raise BoardError(f"row {r} has {len(row)} cells, row 0 has {self.width}")
            kinds = set(row)
            if odd := kinds.difference(ICE):
                c = min(map(row.index, odd))
                raise BoardError(f"cell ({r}, {c}) is {row[c]!r}; a cell is {ICE_WORDS}")
            for letter in kinds.intersection(DOORS):
                if int(letter) >= len(self.agents) > 0:
                    raise BoardError(f"cell ({r}, {row.index(letter)}) is a door of agent {letter}, whom the board does not have")
        if not self.agents:
            raise BoardError("the board has no agents")
        if len(self.agents) > MAX_TEAM:
            raise BoardError(f"the board has {len(self.agents)} agents; the largest team allowed is {MAX_TEAM}")
        starts: dict[Cell, str] = {}
        goals: dict[Cell, str] = {}
        for i, agent in enumerate(self.agents):
            for role, cell, taken in (("start", agent.start, starts), ("goal", agent.goal, goals)):
                name = f"the {role} of agent {i}"
                if not self.contains(cell):
                    raise BoardError(f"{name} {cell} is off the {self.height}x{self.width} board")
                if (letter := self.rows[cell[0]][cell[1]]) != FROZEN:
                    what = "a hole" if letter == HOLE else "one-way ice" if letter in ARROWS else "a door"
                    raise BoardError(f"{name} {cell} is {what}")
                if cell in taken:
                    raise BoardError(f"{name} {cell} is also {taken[cell]}; no two agents share one")
                taken[cell] = name

    @classmethod
    def known_good(cls, rows: tuple[str, ...], agents: tuple[Agent, ...]) -> Board:
        """A board that is right by construction: the checks would take most of the time of drawing it."""
        board = object.__new__(cls)
        board.__dict__.update(rows=rows, agents=agents)
        return board

    @property
    def height(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return len(self.rows[0])

    @property
    def size(self) -> int:
        """The longer side: what "map size" means in configs and tables (boards drawn from a config are square)."""
        return max(self.height, self.width)

    @property
    def num_agents(self) -> int:
        return len(self.agents)

    @cached_property
    def holes(self) -> tuple[Cell, ...]:
        """Hole cells in row-major order."""
        return self.cells_of(HOLE)

    def cells_of(self, letter: str) -> tuple[Cell, ...]:
        """The cells of one kind (a letter of ICE) in row-major order."""
        return tuple((r, c) for r, row in enumerate(self.rows) for c, here in enumerate(row) if here == letter)

    @cached_property
    def is_furnished(self) -> bool:
        """Whether it has one-way ice or doors."""
        return not set("".join(self.rows)) <= {FROZEN, HOLE}

    @property
    def hole_ratio(self) -> float:
        return sum(row.count(HOLE) for row in self.rows) / (self.height * self.width)

    def contains(self, cell: Cell) -> bool:
        return 0 <= cell[0] < self.height and 0 <= cell[1] < self.width

    def is_hole(self, cell: Cell) -> bool:
        return self.rows[cell[0]][cell[1]] == HOLE

    @cached_property
    def exits(self) -> bytes:
        """The actions that an agent can take on each cell, and its door, row-major: the bit masks of :mod:`frozenlab.lake.exits`."""
        return exits_of("".join(self.rows).encode("ascii"), self.width)

    def has_exit(self, here: Cell, there: Cell) -> bool:
        """Whether an exit of ``here``, a cell of the board, leads to ``there``."""
        action = EXIT_OF.get((there[0] - here[0], there[1] - here[1]), 0)
        return bool(self.exits[here[0] * self.width + here[1]] & action)

    def is_locked(self, cell: Cell, agent: int) -> bool:
        """Whether a cell of the board is a door that the agent has no key for."""
        return locked(self.exits[cell[0] * self.width + cell[1]], agent)

    def leads(self, here: Cell, there: Cell, agent: int) -> bool:
        """Whether the agent on ``here``, a cell of the board, can be on ``there`` one step later if no other agent is in the way."""
        return self.has_exit(here, there) and not self.is_locked(there, agent)

    def distances_to_goal(self, agent: int) -> dict[Cell, int]:
        """Steps to the agent's goal from every cell from which it can get there when no other agent is in the way (breadth-first)."""
        goal = self.agents[agent].goal
        distance = {goal: 0}
        queue = deque([goal])
        while queue:
            r, c = queue.popleft()
            for dr, dc in MOVES.values():
                cell = (r + dr, c + dc)
                if cell in distance or not self.contains(cell) or self.is_locked(cell, agent):
                    continue
                if self.has_exit(cell, (r, c)):
                    distance[cell] = distance[(r, c)] + 1
                    queue.append(cell)
        return distance

    # --- the text form -------------------------------------------------------------------------------------------

    @property
    def has_letters(self) -> bool:
        """Whether the text form can hold the board: it has letters for five agents, and one letter a cell."""
        ends = [cell for agent in self.agents for cell in (agent.start, agent.goal)]
        return self.num_agents <= len(START_LETTERS) and len(set(ends)) == len(ends)

    def to_text(self) -> str:
        """The benchmark's map. Raises BoardError above five agents, and where a start is also a goal: there are no letters for either."""
        if not self.has_letters:
            few = self.num_agents <= len(START_LETTERS)
            why = "one letter a cell, and a start is also a goal" if few else f"letters for 5 agents, the board has {self.num_agents}"
            raise BoardError(f"the text form has {why}: use JSON")
        grid = [list(row) for row in self.rows]
        for i, agent in enumerate(self.agents):
            grid[agent.start[0]][agent.start[1]] = START_LETTERS[i]
            grid[agent.goal[0]][agent.goal[1]] = GOAL_LETTERS[i]
        return "\n".join(" ".join(row) for row in grid)

    @classmethod
    def from_text(cls, text: str) -> Board:
        """Reads the text form. Raises BoardError with the line and cell that is wrong.

        Example:
            >>> Board.from_text("S g G\\nF s H").agents[1]
            Agent(start=(1, 1), goal=(0, 1))
        """
        starts: dict[int, Cell] = {}
        goals: dict[int, Cell] = {}
        rows: list[str] = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            r, row = len(rows), ""
            letters_here = line.split(maxsplit=MAX_SIDE)
            if r == MAX_SIDE or len(letters_here) > MAX_SIDE:
                what = "row" if r == MAX_SIDE else "cell"
                raise BoardError(f"line {number}: a {what} too many; the largest side allowed is {MAX_SIDE}")
            if set(letters_here).issubset(ICE):
                rows.append("".join(letters_here))
                continue
            for c, letter in enumerate(letters_here):
                for letters, found, role in ((START_LETTERS, starts, "start"), (GOAL_LETTERS, goals, "goal")):
                    if len(letter) == 1 and letter in letters:
                        agent = letters.index(letter)
                        if agent in found:
                            raise BoardError(
                                f"line {number}, cell {c + 1}: a second {role} {letter!r} of agent {agent}, the first is at {found[agent]}"
                            )
                        found[agent] = (r, c)
                        letter = FROZEN
                if len(letter) != 1 or letter not in ICE:
                    agents = f"agents start on {' '.join(START_LETTERS)} and end on {' '.join(GOAL_LETTERS)}"
                    raise BoardError(f"line {number}, cell {c + 1}: {letter[:20]!r} is no cell; use {ICE_WORDS}; {agents}")
                row += letter
            rows.append(row)
        num_agents = max([*starts, *goals], default=-1) + 1
        for i in range(num_agents):
            if i not in starts and i not in goals:
                raise BoardError(f"agent {num_agents - 1} is on the board but agent {i} is not: letters are given out in order")
            if i not in starts:
                raise BoardError(f"agent {i} has a goal {GOAL_LETTERS[i]!r} but no start {START_LETTERS[i]!r}")
            if i not in goals:
                raise BoardError(f"agent {i} has a start {START_LETTERS[i]!r} but no goal {GOAL_LETTERS[i]!r}")
        return cls(tuple(rows), tuple(Agent(starts[i], goals[i]) for i in range(num_agents)))

    # --- the JSON form -------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """``{"map": ["S F H", ...], "agents": [{"start": [r, c], "goal": [r, c]}, ...]}``; the map has letters if the board has."""
        lines = self.to_text().splitlines() if self.has_letters else [" ".join(row) for row in self.rows]
        return {"map": lines, "agents": [{"start": list(a.start), "goal": list(a.goal)} for a in self.agents]}

    @classmethod
    def from_dict(cls, data: Any) -> Board:
        """Reads the JSON form; further keys are ignored. Raises BoardError naming the key that is wrong.

        Example:
            >>> Board.from_dict({"map": ["F F"], "agents": [{"start": [0, 0], "goal": [0, 1]}]}).to_dict()
            {'map': ['S G'], 'agents': [{'start': [0, 0], 'goal': [0, 1]}]}
        """
        if not isinstance(data, dict):
            raise BoardError(f"a board is a JSON object, not {type(data).__name__}")
        lines, agents = data.get("map"), data.get("agents")
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            raise BoardError('"map" must be a list of strings, one per row, like "S F H"')
        if not isinstance(agents, list):
            raise BoardError('"agents" must be a list of {"start": [row, col], "goal": [row, col]}')
        frozen_letters = str.maketrans({letter: FROZEN for letter in START_LETTERS + GOAL_LETTERS})
        rows = tuple("".join(line.split()).translate(frozen_letters) for line in lines)
        board = cls(rows, tuple(_read_agent(agent, i) for i, agent in enumerate(agents)))
        board._check_letters(lines)
        return board

    def _check_letters(self, lines: Sequence[str]) -> None:
        """The letters of the map, where it bears any, have to agree with ``agents``."""
        for r, line in enumerate(lines):
            if set(line).isdisjoint(START_LETTERS + GOAL_LETTERS):
                continue
            for c, letter in enumerate("".join(line.split())):
                for letters, role in ((START_LETTERS, "start"), (GOAL_LETTERS, "goal")):
                    i = letters.find(letter)
                    if i >= 0 and (i >= self.num_agents or getattr(self.agents[i], role) != (r, c)):
                        raise BoardError(f'map row {r}, cell {c} is {letter!r}, the {role} of agent {i}, but "agents" says otherwise')


def _read_agent(data: Any, i: int) -> Agent:
    cells = []
    for role in ("start", "goal"):
        cell = data.get(role) if isinstance(data, dict) else None
        if not (isinstance(cell, list) and len(cell) == 2 and all(type(x) is int for x in cell)):
            raise BoardError(f'agent {i}: "{role}" must be [row, col], two whole numbers')
        cells.append((cell[0], cell[1]))
    return Agent(*cells)


def read_board(text: str) -> Board:
    """Reads a board in either form: JSON if the text begins with ``{``, else the text form. Raises BoardError with a one-line reason."""
    text = text.removeprefix("\ufeff")
    return Board.from_dict(read_json(text)) if text.lstrip().startswith("{") else Board.from_text(text)


def read_json(text: str) -> Any:
    """Parses a JSON board or instance. Raises BoardError with a one-line reason."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BoardError(f"not a JSON board: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):
        raise BoardError("not a JSON board: a number too long, or too deeply nested") from None
