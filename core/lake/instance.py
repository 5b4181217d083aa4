"""Instances: solved boards, and the JSON lines file that holds them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.lake.board import Board, BoardError, read_json
from core.lake.solver import Solution


@dataclass(frozen=True)
class Instance:
    """A board with a name and what is known of its best plan."""

    id: str
    board: Board
    solution: Solution

    def to_line(self) -> str:
        """One JSON line: ``{"id", "map", "agents", "optimal": {"makespan", "sum_of_costs", "needs_wait", "plan"}}``.

        ``optimal`` is left out unless the board is solved.
        """
        data: dict[str, Any] = {"id": self.id, **self.board.to_dict()}
        if self.solution.status == "solved":
            data["optimal"] = {
                "makespan": self.solution.makespan,
                "sum_of_costs": self.solution.sum_of_costs,
                "needs_wait": self.solution.needs_wait,
                "plan": list(self.solution.plan or ()),
            }
        return json.dumps(data)

    @classmethod
    def from_line(cls, line: str) -> Instance:
        """Reads what :meth:`to_line` wrote; without ``optimal`` the solution is ``undecided``. Raises BoardError with a one-line reason."""
        data = read_json(line)
        board = Board.from_dict(data)
        name = data.get("id", "")
        if not isinstance(name, str):
            raise BoardError('"id" must be a string')
        return cls(name, board, _read_solution(data.get("optimal"), board))


def _read_solution(data: Any, board: Board) -> Solution:
    if data is None:
        return Solution("undecided")
    if not isinstance(data, dict):
        raise BoardError('"optimal" must be an object with makespan, sum_of_costs, needs_wait and plan')
    makespan, costs, needs_wait, plan = (data.get(key) for key in ("makespan", "sum_of_costs", "needs_wait", "plan"))
    if type(makespan) is not int or makespan < 0:
        raise BoardError('"optimal": "makespan" must be a whole number of time steps')
    if costs is not None and (type(costs) is not int or costs < 0):
        raise BoardError('"optimal": "sum_of_costs" must be a whole number or null')
    if needs_wait is not None and type(needs_wait) is not bool:
        raise BoardError('"optimal": "needs_wait" must be true, false or null')
    if plan is not None and not (isinstance(plan, list) and len(plan) == board.team and all(isinstance(x, str) for x in plan)):
        raise BoardError('"optimal": "plan" must be a list of motion strings, one an agent')
    return Solution("solved", makespan, costs, needs_wait, None if plan is None else tuple(plan))


def read_instances(path: Path) -> list[Instance]:
    """Reads a JSON lines file; blank lines are skipped. Raises BoardError naming the line that is wrong, OSError if it can't be read."""
    instances = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise BoardError(f"{path.name} is not a text file in UTF-8") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                instances.append(Instance.from_line(line))
            except BoardError as error:
                raise BoardError(f"line {number}: {error}") from None
    return instances


def write_instances(path: Path, instances: Iterable[Instance]) -> None:
    """Writes a JSON lines file in one go: it appears complete or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.writelines(instance.to_line() + "\n" for instance in instances)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
