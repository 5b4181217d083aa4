"""Plans for PlanViz, the visualizer of the League of Robot Runners: JSON with ``"actionModel": "MAPF"``.

Source: https://github.com/MAPF-Competition/Start-Kit (Input_Output_Format.md) and PlanViz's own reader (state_transition_mapf, FORMAT.md).
Cells are ``[row, col]``. **In this action model "U" is row + 1 and "D" is row - 1**: reader and writer exchange the two. Logs of late 2023
have it the other way round, and nothing in them says so: the reading is taken that brings as many agents to their goals as the log says.
The goal of an agent is the one task that is assigned to it; starts beyond ``teamSize`` are of no agent. Written is the layout of 2024, read
are those of 2023 and 2024. Errors are ``[task, agent1, agent2, t, text]`` with -1 for what there is none of; ours holds the first fault.
"""

from __future__ import annotations

import json
import re
from typing import Any

from frozenlab.lake.board import Agent, Board, BoardError, Cell, Plan, read_json
from frozenlab.lake.formats.entry import MAX_STEPS, Entry, Source, board_of, needs_plan, standing, swap_up_down, trimmed
from frozenlab.lake.formats.movingai import read_map_of, write_map
from frozenlab.lake.rules import Verdict, judge

_ACTIONS = {"U": "U", "D": "D", "L": "L", "R": "R", "W": "W", "T": "W"}
"""``T`` is the wait of a planner that was too late."""
OLDER = "U is read as row - 1, as in logs of late 2023: only so does the plan do what the log says"


def read(source: Source) -> list[Entry]:
    """The board and plan of a log. Raises BoardError with the key and agent that is wrong."""
    rows = read_map_of(source)
    data = read_json(source.text)
    if not isinstance(data, dict) or data.get("actionModel") != "MAPF":
        raise BoardError('"actionModel" must be "MAPF"; the plans of other models have turns, for which a board has no place')
    team = data.get("teamSize", len(_list(data, "start")))
    if type(team) is not int or not 0 <= team <= len(_list(data, "start")):
        raise BoardError(f'"teamSize" must be a whole number, at most that of the starts, {len(data["start"])}')
    starts = [_cell(state, f'"start", agent {i}') for i, state in enumerate(data["start"][:team][: source.agents])]
    goals = _goals(data, len(starts))
    board = board_of(rows, [Agent(*ends) for ends in zip(starts, goals, strict=True)], lambda i: f'"start" and "tasks", agent {i}')
    plan = _plan(data, len(starts))
    if plan is None or not _is_upside_down(data, board, plan, data.get("numTaskFinished") if len(starts) == team else None):
        return [Entry(source.name, board, plan)]
    return [Entry(source.name, board, tuple(map(swap_up_down, plan)), (OLDER,))]


def _is_upside_down(data: dict[str, Any], board: Board, plan: Plan, finished: Any) -> bool:
    """Whether U is row - 1. The number of agents that arrive, ``finished`` in the log, shows it, else which reading is valid or brings
    more of them home; raises BoardError if that settles nothing."""
    turned = tuple(map(swap_up_down, plan))
    if turned == plan:
        return False
    newer, older = standing(board, plan), standing(board, turned)
    if (newer[1] == finished) != (older[1] == finished):
        return older[1] == finished
    if newer == older and "version" not in data:
        raise BoardError(
            '"actualPaths": the plan can be read with U as row + 1 and as row - 1; '
            'add "version": "2024 LoRR" if it is row + 1, else exchange U and D first'
        )
    return older > newer and "version" not in data


def _list(data: dict[str, Any], key: str) -> list[Any]:
    if not isinstance(data.get(key), list):
        raise BoardError(f'"{key}" must be a list')
    return data[key]


def _cell(value: Any, where: str) -> Cell:
    if not (isinstance(value, list) and len(value) >= 2 and all(type(x) is int for x in value[:2])):
        raise BoardError(f"{where}: [row, col, ...] with whole numbers is expected")
    return (value[0], value[1])


def _goals(data: dict[str, Any], num_agents: int) -> list[Cell]:
    stops: dict[int, Any] = {}
    for i, task in enumerate(_list(data, "tasks")):
        if not (isinstance(task, list) and len(task) == 3 and type(task[0]) is int):
            raise BoardError(f'"tasks", entry {i}: [task, release time, [row, col]] is expected')
        stops[task[0]] = task[2] if isinstance(task[2], list) else task[1:]
    goals = []
    for agent in range(num_agents):
        tasks = _tasks_of(data, agent)
        if len(tasks) != 1:
            raise BoardError(f"agent {agent} has {len(tasks)} tasks; a board has one goal an agent")
        [task] = tasks
        if task not in stops or len(stops[task]) != 2:
            raise BoardError(f'"tasks": task {task} of agent {agent} must have one stop [row, col]')
        goals.append(_cell(stops[task], f'"tasks", task {task}'))
    return goals


def _tasks_of(data: dict[str, Any], agent: int) -> set[int]:
    """The tasks that the log assigns to ``agent``: a schedule like ``"0:3,5:7"`` (2024), or events ``[task, t, "assigned"]`` (2023)."""
    key = "actualSchedule" if "actualSchedule" in data else "events"
    entries = _list(data, key)
    mine = entries[agent] if agent < len(entries) else None
    if key == "actualSchedule":
        if not isinstance(mine, str) or not re.fullmatch(r"([0-9]{1,9}:-?[0-9]{1,9}(,|$))*", mine):
            raise BoardError(f'"{key}", agent {agent}: "time:task,time:task,..." is expected')
        return set(map(int, re.findall(r":([0-9]+)", mine)))
    if not isinstance(mine, list) or not all(isinstance(event, list) and len(event) == 3 and type(event[0]) is int for event in mine):
        raise BoardError(f'"{key}", agent {agent}: a list of [task, time, "assigned" or "finished"] is expected')
    return {task for task, _, kind in mine if kind == "assigned"}


def _plan(data: dict[str, Any], num_agents: int) -> Plan | None:
    if "actualPaths" not in data:
        return None
    paths = _list(data, "actualPaths")
    if len(paths) < num_agents:
        raise BoardError(f'"actualPaths" has {len(paths)} paths; there are {num_agents} agents')
    return trimmed(tuple(swap_up_down(_motions(path, i)) for i, path in enumerate(paths[:num_agents])))


def _motions(path: Any, agent: int) -> str:
    if not isinstance(path, str) or len(path) > 2 * MAX_STEPS:
        raise BoardError(f'"actualPaths", agent {agent}: a text of at most {MAX_STEPS} letters with commas between them is expected')
    motions = ""
    for step, letter in enumerate(path.split(",") if path else [], 1):
        if letter not in _ACTIONS:
            raise BoardError(f'"actualPaths", agent {agent}, step {step}: {letter[:20]!r} is no action; use {" ".join(_ACTIONS)}')
        motions += _ACTIONS[letter]
    return motions


def write(entry: Entry, stem: str) -> dict[str, str]:
    """``stem.json`` and its map. Raises BoardError if there is no plan."""
    board, plan = entry.board, needs_plan(entry, "PlanViz")
    verdict = judge(board, plan)
    steps = max(map(len, plan))
    paths = [",".join(swap_up_down(motions.ljust(steps, "W"))) for motions in plan]
    agents = range(board.num_agents)
    log = {
        "actionModel": "MAPF",
        "version": "2024 LoRR",
        "AllValid": "Yes" if verdict.valid else "No",
        "teamSize": board.num_agents,
        "start": [[*agent.start, "N/A"] for agent in board.agents],
        "numTaskFinished": sum(verdict.on_goal),
        "sumOfCost": verdict.sum_of_costs if verdict.valid else sum(map(len, plan)),
        "makespan": steps,
        "actualPaths": paths,
        "plannerPaths": paths,
        "plannerTimes": [],
        "errors": _errors(verdict),
        "actualSchedule": [f"0:{i}" for i in agents],
        "plannerSchedule": [f"0:{i}" for i in agents],
        "scheduleErrors": [],
        "events": [[len(plan[i]), i, i, 1] for i in agents if verdict.on_goal[i]],
        "tasks": [[i, 0, list(board.agents[i].goal)] for i in agents],
    }
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in log.items())
    return {f"{stem}.json": f"{{\n{lines}\n}}\n", **write_map(board, stem)}


def _errors(verdict: Verdict) -> list[list[int | str | None]]:
    if verdict.fault is None:
        return []
    first, second = (*verdict.agents, -1)[:2]
    return [[-1, first, second, verdict.step, verdict.fault.replace("_", " ")]]
