"""Judging a policy on solved boards: one row per board, with the columns of ``validation.parquet``."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from frozenlab.lake.instance import Instance
from frozenlab.policy.answer import Answer, judge_answer
from frozenlab.policy.policy import Completion, Policy

COLUMNS: dict[str, str] = {
    "board_id": "str",
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
"""Column -> pandas type. ``board``, ``paths`` (per agent a list of [row, col]), ``fault_agents`` and ``cell`` hold JSON; ``on_goal`` is the
share of agents that end on their goal."""


def answer_row(instance: Instance, completion: Completion, answer: Answer) -> dict[str, Any]:
    """One completion with its parsed answer, judged, as a row with the keys of COLUMNS."""
    board, solution = instance.board, instance.solution
    verdict = judge_answer(board, answer, solution.makespan)
    return {
        "board_id": instance.id,
        "size": board.size,
        "agents": board.num_agents,
        "hole_ratio": board.hole_ratio,
        "needs_wait": solution.needs_wait,
        "optimal_makespan": solution.makespan,
        "optimal_sum_of_costs": solution.sum_of_costs,
        "board": json.dumps(board.to_dict()),
        "completion": completion.text,
        "paths": None if answer.paths is None else json.dumps(answer.paths),
        "outcome": verdict.outcome,
        "valid": verdict.valid,
        "optimal": bool(verdict.optimal),
        "fault": verdict.fault,
        "step": verdict.step,
        "fault_agents": json.dumps(verdict.agents),
        "cell": None if verdict.cell is None else json.dumps(verdict.cell),
        "makespan": verdict.makespan,
        "sum_of_costs": verdict.sum_of_costs,
        "on_goal": sum(verdict.on_goal) / board.num_agents,
        "tokens": completion.tokens,
    }


def frame(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """Rows of :func:`answer_row` as a table with the types of COLUMNS, so that an empty column keeps its type when read back."""
    return pd.DataFrame(list(rows), columns=list(COLUMNS)).astype(COLUMNS)


def evaluate(
    policy: Policy,
    instances: Sequence[Instance],
    *,
    temperature: float = 0.0,
    seed: int = 0,
    batch_size: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> pd.DataFrame:
    """Plan every board once with the policy (greedily by default) and judge the plans; one row per board, in the given order.

    ``on_progress`` is called with the number of boards planned so far. Raises DialectError or BoardError for a board that the policy's
    dialect has no words for.
    """
    planned = policy.plan(
        [instance.board for instance in instances], temperature=temperature, seed=seed, batch_size=batch_size, on_progress=on_progress
    )
    answers = [(instance, written, policy.read(instance.board, written)) for instance, [written] in zip(instances, planned, strict=True)]
    return frame([answer_row(*answer) for answer in answers])
