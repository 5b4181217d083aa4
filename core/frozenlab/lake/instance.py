"""Instances: solved boards, and the JSON lines file that holds them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenlab.base.files import write_text
from frozenlab.lake.board import Board, BoardError, Plan, read_json
from frozenlab.lake.solvers.solver import Solution


@dataclass(frozen=True)
class Instance:
    """A board with a name and what is known of its best plan."""

    id: str
    board: Board
    solution: Solution
    cell: str = ""
    """The name of the cell that it counts for, in the config of its session; empty where there is none. Not part of the line."""

    @classmethod
    def unsolved(cls, board: Board) -> Instance:
        """A board of which nothing else is known."""
        return cls("", board, Solution("undecided"))

    def to_line(self) -> str:
        """One JSON line: ``{"id", "map", "agents", "optimal": {"makespan", "sum_of_costs", "needs_wait", "plan"}}``.

        ``optimal`` has a ``cheapest_plan`` too where one is known. Unless the board is solved it is left out; where a plan is known that
        may not be the best there is ``"best_known": {"bounds", "plan"}`` instead.
        """
        data: dict[str, Any] = {"id": self.id, **self.board.to_dict()}
        found = self.solution
        if found.status == "solved":
            data["optimal"] = {
                "makespan": found.makespan,
                "sum_of_costs": found.sum_of_costs,
                "needs_wait": found.needs_wait,
                "plan": list(found.plan or ()),
            }
            if found.cheapest_plan is not None:
                data["optimal"]["cheapest_plan"] = list(found.cheapest_plan)
        elif found.status == "bounded":
            data["best_known"] = {"bounds": list(found.bounds or ()), "plan": list(found.plan or ())}
        return json.dumps(data)

    @classmethod
    def from_line(cls, line: str) -> Instance:
        """Reads what :meth:`to_line` wrote; where no plan is known the solution is ``undecided``. Raises BoardError, a one-line reason."""
        data = read_json(line)
        board = Board.from_dict(data)
        name = data.get("id", "")
        if not isinstance(name, str):
            raise BoardError('"id" must be a string')
        if data.get("best_known") is not None:
            return cls(name, board, _read_bounded(data["best_known"], board))
        return cls(name, board, _read_solution(data.get("optimal"), board))


def _read_solution(data: Any, board: Board) -> Solution:
    if data is None:
        return Solution("undecided")
    if not isinstance(data, dict):
        raise BoardError('"optimal" must be an object with makespan, sum_of_costs, needs_wait and plan')
    makespan, costs, needs_wait = (data.get(key) for key in ("makespan", "sum_of_costs", "needs_wait"))
    if type(makespan) is not int or makespan < 0:
        raise BoardError('"optimal": "makespan" must be a whole number of time steps')
    if costs is not None and (type(costs) is not int or costs < 0):
        raise BoardError('"optimal": "sum_of_costs" must be a whole number or null')
    if needs_wait is not None and type(needs_wait) is not bool:
        raise BoardError('"optimal": "needs_wait" must be true, false or null')
    plan, cheapest = (_read_plan(data, "optimal", key, board) for key in ("plan", "cheapest_plan"))
    return Solution("solved", makespan, costs, needs_wait, plan, cheapest_plan=cheapest)


def _read_bounded(data: Any, board: Board) -> Solution:
    if not isinstance(data, dict):
        raise BoardError('"best_known" must be an object with bounds and plan')
    bounds = data.get("bounds")
    if not (isinstance(bounds, list) and len(bounds) == 2 and all(type(x) is int for x in bounds) and 0 <= bounds[0] <= bounds[1]):
        raise BoardError('"best_known": "bounds" must be two whole numbers of time steps, the lower one first')
    return Solution("bounded", plan=_read_plan(data, "best_known", "plan", board), bounds=(bounds[0], bounds[1]))


def _read_plan(data: dict[str, Any], where: str, key: str, board: Board) -> Plan | None:
    plan = data.get(key)
    if plan is not None and not (isinstance(plan, list) and len(plan) == board.num_agents and all(isinstance(x, str) for x in plan)):
        raise BoardError(f'"{where}": "{key}" must be a list of motion strings, one per agent')
    return None if plan is None else tuple(plan)


def instances_in(text: str) -> list[Instance]:
    """The instances of JSON lines; blank lines are skipped. Raises BoardError naming the line that is wrong."""
    instances = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                instances.append(Instance.from_line(line))
            except BoardError as error:
                raise BoardError(f"line {number}: {error}") from None
    return instances


def write_instances(path: Path, instances: Iterable[Instance]) -> None:
    """Writes a JSON lines file in one go: it appears complete or not at all."""
    write_text(path, "".join(instance.to_line() + "\n" for instance in instances))
