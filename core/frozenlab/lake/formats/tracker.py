"""Plans of the MAPF Tracker: one motion string an agent, bare or in its CSV, or in the JSON or YAML that it takes too.

Source: the Tracker's pages "Solution string format" and "Schema" (https://tracker.pathfinding.ai). Letters are ``u d l r w``, a run may be
written ``5w``, and (0, 0) is the top left, so ``d`` is y + 1; a row whose ``flip_up_down`` is true has it the other way round. Tables of
2022 lack that column and have it the other way round too: a plan that is valid only so is turned, with a note. A plan says only how agents
move: it goes with the map and the scenario ``<map_name>-<scen_type>-<type_id>.scen``, whose first rows are its agents. From a table for
several scenarios, the rows for the one that was given are read.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from typing import Any

from frozenlab.lake.board import Board, BoardError, Plan, read_json
from frozenlab.lake.formats import libmrp, movingai
from frozenlab.lake.formats.entry import MAX_STEPS, Entry, Source, needs_plan, standing, swap_up_down, trimmed, whole_number

COLUMNS = ("map_name", "scen_type", "type_id", "agents", "lower_cost", "solution_cost", "solution_plan", "flip_up_down")
PLAN_COLUMNS = ("solution_plan", "path")
"""What the column of the plan is called: in submissions, and in the download of a single plan."""


def read(source: Source) -> list[Entry]:
    """The boards and plans of a CSV, or of bare motion strings, one a line. Raises BoardError with the row and agent that is wrong."""
    if source.map is None or source.scenario is None:
        raise BoardError("the map or the scenario is missing: a Tracker plan holds moves only, so give its .map and .scen files too")
    table = _read_rows(source.text)
    rows, notes = _for_the_scenario(table, source)
    entries = [_read_row(row, f"row {i}: " if len(table) > 1 else "", source) for i, row in rows]
    if len(rows) > 1:
        entries = [replace(entry, name=f"{entry.name}-{i}") for entry, (i, _) in zip(entries, rows, strict=True)]
    return [replace(entry, notes=notes + entry.notes) for entry in entries]


def _for_the_scenario(table: list[dict[str, str]], source: Source) -> tuple[list[tuple[int, dict[str, str]]], tuple[str, ...]]:
    """The rows for the scenario of ``source``, numbered from 1, and a note if there are others."""
    keys = ("map_name", "scen_type", "type_id")
    about = {i: "-".join(row[key] for key in keys) if all(row.get(key) for key in keys) else "" for i, row in enumerate(table, 1)}
    if source.scenario_name is None:
        other = next((i for i in about if about[i] != about[1]), None)
        if other is not None:
            reason = f"row {other} is for the scenario {about[other][:80]!r} and row 1 for {about[1][:80]!r}"
            raise BoardError(f"{reason}: give the scenario under its own name, so that its rows can be chosen")
        return list(enumerate(table, 1)), ()
    named = movingai.plain_name(source.scenario_name)
    rows = [(i, row) for i, row in enumerate(table, 1) if about[i] == "" or movingai.plain_name(about[i]) == named]
    if not rows:
        raise BoardError(f"row 1: the plan is for the scenario {about[1][:80]!r}, not for {source.scenario_name[:80]!r}")
    return rows, movingai.left_out(len(table) - len(rows), "other scenarios")


def is_yaml(text: str) -> bool:
    """Whether a YAML text is one of plans."""
    return re.search(r"(?m)^(- )?\s*solution_plan\s*:", text) is not None


def is_table(text: str) -> bool:
    """Whether ``text`` begins with the heading of a Tracker CSV."""
    heading = text.partition("\n")[0].replace('"', "").strip().split(",")
    return bool(set(heading) & set(PLAN_COLUMNS))


def _read_rows(text: str) -> list[dict[str, str]]:
    records = [read_json(text)] if text.lstrip()[:1] in ("{", "[") else libmrp.documents(text) if is_yaml(text) else []
    if records:
        listed = [record for some in records for record in (some if isinstance(some, list) else [some])]
        return [_row_of(record, f"row {i}") for i, record in enumerate(listed, 1)]
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


def _row_of(record: Any, where: str) -> dict[str, str]:
    """A row from an object, in which the plan may be a list of motion strings."""
    plan = record.get("solution_plan") if isinstance(record, dict) else None
    strings: list[Any] = plan if isinstance(plan, list) else [plan]
    if not all(isinstance(motions, str) for motions in strings):
        raise BoardError(f'{where}: "solution_plan" must be a text, or a list of motion strings')
    row = {key: str(record[key]) for key in (*COLUMNS, "agent_count") if isinstance(record.get(key), str | int)}
    return row | {"solution_plan": "\n".join(strings)}


def _read_row(row: dict[str, str], where: str, source: Source) -> Entry:
    strings = re.split(r"\r\n|\r|\n", next(row[column] for column in PLAN_COLUMNS if column in row))
    named = row.get("agents") or row.get("agent_count")
    if named and whole_number(named, f"{where}agents") != len(strings):
        raise BoardError(f"{where}the plan has {len(strings)} motion strings for {named} agents")
    map_name = row.get("map_name")
    known = [source.map_name, movingai.first_map(source.scenario or "")]  # the scenario may name a map that has been renamed
    if map_name and source.map_name is not None and movingai.plain_name(map_name) not in [movingai.plain_name(x) for x in known if x]:
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
    if flipped == "TRUE" or (not flipped and _is_upside_down(board, plan, where)):
        plan = tuple(map(swap_up_down, plan))
        notes += ("u is read as down and d as up: only so is the plan valid",) * (not flipped)
    return Entry(source.name, board, plan, notes)


def _is_upside_down(board: Board, plan: Plan, where: str) -> bool:
    """Whether a plan is valid only with up and down exchanged. Raises BoardError if that does not settle how it is meant."""
    turned = tuple(map(swap_up_down, plan))
    if turned == plan:
        return False
    (valid, arrive), (turned_valid, turned_arrive) = standing(board, plan), standing(board, turned)
    if turned_valid and not valid:
        return True
    if turned_valid or (not valid and turned_arrive > arrive):
        reason = "the plan is valid with d down and with d up" if valid else "more agents arrive if u is down and d is up"
        raise BoardError(f"{where}{reason}: say in a column flip_up_down, with FALSE or TRUE, how it is meant")
    return False


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
