"""Judging a policy on tasks: one row per task, with the columns of ``validation.parquet``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from frozenlab.models.policy import GREEDY, Completion, Progress, Sampling
from frozenlab.tasks.family import Family
from frozenlab.tasks.task import Task

if TYPE_CHECKING:
    import pandas as pd


def answer_row(family: Family, task: Task, completion: Completion, answer: Any) -> dict[str, Any]:
    """One completion with its parsed answer, judged, as a row with the family's columns."""
    judged = family.judge(task, answer)
    row = family.row(task, answer, judged) | {
        "board_id": task.id,
        "config_cell": task.cell,
        "completion": completion.text,
        "outcome": judged.outcome,
        "valid": judged.valid,
        "optimal": judged.optimal,
        "fault": judged.fault,
        "tokens": completion.tokens,
    }
    return {name: row[name] for name in family.columns}


def frame(rows: Sequence[dict[str, Any]], family: Family) -> pd.DataFrame:
    """Rows of :func:`answer_row` as a table with the family's types, so that an empty column keeps its type when read back."""
    import pandas as pd

    return pd.DataFrame(list(rows), columns=list(family.columns)).astype(dict(family.columns))


class Answering(Protocol):
    """What answers the tasks of one family: a policy, or a model that can only be asked."""

    @property
    def family(self) -> Family: ...

    def read(self, task: Task, completion: Completion) -> Any: ...

    def answer(self, tasks: Sequence[Task], sampling: Sampling = GREEDY, on_progress: Progress | None = None) -> list[list[Completion]]: ...


def evaluate(policy: Answering, tasks: Sequence[Task], sampling: Sampling = GREEDY, on_progress: Progress | None = None) -> pd.DataFrame:
    """Answer every task with the policy (greedily and once by default) and judge the answers; one row per answer, in the tasks' order.

    ``on_progress`` is called with the number of tasks answered so far. Raises a LabError for a task that the policy's dialect has no words
    for.
    """
    answers = zip(tasks, policy.answer(tasks, sampling, on_progress), strict=True)
    rows = [
        answer_row(policy.family, task, written, policy.read(task, written)) for task, all_written in answers for written in all_written
    ]
    return frame(rows, policy.family)
