"""Instances of libMultiRobotPlanning: YAML with ``map`` (``dimensions``, ``obstacles``) and ``agents`` (``name``, ``start``, ``goal``).

Source: https://github.com/whoenig/libMultiRobotPlanning (benchmark/, test/). Cells are ``[x, y]`` from the top left, dimensions ``[width,
height]``. Roadmaps and agents with several possible goals are refused.

PyYAML's ``BaseLoader`` reads them: of all its loaders the one that makes nothing but texts, lists and mappings, so tags like
``!!python/tuple`` do no harm, and no merged keys can swell. It is the one in Python, as the one in C ends the process on deep nesting.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from frozenlab.lake.board import FROZEN, HOLE, MAX_SIDE, Agent, BoardError, Cell
from frozenlab.lake.formats.entry import Entry, Source, board_of, from_xy, to_xy

_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,8})")
MAX_LETTERS = 500_000
"""Of a file: the loader takes some seconds for so many."""


def read(source: Source) -> list[Entry]:
    """The board of an instance. Raises BoardError with the line or agent that is wrong."""
    data, *more = documents(source.text) or [None]
    if more:
        raise BoardError(f"the file has {len(more) + 1} YAML documents; an instance is one")
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
    if not (isinstance(value, list) and len(value) == 2 and all(isinstance(x, str) and _WHOLE.fullmatch(x) for x in value)):
        raise BoardError(f"{where}: two whole numbers are expected, like [3, 4]")
    return int(value[0]), int(value[1])


def documents(text: str) -> list[Any]:
    """The values of a YAML text: mappings and lists of texts, whatever its tags say. Raises BoardError with the line that is wrong."""
    if len(text) > MAX_LETTERS:
        raise BoardError(f"the file has {len(text)} letters; of a YAML file at most {MAX_LETTERS} are read, of a MovingAI map many more")
    try:
        return list(yaml.load_all(text, Loader=yaml.BaseLoader))
    except RecursionError:
        raise BoardError("the file is too deeply nested") from None
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise BoardError(f"{line}not YAML: {(error.problem or '')[:80]}") from None
    except (yaml.YAMLError, ValueError, OverflowError):  # what has no mark: odd signs, and numbers beyond any letter
        raise BoardError("not YAML: it has signs that no text has") from None


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
