"""MovingAI maps and scenarios (``.map`` and ``.scen``), the common tongue of grid path finding.

Source: https://movingai.com/benchmarks/formats.html, and Sturtevant, Benchmarks for Grid-Based Pathfinding, 2012. A map has no agents, a
scenario has no map but names it: together they are a board. The first ``k`` rows of a scenario are ``k`` agents (Stern et al. 2019).
Swamp (``S``) can be walked; water (``W``) only by those who are in it, so it is blocked. ``E`` and ``S`` of the warehouses of the League
of Robot Runners are stations, both free.

Files in use also have no line ``type`` (pibt2), a first line ``rows,columns`` instead of a header (CBSH2, EECBS, MAPF-LNS), blanks instead
of tabs, no column of lengths, a map's name without ``.map``, no line ``version``, sizes of 0, the heading of a robot that turns
(orient-pypibt), or rows for several maps. A map that was renamed is read, with a note. CBSH2 and EECBS have scenarios of their own too: how
many agents, then ``row,col,row,col`` for each.

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

from frozenlab.base.numbers import counted
from frozenlab.lake.board import FROZEN, HOLE, MAX_SIDE, Agent, Board, BoardError, Cell
from frozenlab.lake.formats.entry import Entry, Source, board_of, from_xy, to_xy, whole_number

FREE_TERRAIN, BLOCKED_TERRAIN = ".GSE", "@OTW"
FIELDS = ("bucket", "map", "width", "height", "start x", "start y", "goal x", "goal y", "length")


def read(source: Source) -> list[Entry]:
    """The board of a scenario and its map. Raises BoardError with the line that is wrong."""
    board, notes = read_scenario(source.text, source)
    return [Entry(source.name, board, notes=notes)]


def read_scenario(scenario: str, source: Source) -> tuple[Board, tuple[str, ...]]:
    """The board of ``scenario`` on the map of ``source``, with the agents that it asks for, and notes on how it was read."""
    if part_of("", scenario) == ".map":
        raise BoardError("a map has no agents: give the scenario (.scen) that has them, and this map with it")
    rows = read_map_of(source)
    lines = scenario.splitlines()
    first = lines[0].strip() if lines else ""
    headed = re.fullmatch(r"version 1(\.0*)?", first) is not None
    notes: tuple[str, ...] = ()
    if re.fullmatch(r"[0-9]{1,9},?", first):
        numbered = _rows_of_cbsh(lines, rows)
    elif headed or len(_fields(first)) >= len(FIELDS) - 1:
        numbered = [(number, _fields(line)) for number, line in enumerate(lines, 1) if line.strip()][headed:]
        numbered, notes = _for_the_map(numbered, source)
    else:
        raise BoardError(f"line 1: 'version 1' is expected, not {first[:20]!r}")
    numbered = numbered[: source.agents]
    agents = [_read_row(fields, f"line {number}", rows) for number, fields in numbered]
    return board_of(rows, agents, lambda i: f"line {numbered[i][0]}"), notes


def _fields(line: str) -> list[str]:
    """The fields of a row, with tabs between them or with blanks, which the name of a map may have too; without a heading."""
    line = re.sub(r"\s[XY]_(PLUS|MINUS)\s*$", "", line)
    fields = [field.strip() for field in line.strip("\r\n").split("\t")]
    blanks = line.split()
    if len(fields) >= len(FIELDS) - 1 or len(blanks) < len(FIELDS) - 1:
        return fields
    return [blanks[0], " ".join(blanks[1:-7]), *blanks[-7:]] if len(blanks) >= len(FIELDS) else blanks


def _rows_of_cbsh(lines: list[str], rows: tuple[str, ...]) -> list[tuple[int, list[str]]]:
    """The rows of a scenario of CBSH2 or EECBS, as those of MovingAI."""
    numbered = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.strip(" ,").split(",")
        if len(cells) == 4:
            numbered.append((number, ["0", "", str(len(rows[0])), str(len(rows)), cells[1], cells[0], cells[3], cells[2]]))
        elif line.strip():
            raise BoardError(f"line {number}: 'row,col,row,col' is expected, not {line[:20]!r}")
    many = int(lines[0].strip(" ,"))
    if len(numbered) < many:
        raise BoardError(f"line 1: {many} agents, but {len(numbered)} rows")
    return numbered[:many]


def _for_the_map(rows: list[tuple[int, list[str]]], source: Source) -> tuple[list[tuple[int, list[str]]], tuple[str, ...]]:
    """The rows for the map of ``source``: all where they name one map, else those that name this one."""
    names = {fields[1]: plain_name(fields[1]) for _, fields in rows if len(fields) > 1}
    mine = {name for name, plain in names.items() if source.map_name is not None and plain == plain_name(source.map_name)}
    if len(set(names.values())) <= 1:
        return rows, renamed(next(iter(names), ""), source)
    if not mine:
        known = ", ".join(sorted({repr(base_name(name)[:40]) for name in names})[:3])
        raise BoardError(f"line {rows[0][0]}: the rows are for {len(names)} maps ({known}); give one of them under its own name")
    kept = [(number, fields) for number, fields in rows if len(fields) < 2 or fields[1] in mine]
    return kept, left_out(len(rows) - len(kept), "other maps")


def left_out(rows: int, of: str) -> tuple[str, ...]:
    """A note that some rows of a table were not read, as they are for something else."""
    return (f"{counted(rows, 'row')} for {of} {'is' if rows == 1 else 'are'} left out",) * (rows > 0)


def first_map(scenario: str) -> str:
    """The map that the first row of a scenario names; nothing if it names none."""
    return next((fields[1] for fields in map(_fields, scenario.splitlines()) if len(fields) > 1), "")


def renamed(named: str, source: Source) -> tuple[str, ...]:
    """A note where a file calls its map otherwise than the map that came with it is called, and more than a copy is."""
    if not named or source.map_name is None or plain_name(named) == plain_name(source.map_name):
        return ()
    return (f"the file is for the map {base_name(named)[:80]!r} and was read with {base_name(source.map_name)[:80]!r}",)


def _read_row(fields: list[str], where: str, rows: tuple[str, ...]) -> Agent:
    if len(fields) not in (len(FIELDS), len(FIELDS) - 1):
        raise BoardError(f"{where}: {len(fields)} fields; {len(FIELDS)} with tabs between them are expected: {', '.join(FIELDS)}")
    numbers = [whole_number(fields[i], f"{where}: {FIELDS[i]}") for i in (0, 2, 3, 4, 5, 6, 7)]
    if len(fields) == len(FIELDS) and not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,20})?", fields[8]):
        raise BoardError(f"{where}: length is {fields[8][:20]!r}; a number is expected")
    _, width, height, start_x, start_y, goal_x, goal_y = numbers
    if (width, height) not in ((0, 0), (len(rows[0]), len(rows))):
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
    height, width, top = _read_header(lines)
    grid = lines[top:]
    if len(grid) != height:
        raise BoardError(f"line {len(lines)}: the map ends after {len(grid)} rows; its height is {height}")
    return tuple(_read_terrain(line, number, width) for number, line in enumerate(grid, top + 1))


def part_of(file_name: str, text: str) -> str:
    """``.map`` or ``.scen`` for a map or a scenario, as its name says or else its content; nothing for other files."""
    suffix = PurePosixPath(file_name.lower()).suffix
    if suffix in (".map", ".scen"):
        return suffix
    if re.match(r"\ufeff?\s*(type |(height|width)\s+[0-9]+\s*\n|[0-9]+,[0-9]+,?\s*\n[.@])", text):
        return ".map"
    return ".scen" if re.match(r"\ufeff?\s*version ", text) else ""


def _read_header(lines: list[str]) -> tuple[int, int, int]:
    """Height, width, and the number of lines above the grid."""
    if own := re.fullmatch(r"([0-9]+),([0-9]+),?", lines[0] if lines else ""):
        return _side(own[1], "line 1: the height"), _side(own[2], "line 1: the width"), 1
    sides: dict[str, int] = {}
    number = 0
    while True:
        number += 1
        words = lines[number - 1].split() if number <= len(lines) else []
        missing = [side for side in ("height", "width") if side not in sides]
        if number == 1 and words[:1] == ["type"] and words[1:] != ["hex"]:
            continue
        if not missing and words == ["map"]:
            return sides["height"], sides["width"], number
        if len(words) != 2 or words[0] not in missing:
            wanted = f"{missing[0]!r} and a number are" if missing else "'map' is"
            wanted = "'type octile' is" if number == 1 else wanted
            raise BoardError(f"line {number}: {wanted} expected, not {' '.join(words)[:20]!r}")
        sides[words[0]] = _side(words[1], f"line {number}: the {words[0]}")


def _side(text: str, what: str) -> int:
    side = whole_number(text, what)
    if not 1 <= side <= MAX_SIDE:
        raise BoardError(f"{what} is {side}; a board has sides of 1 to {MAX_SIDE} cells")
    return side


def _read_terrain(line: str, number: int, width: int) -> str:
    if len(line) != width:
        raise BoardError(f"line {number}: {len(line)} cells; the width is {width}")
    for c, letter in enumerate(line, 1):
        if letter not in FREE_TERRAIN + BLOCKED_TERRAIN:
            raise BoardError(f"line {number}, cell {c}: {letter!r} is no terrain; use . G S E (free) or @ O T W (blocked)")
    return "".join(FROZEN if letter in FREE_TERRAIN else HOLE for letter in line)


def base_name(path: str) -> str:
    """The last part of a path that a file names; the rest is never followed. A letter with a mark is one
    sign, as all systems but macOS write it."""
    return normalize("NFC", PurePosixPath(path.replace("\\", "/")).name)


def plain_name(path: str) -> str:
    """What is left of a file's name without what browsers and mail add to it: ``M (1).map.txt`` and ``m - Copy.MAP`` are both ``m``."""
    name = re.sub(r"(\.(map|scen|txt))+$", "", base_name(path).casefold().strip())
    return re.sub(r"(\s*\([0-9]+\)|\s+-\s+copy)+$", "", name)


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
