"""The public MAPF-FrozenLake benchmark (LARK-Lab/MAPF-FrozenLake-Benchmark): records of ``sample_id``, ``num_agents`` and ``text``.

Read from ``text`` are the map and the sentences ``Agent 0 needs to go from (r, c) to (r, c)``, which have to agree; everything else in it
is ignored. Written is a text of the same shape in our own words: the original's instructions to the model were not at hand.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import dropwhile, takewhile
from typing import Any

from frozenlab.lake.board import GOAL_LETTERS, ICE, START_LETTERS, Board, BoardError, read_json
from frozenlab.lake.exits import ARROWS, DOORS
from frozenlab.lake.formats.entry import Entry, Source

_LETTERS = set(ICE + START_LETTERS + GOAL_LETTERS)
_SENTENCE = re.compile(r"Agent (\d{1,9}) needs to go from \((\d{1,9}), ?(\d{1,9})\) to \((\d{1,9}), ?(\d{1,9})\)")


def read(source: Source) -> list[Entry]:
    """The boards of a JSON list, of a single record, or of JSON lines. Raises BoardError with the record that is wrong."""
    return read_records(_records(source.text))


def read_records(records: Iterable[Any]) -> list[Entry]:
    """The boards of records, as objects with the dataset's columns. Raises BoardError with the number and name of the one that is wrong."""
    return [_read_record(record, i) for i, record in enumerate(records, 1)]


def _records(text: str) -> list[Any]:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and all(line.lstrip().startswith("{") and line.rstrip().endswith("}") for line in lines):
        return [read_json(line) for line in lines]
    data = read_json(text)
    return data if isinstance(data, list) else [data]


def _read_record(record: Any, number: int) -> Entry:
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise BoardError(f'record {number}: an object with "sample_id", "num_agents" and "text" is expected')
    name = record.get("sample_id", "")
    where = f"record {number}" + (f" ({name[:40]!r})" if isinstance(name, str) and name else "")
    if not isinstance(name, str):
        raise BoardError(f'{where}: "sample_id" must be a string')
    try:
        board = read_question(record["text"])
    except BoardError as error:
        raise BoardError(f"{where}: {error}") from None
    num_agents = record.get("num_agents", board.num_agents)
    if type(num_agents) is not int:
        raise BoardError(f'{where}: "num_agents" must be a whole number')
    if num_agents != board.num_agents:
        raise BoardError(f'{where}: "num_agents" is {num_agents}; the text has {board.num_agents} agents')
    return Entry(name, board)


def read_question(text: str) -> Board:
    """The board of one question. Raises BoardError if it has none, or if its map and its sentences do not agree."""
    rows = list(takewhile(_is_row, dropwhile(lambda line: not _is_row(line), text.splitlines())))
    if not rows:
        raise BoardError("the text has no map: rows of F, H, starts and goals with one space between the cells")
    board = Board.from_text("\n".join(rows))
    sentences: dict[int, list[tuple[int, int]]] = {}
    for agent, *numbers in (map(int, found.groups()) for found in _SENTENCE.finditer(text)):
        sentences[agent] = [(numbers[0], numbers[1]), (numbers[2], numbers[3])]
    for i, on_map in enumerate(board.agents):
        drawn = [on_map.start, on_map.goal]
        if i not in sentences:
            raise BoardError(f"the map has an agent {i}, but no sentence 'Agent {i} needs to go from (r, c) to (r, c)'")
        if sentences[i] != drawn:
            raise BoardError(
                f"agent {i} goes from {drawn[0]} to {drawn[1]} on the map, but from {sentences[i][0]} to {sentences[i][1]} in its sentence"
            )
    if len(sentences) > board.num_agents:
        raise BoardError(f"there is a sentence for agent {max(sentences)}, but the map has {board.num_agents} agents")
    return board


def _is_row(line: str) -> bool:
    cells = line.split()
    return bool(cells) and set(cells) <= _LETTERS


def write(entry: Entry, stem: str) -> dict[str, str]:
    """One record. Raises BoardError where the board has no letters."""
    board = entry.board
    size = f"{board.height}x{board.width}"
    name = entry.name or f"{board.num_agents}ag_{size}_hr{board.hole_ratio:.1f}_000"
    record = {"sample_id": name, "num_agents": board.num_agents, "text": question(board)}
    return {f"{stem}.json": json.dumps(record)}


def question(board: Board) -> str:
    """``board`` in the benchmark's shape: ``Question:``, the task, the map, its legend, one sentence an agent."""
    agents = "1 agent" if board.num_agents == 1 else f"{board.num_agents} agents"
    sentences = [f"Agent {i} needs to go from {agent.start} to {agent.goal}." for i, agent in enumerate(board.agents)]
    legend = [
        f"{'/'.join(START_LETTERS)}: where agents 0/1/2/3/4 start. {'/'.join(GOAL_LETTERS)}: the goals of agents 0/1/2/3/4.",
        "F: frozen, an agent can stand here. H: hole, no agent may enter it.",
    ]
    if any(board.cells_of(letter) for letter in ARROWS):
        legend.append(
            "^/v/</>: one-way ice. An agent can enter it from any side and can wait on it, but leaves it only by UP/DOWN/LEFT/RIGHT."
        )
    if doors := [letter for letter in DOORS if board.cells_of(letter)]:
        legend.append(f"{'/'.join(doors)}: a door. Only agent {'/'.join(doors)} may enter it.")
    task = f"You are an expert in multi-agent path planning. There is a {board.height}x{board.width} frozen lake map with {agents}:"
    return "\n".join(["Question:", task, board.to_text(), *legend, *sentences])


def join(records: Iterable[str]) -> str:
    """Records as one JSON list, one record a line."""
    return "[\n" + ",\n".join(records) + "\n]\n"
