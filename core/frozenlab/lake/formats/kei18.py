"""Result files of Okumura's planners (pibt2, lacam, lacam2, lacam3), which mapf-visualizer plays.

Source: https://github.com/Kei18/mapf-visualizer (README), https://github.com/Kei18/lacam3 (post_processing.cpp). Lines ``key=value``, then
``solution=`` and one line a time step, ``t:(x,y),(x,y),...``, one cell an agent. A file may also hold those lines alone; then the first
are the starts and the last the goals. A heading of agents that turn, as in ``(0,0,X_PLUS)``, is passed over. The map is a file of its own.
Instances of pibt2 and mapf-IR have such keys too, and rows ``x,y,x,y``: start and goal of an agent. Results of pibt2's pick-up and
delivery have ``(x,y)->(x,y):task`` for each agent: where it is, where it is heading, and its task or -1.
"""

from __future__ import annotations

import re

from frozenlab.lake.board import Agent, Board, BoardError, Cell, Plan
from frozenlab.lake.formats.entry import MAX_STEPS, Entry, Source, board_of, from_xy, plan_of, to_xy, trimmed, walk_on_ice, whole_number
from frozenlab.lake.formats.movingai import read_map_of, renamed, write_map
from frozenlab.lake.rules import judge

_PAIR = re.compile(r"([0-9]{1,9}),([0-9]{1,9}),([0-9]{1,9}),([0-9]{1,9})")
_STEP = re.compile(r"([0-9]+):(?=\()")
_CELL = re.compile(r"\(([0-9]{1,9}),([0-9]{1,9})(?:,[XY]_(?:PLUS|MINUS))?\)(?:->\([0-9]+,[0-9]+\):-?[0-9]+)?,?")
DELIVERY = "the file is a result of pick-up and delivery: its agents went from task to task, and as goals they got the cells where they end"


def read(source: Source) -> list[Entry]:
    """The board and plan of a result file. Raises BoardError with the line that is wrong."""
    rows = read_map_of(source)
    values: dict[str, tuple[int, str]] = {}
    steps: list[list[Cell]] = []
    pairs: list[tuple[int, re.Match[str]]] = []
    for number, line in enumerate(source.text.splitlines(), 1):
        step = _STEP.match(line)
        if step is not None:
            if step[1].lstrip("0") != str(len(steps) or ""):
                raise BoardError(f"line {number}: step {step[1][:20]} where step {len(steps)} is expected")
            if len(steps) > MAX_STEPS:
                raise BoardError(f"line {number}: a plan has at most {MAX_STEPS} steps")
            steps.append(_read_cells(line[step.end() :], number)[: source.agents])
            if len(steps[-1]) != len(steps[0]):
                raise BoardError(f"line {number}: {len(steps[-1])} cells; step 0 has {len(steps[0])}")
        elif "=" in line:
            key, _, value = line.partition("=")
            values[key.strip()] = number, value.strip()
        elif row := _PAIR.fullmatch(line.strip()):
            pairs.append((number, row))
    if pairs:
        values["starts"] = pairs[0][0], "".join(f"({row[1]},{row[2]})," for _, row in pairs)
        values["goals"] = pairs[0][0], "".join(f"({row[3]},{row[4]})," for _, row in pairs)
    _check_header(values)
    starts, goals = _ends("starts", values, steps, source.agents), _ends("goals", values, steps, source.agents)
    if len(starts) != len(goals):
        raise BoardError(f"there are {len(starts)} starts and {len(goals)} goals")
    agents = [Agent(*ends) for ends in zip(starts, goals, strict=True)]
    place = f"line {values['goals'][0]}" if "goals" in values else "the last step"
    board = board_of(rows, agents, lambda i: f"line {pairs[i][0]}" if pairs else place)
    number, named = values.get("map_file", (0, ""))
    notes = renamed(named, source)
    if notes and any(not board.contains(cell) or board.is_hole(cell) for cells in steps for cell in cells):
        raise BoardError(f"line {number}: {notes[0]}, whose free cells the plan leaves")
    return [Entry(source.name, board, _plan(steps, starts), notes + (DELIVERY,) * (")->(" in source.text))]


def _check_header(values: dict[str, tuple[int, str]]) -> None:
    if "agents" in values:
        number, named = values["agents"]
        found = len(_read_cells(values["starts"][1], values["starts"][0])) if "starts" in values else None
        if found is not None and whole_number(named, f"line {number}: agents") != found:
            raise BoardError(f"line {number}: {named} agents, but {found} starts")


def _ends(key: str, values: dict[str, tuple[int, str]], steps: list[list[Cell]], agents: int | None) -> list[Cell]:
    """The starts or the goals: as the header has them, else as the plan has them."""
    if key in values:
        number, text = values[key]
        return _read_cells(text, number)[:agents]
    if not steps:
        if values.get("random_problem", (0, ""))[1] == "1":
            raise BoardError(f"line {values['random_problem'][0]}: pibt2 draws the starts and goals of this instance; the file holds none")
        raise BoardError(f"neither a line '{key}=(x,y),...' nor one of the plan, like '0:(x,y),...'")
    return steps[0] if key == "starts" else steps[-1]


def _read_cells(text: str, number: int) -> list[Cell]:
    cells = []
    end = 0
    text = text.strip()
    while cell := _CELL.match(text, end):
        cells.append(from_xy(int(cell[1]), int(cell[2])))
        end = cell.end()
    if end != len(text):
        raise BoardError(f"line {number}: {text[end : end + 20]!r} is no cell; cells look like (x,y) with commas between them")
    return cells


def _plan(steps: list[list[Cell]], starts: list[Cell]) -> Plan | None:
    if not steps:
        return None
    for i, (cell, start) in enumerate(zip(steps[0], starts, strict=False)):
        if cell != start:
            raise BoardError(f"step 0: agent {i} is on {cell}; its start is {start} (row, col)")
    if len(steps[0]) != len(starts):
        raise BoardError(f"step 0: {len(steps[0])} cells; there are {len(starts)} starts")
    return trimmed(plan_of(tuple(zip(*steps, strict=True))))


def write(entry: Entry, stem: str) -> dict[str, str]:
    """``stem.txt`` and its map. Raises BoardError if a plan leaves the free cells, where the format and its player have no place for it."""
    board = entry.board
    steps = _steps(board, trimmed(entry.plan)) if entry.plan is not None else []
    verdict = judge(board, trimmed(entry.plan)) if entry.plan is not None else None
    solved = verdict is not None and verdict.valid
    lines = [f"agents={board.num_agents}", f"map_file={stem}.map", "solver=frozenlab", f"solved={int(solved)}"]
    if solved and verdict is not None:
        lines += [f"soc={verdict.sum_of_costs}", f"makespan={verdict.makespan}"]
    lines.append("starts=" + _cells([agent.start for agent in board.agents]))
    lines.append("goals=" + _cells([agent.goal for agent in board.agents]))
    lines += ["solution=", *(f"{t}:{_cells(cells)}" for t, cells in enumerate(steps))]
    return {f"{stem}.txt": "\n".join(lines) + "\n", **write_map(board, stem)}


def _steps(board: Board, plan: Plan) -> list[list[Cell]]:
    paths = walk_on_ice(board, plan, "mapf-visualizer")
    return [[path[min(t, len(path) - 1)] for path in paths] for t in range(max(map(len, paths)))]


def _cells(cells: list[Cell]) -> str:
    return "".join("({},{}),".format(*to_xy(cell)) for cell in cells)
