"""Instances of libMultiRobotPlanning: YAML with ``map`` (``dimensions``, ``obstacles``) and ``agents`` (``name``, ``start``, ``goal``).

Source: https://github.com/whoenig/libMultiRobotPlanning (benchmark/, test/). Cells are ``[x, y]`` from the top left, dimensions ``[width,
height]``. Read is the part of YAML that such files use, in block and in flow style; roadmaps and agents with several possible goals are
refused.
"""

from __future__ import annotations

import json
import re
from typing import Any

from frozenlab.lake.board import FROZEN, HOLE, MAX_SIDE, Agent, BoardError, Cell
from frozenlab.lake.formats.entry import Entry, Source, board_of, from_xy, to_xy

_KEY = re.compile(r"([A-Za-z_][\w ]*?)\s*:(?:\s+|$)")
_WORD = re.compile(r"""'([^']*)'|"([^"]*)"|([A-Za-z_][\w.-]*)""")
Line = tuple[int, str, int]
"""Indentation, content and number of a line."""


def read(source: Source) -> list[Entry]:
    """The board of an instance. Raises BoardError with the line or agent that is wrong."""
    try:
        data = parse(source.text)
    except RecursionError:
        raise BoardError("the file is too deeply nested") from None
    grid, agents = (data.get("map"), data.get("agents")) if isinstance(data, dict) else (None, None)
    if not isinstance(grid, dict) or not isinstance(agents, list):
        what = "a roadmap has no cells" if isinstance(data, dict) and "roadmap" in data else "they are missing"
        raise BoardError(f"'map' (dimensions, obstacles) and a list 'agents' (name, start, goal) are expected; {what}")
    width, height = _pair(grid.get("dimensions"), "'dimensions'")
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
        raise BoardError(f"'dimensions' are {width} and {height}; a board has sides of 1 to {MAX_SIDE} cells")
    cells = [[FROZEN] * width for _ in range(height)]
    for i, obstacle in enumerate(grid.get("obstacles") or ()):
        x, y = _pair(obstacle, f"'obstacles', number {i + 1}")
        if not (0 <= x < width and 0 <= y < height):
            raise BoardError(f"'obstacles', number {i + 1}: [{x}, {y}] is off the map, {width} wide and {height} high")
        cells[y][x] = HOLE
    pairs = [_read_agent(agent, i) for i, agent in enumerate(agents[: source.agents])]
    return [Entry(source.name, board_of(tuple(map("".join, cells)), pairs, lambda i: f"'agents', number {i + 1}"))]


def _read_agent(agent: Any, i: int) -> Agent:
    where = f"'agents', number {i + 1}"
    if not isinstance(agent, dict) or "start" not in agent or "goal" not in agent:
        several = isinstance(agent, dict) and "potentialGoals" in agent
        raise BoardError(f"{where}: 'start' and 'goal' are expected" + "; a board has one goal an agent" * several)
    return Agent(_cell(agent["start"], f"{where}, start"), _cell(agent["goal"], f"{where}, goal"))


def _cell(value: Any, where: str) -> Cell:
    return from_xy(*_pair(value, where))


def _pair(value: Any, where: str) -> tuple[int, int]:
    if not (isinstance(value, list) and len(value) == 2 and all(type(number) is int for number in value)):
        raise BoardError(f"{where}: two whole numbers are expected, like [3, 4]")
    return value[0], value[1]


def parse(text: str) -> Any:
    """The value of a YAML text: nested mappings and lists of words and whole numbers. Raises BoardError with the line that is wrong."""
    lines: list[Line] = []
    depth = 0  # of brackets that are open
    for number, raw in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)#.*|!!python/tuple", "", raw).rstrip()
        if not line.strip() or line == "---":
            continue
        if depth > 0:
            lines[-1] = (lines[-1][0], f"{lines[-1][1]} {line.strip()}", lines[-1][2])
        else:
            lines.append((len(line) - len(line.lstrip()), line.strip(), number))
        depth += sum(line.count(sign) for sign in "[{") - sum(line.count(sign) for sign in "]}")
    lines.reverse()
    value = _block(lines) if lines else None
    if lines:
        raise BoardError(f"line {lines[-1][2]}: {lines[-1][1][:20]!r} does not fit the lines above it")
    return value


def _block(lines: list[Line]) -> Any:
    """Takes the lines of one value from the end of ``lines``, where the first ones are."""
    depth, content, number = lines[-1]
    if _is_item(content):
        items = []
        while lines and lines[-1][0] == depth and _is_item(lines[-1][1]):
            _, content, number = lines.pop()
            if rest := content[1:].lstrip():
                lines.append((depth + len(content) - len(rest), rest, number))
            items.append(_block(lines) if lines and lines[-1][0] > depth else None)
        return items
    if not _KEY.match(content):
        lines.pop()
        return _flow(content, number)
    mapping: dict[str, Any] = {}
    while lines and lines[-1][0] == depth and (key := _KEY.match(lines[-1][1])):
        _, content, number = lines.pop()
        if rest := content[key.end() :]:
            mapping[key[1]] = _flow(rest, number)
        else:
            below = lines and (lines[-1][0] > depth or (lines[-1][0] == depth and _is_item(lines[-1][1])))
            mapping[key[1]] = _block(lines) if below else None
    return mapping


def _is_item(content: str) -> bool:
    return content == "-" or content.startswith("- ")


def _flow(text: str, number: int) -> Any:
    """``[1, 2]``, ``{goal: [1, 2]}``, a word or a number."""
    try:
        return json.loads(_WORD.sub(lambda word: json.dumps(next(part for part in word.groups() if part is not None)), text))
    except ValueError:
        raise BoardError(f"line {number}: {text[:20]!r} is neither a number, a word nor a list like [3, 4]") from None


def write(entry: Entry, stem: str) -> dict[str, str]:
    """``stem.yaml``."""
    board = entry.board
    lines = ["map:", f"  dimensions: [{board.width}, {board.height}]", "  obstacles:" + " []" * (not board.holes)]
    lines += ["    - [{}, {}]".format(*to_xy(hole)) for hole in board.holes]
    lines.append("agents:")
    for i, agent in enumerate(board.agents):
        cells = ["{}: [{}, {}]".format(role, *to_xy(cell)) for role, cell in (("start", agent.start), ("goal", agent.goal))]
        lines += [f"  - name: agent{i}", *(f"    {cell}" for cell in cells)]
    return {f"{stem}.yaml": "\n".join(lines) + "\n"}
