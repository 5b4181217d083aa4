"""``paths.txt``: what CBSH2, EECBS, MAPF-LNS2 and their relatives write, one path an agent.

Source: https://github.com/Jiaoyang-Li/EECBS (CBS::savePaths), https://github.com/Jiaoyang-Li/MAPF-LNS2 (LNS::writePathsToFile). A line is
``Agent 0: (row,col)->(row,col)->``. Starts and goals are the ends of the paths, or those of a scenario; the map is a file of its own. Some
versions write ``(x,y)``, and nothing in a file says so: the reading is taken that keeps to the free cells, and to the starts and goals of
the scenario if one is given. A file for which both do is refused. A third number of a cell, as planners for robots that turn write it, is
passed over, with a note. Written is ``(row,col)``, with a scenario.
"""

from __future__ import annotations

import re
from dataclasses import replace

from frozenlab.lake.board import HOLE, Agent, Board, BoardError
from frozenlab.lake.formats import movingai
from frozenlab.lake.formats.entry import MAX_STEPS, Entry, Source, board_of, needs_plan, plan_of, standing, trimmed, walk_on_ice
from frozenlab.lake.rules import Path

LINE = re.compile(r"\s*Agent\s*([0-9]{1,9})\s*:\s*")
_CELL = re.compile(r"\(\s*([0-9]{1,9})\s*,\s*([0-9]{1,9})\s*(,\s*[0-9]{1,9}\s*)?\)\s*(?:->\s*)?")
SWAPPED = "the cells are read as (x, y), not as (row, col): only so does the plan fit"
THIRD = "the third number of a cell, a heading or a height, is passed over"


def read(source: Source) -> list[Entry]:
    """The board and plan of a file. Raises BoardError with the line that is wrong, or if the file can be read in two ways."""
    rows = movingai.read_map_of(source)
    paths, turning = _read_paths(source.text)
    paths = paths[: source.agents]
    if not paths:
        raise BoardError("the file has no line 'Agent 0: (row,col)->(row,col)->'")
    scenario, notes = _scenario(source, len(paths))
    turned = [tuple((b, a) for a, b in path) for path in paths]
    fits = {note: reading for note, reading in (("", paths), (SWAPPED, turned)) if _fits(reading, rows, scenario)}
    if not fits:
        starts = "begin at the starts of the scenario and " if scenario else ""
        raise BoardError(f"neither as (row, col) nor as (x, y) do the paths {starts}keep to the free cells of the map")
    entries = {note: _entry(reading, rows, scenario, source.name) for note, reading in fits.items()}
    if scenario is not None and len(entries) == 2:
        arrive = {note: standing(entry.board, entry.plan or ())[1] for note, entry in entries.items()}
        entries = {note: entry for note, entry in entries.items() if arrive[note] == max(arrive.values())}
    note, entry = next(iter(entries.items()))
    if entry != list(entries.values())[-1]:
        advice = "" if scenario else ": give the scenario (.scen) too, which may settle it"
        raise BoardError(f"the plan fits the map with its cells as (row, col) and as (x, y){advice}")
    return [replace(entry, notes=notes + (note,) * bool(note) + (THIRD,) * turning)]


def _read_paths(text: str) -> tuple[list[Path], bool]:
    """The paths, and whether their cells have a third number."""
    paths: list[Path] = []
    turning = False
    for number, line in enumerate(text.splitlines(), 1):
        head = LINE.match(line)
        if not line.strip() or (not paths and line.strip().isdecimal()):  # older versions begin with the number of agents
            continue
        if head is None or int(head[1]) != len(paths):
            raise BoardError(f"line {number}: 'Agent {len(paths)}: (row,col)->(row,col)->' is expected, not {line.strip()[:20]!r}")
        cells, end = [], head.end()
        while cell := _CELL.match(line, end):
            cells.append((int(cell[1]), int(cell[2])))
            turning |= cell[3] is not None
            end = cell.end()
        if line[end:].strip() or not cells:
            raise BoardError(f"line {number}: {line[end : end + 20]!r} is no cell; cells look like (row,col) with -> between them")
        if len(cells) > MAX_STEPS:
            raise BoardError(f"line {number}: a plan has at most {MAX_STEPS} steps")
        paths.append(tuple(cells))
    return paths, turning


def _scenario(source: Source, num_agents: int) -> tuple[Board | None, tuple[str, ...]]:
    """The board of the scenario, if there is one."""
    if source.scenario is None:
        return None, ()
    try:
        board, notes = movingai.read_scenario(source.scenario, replace(source, agents=num_agents))
    except BoardError as error:
        raise BoardError(f"the scenario, {error}") from None
    if board.num_agents != num_agents:
        raise BoardError(f"the plan is for {num_agents} agents; the scenario has {board.num_agents}")
    return board, notes


def _fits(paths: list[Path], rows: tuple[str, ...], scenario: Board | None) -> bool:
    """Whether all cells are free cells of the map, and the first ones the starts of the scenario."""
    if scenario and any(path[0] != agent.start for path, agent in zip(paths, scenario.agents, strict=True)):
        return False
    return all(r < len(rows) and c < len(rows[0]) and rows[r][c] != HOLE for path in paths for r, c in path)


def _entry(paths: list[Path], rows: tuple[str, ...], scenario: Board | None, name: str) -> Entry:
    board = scenario or board_of(rows, [Agent(path[0], path[-1]) for path in paths], lambda i: f"the path of agent {i}")
    return Entry(name, board, trimmed(plan_of(paths)))


def write(entry: Entry, stem: str) -> dict[str, str]:
    """``stem.txt``, its map and its scenario. Raises BoardError without a plan, or if it leaves the free cells."""
    paths = walk_on_ice(entry.board, needs_plan(entry, "paths.txt"), "paths.txt")
    lines = [f"Agent {i}: " + "".join(f"({r},{c})->" for r, c in path) for i, path in enumerate(paths)]
    return {f"{stem}.txt": "\n".join(lines) + "\n", **movingai.write(entry, stem)}
