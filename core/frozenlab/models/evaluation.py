"""Judging a policy on tasks: one row per task, with the columns of ``validation.parquet``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from frozenlab.models.policy import GREEDY, Completion, Progress, Sampling
from frozenlab.tasks.family import Family
from frozenlab.tasks.task import Judged, SeenAs, Task

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


@dataclass(frozen=True)
class InGuises:
    """The answers to one task in several guises, with what a policy can check itself: which are valid, and their costs."""

    written: Sequence[Completion]
    answers: Sequence[Any]
    """As answers to the task itself."""
    judged: Sequence[Judged]

    @property
    def best(self) -> int:
        """The guise with the valid answer that costs least, the first of several; 0, the task as it is, if none is valid."""
        valid = (i for i, judged in enumerate(self.judged) if judged.valid)
        return min(valid, key=lambda i: self.judged[i].cost, default=0)

    @property
    def valid(self) -> int:
        """Guises with a valid answer."""
        return sum(judged.valid for judged in self.judged)


def in_guises(family: Family, tasks: Sequence[Task], guises: int, seed: int) -> list[SeenAs[Any, Any]]:
    """The first task in so many guises, the second, and so on."""
    return [one for task in tasks for one in family.seen_as(task, guises, seed)]


def answer_in_guises(
    policy: Answering, tasks: Sequence[Task], guises: int, sampling: Sampling = GREEDY, on_progress: Progress | None = None
) -> list[InGuises]:
    """Answer every task once in each of so many guises, at most as many as its family has; the seed of ``sampling`` is theirs too.

    ``on_progress`` is called as by :func:`evaluate`, which says what is raised too.
    """
    seen = in_guises(policy.family, tasks, guises, sampling.seed)
    done = None if on_progress is None else lambda answered: on_progress(answered // guises)
    written = [only for [only] in policy.answer([one.task for one in seen], sampling, done)]
    told = [policy.read(one.task, text) for one, text in zip(seen, written, strict=True)]
    judged = [policy.family.judge(one.task, answer) for one, answer in zip(seen, told, strict=True)]
    answers = [one.back(answer) for one, answer in zip(seen, told, strict=True)]
    parts = [slice(i, i + guises) for i in range(0, len(seen), guises)]
    return [InGuises(written[part], answers[part], judged[part]) for part in parts]


def best_of_guises(
    policy: Answering, tasks: Sequence[Task], guises: int, sampling: Sampling = GREEDY, on_progress: Progress | None = None
) -> pd.DataFrame:
    """Answer every task in so many guises and judge the best answers, one row per task.

    Two columns are added: ``guise``, the one that won (0: the task as it is), and ``valid_guises``, how many had a valid answer;
    ``tokens`` are those of all answers. For the rest see :func:`answer_in_guises`.
    """
    found = answer_in_guises(policy, tasks, guises, sampling, on_progress)
    rows = [
        answer_row(policy.family, task, one.written[one.best], one.answers[one.best]) | {"tokens": sum(text.tokens for text in one.written)}
        for task, one in zip(tasks, found, strict=True)
    ]
    return frame(rows, policy.family).assign(guise=[one.best for one in found], valid_guises=[one.valid for one in found])


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
