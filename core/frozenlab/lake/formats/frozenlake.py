"""The ``desc`` of Gymnasium's FrozenLake: a board of one agent, with ``S`` (start), ``F`` (frozen), ``H`` (hole) and ``G`` (goal).

Source: https://gymnasium.farama.org/environments/toy_text/frozen_lake/. A list of rows, as ``gymnasium.make("FrozenLake-v1", desc=...)``
takes it, in JSON or as Python prints it, or a list of lists of letters; or a text of rows without blanks. Written is the list in JSON.
"""

from __future__ import annotations

import json
import re

from frozenlab.lake.board import Board, BoardError, read_json
from frozenlab.lake.formats.entry import Entry, Source

LETTERS = "SFHG"


def read(source: Source) -> list[Entry]:
    """The board of a map. Raises BoardError with the line and cell that is wrong."""
    rows = source.text.split()
    if source.text.lstrip().startswith("["):
        rows = read_json(printed(source.text))
        rows = ["".join(row) if isinstance(row, list) and all(isinstance(cell, str) for cell in row) else row for row in rows]
        if not all(isinstance(row, str) for row in rows):
            raise BoardError('a list of rows is expected, like ["SF", "FG"]')
    for number, row in enumerate(rows, 1):
        if unknown := set(row) - set(LETTERS):
            raise BoardError(f"row {number}: {min(unknown)!r} is no cell; use S (start), F (frozen), H (hole) and G (goal)")
    return [Entry(source.name, Board.from_text("\n".join(" ".join(row) for row in rows)))]


def printed(text: str) -> str:
    """A list as JSON, where it is one of Python's: with other quotes, or a comma at its end."""
    text = text.replace("'", '"') if re.match(r"\s*\[[\s\[]*'", text) else text
    return re.sub(r",\s*\]\s*$", "]", text)


def write(entry: Entry, stem: str) -> dict[str, str]:
    """``stem.json``. Raises BoardError for more than one agent, or if its start is its goal."""
    if entry.board.num_agents > 1:
        raise BoardError(f"FrozenLake has one agent; the board has {entry.board.num_agents}")
    rows = entry.board.to_text().replace(" ", "").splitlines()
    return {f"{stem}.json": "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n"}
