"""POGEMA's text maps: ``.`` is free, ``#`` blocked, a small letter an agent and the same letter in capitals its target.

Source: https://github.com/CognitiveAISystems/pogema (GridConfig.str_map_to_list). Agents are in the order of their letters; lines may be
indented. ``@``, ``$`` and ``!`` are free cells too, where agents or targets or neither may be drawn. A GridConfig in JSON, with ``map`` as
text, as its lines or as rows of 0 and 1, ``agents_xy`` and ``targets_xy`` in (row, col), is read too.
"""

from __future__ import annotations

from string import ascii_lowercase
from typing import Any

from frozenlab.lake.board import FROZEN, HOLE, MAX_SIDE, Agent, BoardError, Cell, read_json
from frozenlab.lake.formats.entry import Entry, Source, board_of


def read(source: Source) -> list[Entry]:
    """The board of a map. Raises BoardError with the line and cell that is wrong."""
    if source.text.lstrip().startswith("{"):
        return [_read_config(read_json(source.text), source)]
    rows, places = _read_map(source.text)
    letters = sorted({letter.lower() for letter in places})
    for letter in letters:
        if letter not in places or letter.upper() not in places:
            there, missing = (letter, letter.upper()) if letter in places else (letter.upper(), letter)
            raise BoardError(f"there is {there!r} on the map but no {missing!r}; each agent has a small letter and each target its capital")
    if rows and not letters:
        raise BoardError("the map has no letters for agents and targets: POGEMA draws them from a seed of its own")
    agents = [Agent(places[letter], places[letter.upper()]) for letter in letters[: source.agents]]
    return [Entry(source.name, board_of(rows, agents, lambda i: f"agent {letters[i]!r}"))]


def _read_config(config: Any, source: Source) -> Entry:
    grid, starts, goals = (config.get(key) for key in ("map", "agents_xy", "targets_xy"))
    if isinstance(grid, list) and all(isinstance(row, list | str) for row in grid):
        grid = "\n".join(row if isinstance(row, str) else "".join("#" if cell == 1 else "." for cell in row) for row in grid)
    if not isinstance(grid, str) or not isinstance(starts, list) or not isinstance(goals, list) or len(starts) != len(goals):
        raise BoardError('"map", "agents_xy" and as many "targets_xy" are expected: POGEMA draws what is missing from a seed of its own')
    for key, cells in (("agents_xy", starts), ("targets_xy", goals)):
        for i, cell in enumerate(cells):
            if not (isinstance(cell, list) and len(cell) == 2 and all(type(number) is int for number in cell)):
                raise BoardError(f'"{key}", agent {i}: [row, col] is expected; a board has one goal an agent')
    agents = [Agent((a[0], a[1]), (b[0], b[1])) for a, b in zip(starts, goals, strict=True)][: source.agents]
    return Entry(source.name, board_of(_read_map(grid)[0], agents, lambda i: f"agent {i}"))


def _read_map(text: str) -> tuple[tuple[str, ...], dict[str, Cell]]:
    """The rows over ``F`` and ``H``, and where each letter is."""
    rows: list[str] = []
    places: dict[str, Cell] = {}
    for number, line in enumerate(text.splitlines(), 1):
        row = ""
        for c, letter in enumerate(line.strip()):
            if letter.isascii() and letter.isalpha():
                if letter in places:
                    raise BoardError(f"line {number}, cell {c + 1}: a second {letter!r}, the first is at {places[letter]} (row, col)")
                places[letter] = (len(rows), c)
            elif letter not in ".#@$!":
                raise BoardError(f"line {number}, cell {c + 1}: {letter!r} is no cell; use . (free), # (blocked), a and A (agent, target)")
            row += HOLE if letter == "#" else FROZEN
        if row:
            width = len(rows[0]) if rows else len(row)
            if len(row) != width or max(width, len(rows) + 1) > MAX_SIDE:
                raise BoardError(
                    f"line {number}: {len(row)} cells in row {len(rows) + 1}; all rows are of one length, sides at most {MAX_SIDE}"
                )
            rows.append(row)
    return tuple(rows), places


def write(entry: Entry, stem: str) -> dict[str, str]:
    """``stem.txt``. Raises BoardError above 26 agents, which have no letters."""
    board = entry.board
    if board.num_agents > len(ascii_lowercase):
        raise BoardError(f"POGEMA's maps have letters for {len(ascii_lowercase)} agents; the board has {board.num_agents}")
    if {agent.start for agent in board.agents} & {agent.goal for agent in board.agents}:
        raise BoardError("POGEMA's maps have one letter a cell, and a start is also a goal")
    grid = [["#" if letter == HOLE else "." for letter in row] for row in board.rows]
    for letter, agent in zip(ascii_lowercase, board.agents, strict=False):
        grid[agent.start[0]][agent.start[1]] = letter
        grid[agent.goal[0]][agent.goal[1]] = letter.upper()
    return {f"{stem}.txt": "\n".join("".join(row) for row in grid) + "\n"}
