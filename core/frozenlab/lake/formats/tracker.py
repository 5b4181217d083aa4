"""Plans of the MAPF Tracker: one motion string an agent, bare or in its CSV.

Source: the Tracker's pages "Solution string format" and "Schema" (https://tracker.pathfinding.ai). Letters are ``u d l r w``, a run may be
written ``5w``, and (0, 0) is the top left, so ``d`` is y + 1; a row whose ``flip_up_down`` is true has it the other way round. A plan says
only how agents move: it goes with the map and the scenario ``<map_name>-<scen_type>-<type_id>.scen``, whose first rows are its agents.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

from frozenlab.lake.board import Board, BoardError, Plan
from frozenlab.lake.formats import movingai
from frozenlab.lake.formats.entry import MAX_STEPS, Entry, Source, needs_plan, swap_up_down, trimmed, whole_number
from frozenlab.lake.rules import walk

COLUMNS = ("map_name", "scen_type", "type_id", "agents", "lower_cost", "solution_cost", "solution_plan", "flip_up_down")
PLAN_COLUMNS = ("solution_plan", "path")
"""What the column of the plan is called: in submissions, and in the download of a single plan."""


def read(source: Source) -> list[Entry]:
    """The boards and plans of a CSV, or of bare motion strings, one a line. Raises BoardError with the row and agent that is wrong."""
    if source.map is None or source.scenario is None:
        raise BoardError("the map or the scenario is missing: a Tracker plan holds moves only, so give its .map and .scen files too")
    rows = _read_rows(source.text)
    entries = [_read_row(row, f"row {i}: " if len(rows) > 1 else "", source) for i, row in enumerate(rows, 1)]
    return [entry if len(rows) == 1 else replace(entry, name=f"{entry.name}-{i}") for i, entry in enumerate(entries, 1)]


def is_table(text: str) -> bool:
    """Whether ``text`` begins with the heading of a Tracker CSV."""
    heading = text.partition("\n")[0].replace('"', "").strip().split(",")
    return bool(set(heading) & set(PLAN_COLUMNS))


def _read_rows(text: str) -> list[dict[str, str]]:
    if not is_table(text):
        return [{"solution_plan": text.removesuffix("\n")}]
    try:
        rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise BoardError(f"not a CSV table: {error}") from None
    if not rows:
        raise BoardError("the table has a heading and no row")
    if not set(PLAN_COLUMNS) & set(rows[0]):
        raise BoardError(f"the heading has no column {' or '.join(PLAN_COLUMNS)}")
    for i, row in enumerate(rows, 1):
        if None in row or None in row.values():
            raise BoardError(f"row {i}: not as many fields as the heading has")
    return rows


def _read_row(row: dict[str, str], where: str, source: Source) -> Entry:
    strings = re.split(r"\r\n|\r|\n", next(row[column] for column in PLAN_COLUMNS if column in row))
    named = row.get("agents") or row.get("agent_count")
    if named and whole_number(named, f"{where}agents") != len(strings):
        raise BoardError(f"{where}the plan has {len(strings)} motion strings for {named} agents")
    map_name = row.get("map_name")
    if map_name and source.map_name is not None and movingai.base_name(source.map_name) != movingai.base_name(f"{map_name}.map"):
        raise BoardError(f"{where}the plan is for the map {map_name[:80]!r}, not for {movingai.base_name(source.map_name)[:80]!r}")
    num_agents = len(strings) if source.agents is None else min(source.agents, len(strings))
    try:
        board, notes = movingai.read_scenario(source.scenario or "", replace(source, agents=num_agents))
    except BoardError as error:
        raise BoardError(f"the scenario, {error}") from None
    if board.num_agents < num_agents:
        raise BoardError(f"{where}the plan is for {len(strings)} agents; the scenario has {board.num_agents}")
    flipped = row.get("flip_up_down", "").upper()
    if flipped not in ("", "TRUE", "FALSE"):
        raise BoardError(f"{where}flip_up_down is {flipped[:20]!r}; TRUE or FALSE is expected")
    plan = trimmed(tuple(decode(motions, f"{where}agent {i}") for i, motions in enumerate(strings[:num_agents])))
    turned = tuple(map(swap_up_down, plan))
    if flipped == "TRUE":
        plan = turned
    elif not flipped and not _arrives(board, plan) and _arrives(board, turned):
        raise BoardError(f"{where}the agents arrive only if u is down and d is up: say so in a column flip_up_down with TRUE")
    return Entry(source.name, board, plan, notes)


def _arrives(board: Board, plan: Plan) -> bool:
    return all(path[-1] == agent.goal for path, agent in zip(walk(board, plan), board.agents, strict=True))


def decode(motions: str, where: str) -> str:
    """``d3l`` as ``DLLL``. Raises BoardError that begins with ``where``."""
    letters = []
    steps = end = 0
    for run in re.finditer(r"([0-9]{0,9})([udlrw])", motions):
        if run.start() != end:
            break
        end = run.end()
        steps += int(run[1] or 1)
        if steps > MAX_STEPS:
            raise BoardError(f"{where} moves for more than {MAX_STEPS} steps")
        letters.append(run[2].upper() * int(run[1] or 1))
    if end != len(motions):
        raise BoardError(f"{where}: {motions[end : end + 12]!r} is no motion; use u d l r w, and a number before a run, as in 5w")
    return "".join(letters)


def encode(motions: str) -> str:
    """``DLLL`` as ``d3l``."""
    return re.sub(r"(.)\1+", lambda run: f"{len(run[0])}{run[1]}", motions.lower())


def write(entry: Entry, stem: str) -> dict[str, str]:
    """``stem.csv`` with one row, and the map and scenario that it names. Raises BoardError if there is no plan."""
    plan = needs_plan(entry, "MAPF Tracker")
    scenario = f"{stem}-random-1.scen"
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(COLUMNS)
    cost = sum(map(len, plan))
    rows.writerow([stem, "random", 1, len(plan), "", cost, "\n".join(map(encode, plan)), "FALSE"])
    files = movingai.write(entry, stem)
    return {f"{stem}.csv": table.getvalue(), scenario: files[f"{stem}.scen"], f"{stem}.map": files[f"{stem}.map"]}
