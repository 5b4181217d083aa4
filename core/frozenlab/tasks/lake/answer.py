"""The verdict on a model's answer to a board, and the row of a table that holds both."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from frozenlab.lake.instance import Instance
from frozenlab.lake.reward import plan_reward
from frozenlab.lake.rules import Verdict
from frozenlab.lake.words.reading import Answer
from frozenlab.tasks.task import Judged

if TYPE_CHECKING:
    import pandas as pd

COLUMNS: dict[str, str] = {
    "board_id": "str",
    "config_cell": "str",
    "size": "int64",
    "agents": "int64",
    "hole_ratio": "float64",
    "needs_wait": "boolean",
    "optimal_makespan": "Int64",
    "optimal_sum_of_costs": "Int64",
    "board": "str",
    "completion": "str",
    "paths": "str",
    "outcome": "str",
    "valid": "bool",
    "optimal": "bool",
    "fault": "str",
    "step": "Int64",
    "fault_agents": "str",
    "cell": "str",
    "makespan": "Int64",
    "sum_of_costs": "Int64",
    "on_goal": "float64",
    "tokens": "int64",
}
"""Column -> pandas type. ``board``, ``paths`` (per agent a list of [row, col]), ``fault_agents`` and ``cell`` (of the fault) hold JSON;
``on_goal`` is the share of agents that end on their goal."""

PATTERNS = {
    "board": r'\{"map": \[".*"\], "agents": \[\{.*\}\]\}',
    "paths": r"\[.*\]",
    "fault_agents": r"\[[\d, ]*\]",
    "cell": r"\[-?\d+, -?\d+\]",
}
"""What the columns that hold JSON look like, where they hold anything. A path may lead off the board, or be none."""


def judged(verdict: Verdict, optimal_makespan: int | None) -> Judged:
    """The verdict in the words of every family: a valid plan is the better the shorter it is, and among those the less it costs."""
    known, optimal = optimal_makespan is not None, bool(verdict.optimal)
    if verdict.makespan is not None and verdict.sum_of_costs is not None:
        efficiency = (optimal_makespan or 0) / verdict.makespan if verdict.makespan else float(known)
        cost = (verdict.makespan, verdict.sum_of_costs)
        return Judged(verdict.outcome, True, optimal, efficiency=efficiency, cost=cost, detail=verdict)
    home = sum(verdict.on_goal) / len(verdict.on_goal)
    credit = plan_reward(optimal_makespan, None, verdict.step, home) if optimal_makespan is not None else 0.0
    return Judged(verdict.outcome, False, credit=credit, detail=verdict)


def row(instance: Instance, answer: Answer, verdict: Verdict) -> dict[str, Any]:
    """The columns of a row that are about the board and the plan."""
    board, solution = instance.board, instance.solution
    return {
        "size": board.size,
        "agents": board.num_agents,
        "hole_ratio": board.hole_ratio,
        "needs_wait": solution.needs_wait,
        "optimal_makespan": solution.makespan,
        "optimal_sum_of_costs": solution.sum_of_costs,
        "board": json.dumps(board.to_dict()),
        "paths": None if answer.paths is None else json.dumps(answer.paths),
        "step": verdict.step,
        "fault_agents": json.dumps(verdict.agents),
        "cell": None if verdict.cell is None else json.dumps(verdict.cell),
        "makespan": verdict.makespan,
        "sum_of_costs": verdict.sum_of_costs,
        "on_goal": sum(verdict.on_goal) / board.num_agents,
    }


def unsound(table: pd.DataFrame) -> str | None:
    """What a table of answers holds that no judge of the lake wrote."""
    for name, pattern in PATTERNS.items():
        if not all(map(re.compile(pattern).fullmatch, table[name].dropna().unique())):
            return f"the column {name!r} holds what it cannot hold"
    without = table[["board", "fault_agents"]].isna().any(axis=None) or not table["size"].between(1, 99).all()
    return "a row has no board" if without else None
