"""POGEMA's text maps: ``.`` is free, ``#`` blocked, a small letter an agent and the same letter in capitals its target.

Source: https://github.com/CognitiveAISystems/pogema (GridConfig.str_map_to_list). Agents are in the order of their letters; lines may be
indented.
"""

from __future__ import annotations

from string import ascii_lowercase

from frozenlab.lake.board import FROZEN, HOLE, MAX_SIDE, Agent, BoardError, Cell
from frozenlab.lake.formats.entry import Entry, Source, board_of


def read(source: Source) -> list[Entry]:
    """The board of a map. Raises BoardError with the line and cell that is wrong."""
    rows: list[str] = []
    places: dict[str, Cell] = {}
    for number, line in enumerate(source.text.splitlines(), 1):
        row = ""
        for c, letter in enumerate(line.strip()):
            if letter.isascii() and letter.isalpha():
                if letter in places:
                    raise BoardError(f"line {number}, cell {c + 1}: a second {letter!r}, the first is at {places[letter]} (row, col)")
                places[letter] = (len(rows), c)
            elif letter not in ".#":
                raise BoardError(f"line {number}, cell {c + 1}: {letter!r} is no cell; use . (free), # (blocked), a and A (agent, target)")
            row += HOLE if letter == "#" else FROZEN
        if row:
            width = len(rows[0]) if rows else len(row)
            if len(row) != width or max(width, len(rows) + 1) > MAX_SIDE:
                raise BoardError(
                    f"line {number}: {len(row)} cells in row {len(rows) + 1}; all rows are of one length, sides at most {MAX_SIDE}"
                )
            rows.append(row)
    letters = sorted({letter.lower() for letter in places})
    for letter in letters:
        if letter not in places or letter.upper() not in places:
            there, missing = (letter, letter.upper()) if letter in places else (letter.upper(), letter)
            raise BoardError(f"there is {there!r} on the map but no {missing!r}; each agent has a small letter and each target its capital")
    agents = [Agent(places[letter], places[letter.upper()]) for letter in letters[: source.agents]]
    return [Entry(source.name, board_of(tuple(rows), agents, lambda i: f"agent {letters[i]!r}"))]


def write(entry: Entry, stem: str) -> dict[str, str]:
    """``stem.txt``. Raises BoardError above 26 agents, which have no letters."""
    board = entry.board
    if board.num_agents > len(ascii_lowercase):
        raise BoardError(f"POGEMA's maps have letters for {len(ascii_lowercase)} agents; the board has {board.num_agents}")
    grid = [["#" if letter == HOLE else "." for letter in row] for row in board.rows]
    for letter, agent in zip(ascii_lowercase, board.agents, strict=False):
        grid[agent.start[0]][agent.start[1]] = letter
        grid[agent.goal[0]][agent.goal[1]] = letter.upper()
    return {f"{stem}.txt": "\n".join("".join(row) for row in grid) + "\n"}
