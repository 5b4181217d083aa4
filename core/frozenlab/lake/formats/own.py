"""FrozenLab's own files: the text form, the JSON form, and JSON lines of instances, as suites are kept."""

from __future__ import annotations

import json

from frozenlab.lake.board import Board, BoardError, read_json
from frozenlab.lake.formats.entry import Entry, Source
from frozenlab.lake.instance import Instance
from frozenlab.lake.solvers.solver import Solution


def read_text(source: Source) -> list[Entry]:
    """The board of a text. Raises BoardError with the line and cell that is wrong."""
    return [Entry(source.name, Board.from_text(source.text))]


def write_text(entry: Entry, stem: str) -> dict[str, str]:
    """``stem.txt``. Raises BoardError above five agents, which have no letters."""
    return {f"{stem}.txt": entry.board.to_text() + "\n"}


def read_object(source: Source) -> list[Entry]:
    """The board of a JSON object. Raises BoardError naming the key that is wrong."""
    return [Entry(source.name, Board.from_dict(read_json(source.text)))]


def write_object(entry: Entry, stem: str) -> dict[str, str]:
    """``stem.json``."""
    return {f"{stem}.json": json.dumps(entry.board.to_dict()) + "\n"}


def read_lines(source: Source) -> list[Entry]:
    """The boards of JSON lines, each with its optimal plan where it has one. Raises BoardError with the line that is wrong."""
    entries = []
    for number, line in enumerate(source.text.splitlines(), 1):
        if line.strip():
            try:
                instance = Instance.from_line(line)
            except BoardError as error:
                raise BoardError(f"line {number}: {error}") from None
            entries.append(Entry(instance.id, instance.board, instance.solution.plan))
    return entries


def write_line(entry: Entry, stem: str) -> dict[str, str]:
    """One line without an optimum: that a plan of a file is the best there is has not been proven."""
    return {f"{stem}.jsonl": Instance(entry.name, entry.board, Solution("undecided")).to_line() + "\n"}
