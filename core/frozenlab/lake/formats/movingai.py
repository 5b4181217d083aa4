"""MovingAI maps and scenarios (``.map`` and ``.scen``), the common tongue of grid path finding.

Source: https://movingai.com/benchmarks/formats.html, and Sturtevant, Benchmarks for Grid-Based Pathfinding, 2012. A map has no agents, a
scenario has no map but names it: together they are a board. The first ``k`` rows of a scenario are ``k`` agents (Stern et al. 2019).

The last column is written as the format defines it, also in the multi-agent benchmark: the length of a shortest path of this agent alone
in *eight* directions, a diagonal step counting sqrt(2) and never cutting a corner, although our agents take four. Programs that check the
column check it against that; those for multi-agent path finding do not read it, and neither do we. The bucket is that length, in fours.
"""

from __future__ import annotations

import heapq
import math
import re
from pathlib import PurePosixPath
from unicodedata import normalize

from frozenlab.lake.board import FROZEN, HOLE, MAX_SIDE, Agent, Board, BoardError, Cell
from frozenlab.lake.formats.entry import Entry, Source, board_of, from_xy, to_xy, whole_number

FREE_TERRAIN, BLOCKED_TERRAIN = ".G", "@OTWS"
FIELDS = ("bucket", "map", "width", "height", "start x", "start y", "goal x", "goal y", "length")


def read(source: Source) -> list[Entry]:
    """The board of a scenario and its map. Raises BoardError with the line that is wrong."""
    return [Entry(source.name, read_board(source.text, source))]


def read_board(scenario: str, source: Source) -> Board:
    """The board of ``scenario`` on the map of ``source``, with the agents that it asks for."""
    if scenario.startswith("type "):
        raise BoardError("a map has no agents: give the scenario (.scen) that has them, and this map with it")
    rows = read_map_of(source)
    lines = scenario.splitlines()
    if not lines or not re.fullmatch(r"version 1(\.0*)?", lines[0].strip()):
        raise BoardError(f"line 1: 'version 1' is expected, not {lines[0][:20] if lines else ''!r}")
    numbered = [(number, line) for number, line in enumerate(lines[1:], 2) if line.strip()][: source.agents]
    agents = [_read_row(line, f"line {number}", rows, source.map_name) for number, line in numbered]
    return board_of(rows, agents, lambda i: f"line {numbered[i][0]}")


def _read_row(line: str, where: str, rows: tuple[str, ...], map_name: str | None) -> Agent:
    fields = line.strip("\r\n").split("\t")
    if len(fields) != len(FIELDS):
        raise BoardError(f"{where}: {len(fields)} fields; {len(FIELDS)} with tabs between them are expected: {', '.join(FIELDS)}")
    if map_name is not None and base_name(fields[1]) != base_name(map_name):
        raise BoardError(f"{where}: the row is for the map {base_name(fields[1])[:80]!r}, not for {base_name(map_name)[:80]!r}")
    numbers = [whole_number(fields[i], f"{where}: {FIELDS[i]}") for i in (0, 2, 3, 4, 5, 6, 7)]
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,20})?", fields[8].strip()):
        raise BoardError(f"{where}: length is {fields[8][:20]!r}; a number is expected")
    _, width, height, start_x, start_y, goal_x, goal_y = numbers
    if (width, height) != (len(rows[0]), len(rows)):
        raise BoardError(f"{where}: the row is for a map {width} wide and {height} high; this one is {len(rows[0])} and {len(rows)}")
    return Agent(from_xy(start_x, start_y), from_xy(goal_x, goal_y))


def read_map_of(source: Source) -> tuple[str, ...]:
    """The rows of the map that goes with a file. Raises BoardError if it was not given, or is none."""
    if source.map is None:
        raise BoardError("the map is missing: it is a file of its own (.map), so give that too")
    try:
        return read_map(source.map)
    except BoardError as error:
        raise BoardError(f"the map, {error}") from None


def read_map(text: str) -> tuple[str, ...]:
    """The rows of a map over ``F`` and ``H``. Raises BoardError with the line that is wrong."""
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    sides = {}
    for number, expected in enumerate(("type octile", "height", "width", "map"), 1):
        words = lines[number - 1].split() if number <= len(lines) else []
        if expected in ("height", "width"):
            if len(words) != 2 or words[0] != expected:
                raise BoardError(f"line {number}: {expected!r} and a number are expected, not {' '.join(words)[:20]!r}")
            sides[expected] = whole_number(words[1], f"line {number}: the {expected}")
            if not 1 <= sides[expected] <= MAX_SIDE:
                raise BoardError(f"line {number}: the {expected} is {sides[expected]}; a board has sides of 1 to {MAX_SIDE} cells")
        elif " ".join(words) != expected:
            raise BoardError(f"line {number}: {expected!r} is expected, not {' '.join(words)[:20]!r}")
    grid = lines[4:]
    if len(grid) != sides["height"]:
        raise BoardError(f"line {len(lines)}: the map ends after {len(grid)} rows; its height is {sides['height']}")
    return tuple(_read_terrain(line, number, sides["width"]) for number, line in enumerate(grid, 5))


def _read_terrain(line: str, number: int, width: int) -> str:
    if len(line) != width:
        raise BoardError(f"line {number}: {len(line)} cells; the width is {width}")
    for c, letter in enumerate(line, 1):
        if letter not in FREE_TERRAIN + BLOCKED_TERRAIN:
            raise BoardError(f"line {number}, cell {c}: {letter!r} is no terrain; use . G (free) or @ O T W S (blocked)")
    return "".join(FROZEN if letter in FREE_TERRAIN else HOLE for letter in line)


def base_name(path: str) -> str:
    """The last part of a path that a file names; the rest is never followed. A letter with a mark is one
    sign, as all systems but macOS write it."""
    return normalize("NFC", PurePosixPath(path.replace("\\", "/")).name)


def write(entry: Entry, stem: str) -> dict[str, str]:
    """``stem.scen`` and ``stem.map``. Raises BoardError if an agent cannot reach its goal: the format has no length for that."""
    board = entry.board
    rows = ["version 1"]
    for i, agent in enumerate(board.agents):
        length = octile_distance(board, agent.start, agent.goal)
        if length is None:
            raise BoardError(f"agent {i} cannot reach its goal, and a scenario has to say how long its way is")
        cells = (*to_xy(agent.start), *to_xy(agent.goal))
        fields = (int(length // 4), f"{stem}.map", board.width, board.height, *cells, f"{length:.8f}")
        rows.append("\t".join(map(str, fields)))
    return {f"{stem}.scen": "\n".join(rows) + "\n", **write_map(board, stem)}


def write_map(board: Board, stem: str) -> dict[str, str]:
    """``stem.map``: the grid without its agents."""
    terrain = str.maketrans({FROZEN: ".", HOLE: "@"})
    lines = ["type octile", f"height {board.height}", f"width {board.width}", "map", *(row.translate(terrain) for row in board.rows)]
    return {f"{stem}.map": "\n".join(lines) + "\n"}


def octile_distance(board: Board, start: Cell, goal: Cell) -> float | None:
    """Length of a shortest path in eight directions that cuts no corner; None if there is none (A*)."""
    side = board.width + 2
    ice = HOLE * side + "".join([f"{HOLE}{row}{HOLE}" for row in board.rows]) + HOLE * side
    here, there = ((r + 1) * side + c + 1 for r, c in (start, goal))
    row, col = divmod(there, side)

    def rest(cell: int) -> float:
        down, across = abs(cell // side - row), abs(cell % side - col)
        return max(down, across) + (math.sqrt(2) - 1) * min(down, across)

    best = {here: 0.0}
    queue = [(rest(here), rest(here), here)]
    done = set()
    while queue:
        _, _, cell = heapq.heappop(queue)
        if cell == there:
            return best[cell]
        if cell in done:
            continue
        done.add(cell)
        straight = [step for step in (-side, side, -1, 1) if ice[cell + step] != HOLE]
        corners = [(up, left) for up in (-side, side) for left in (-1, 1)]
        diagonal = [up + left for up, left in corners if HOLE not in (ice[cell + up], ice[cell + left], ice[cell + up + left])]
        for steps, cost in ((straight, 1.0), (diagonal, math.sqrt(2))):
            for step in steps:
                length = best[cell] + cost
                if length < best.get(cell + step, math.inf):
                    best[cell + step] = length
                    heapq.heappush(queue, (length + (left := rest(cell + step)), left, cell + step))
    return None
