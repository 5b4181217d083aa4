"""The answers to held-out boards at one moment of a session; processes that train together share the boards."""

from __future__ import annotations

import pandas as pd
from accelerate import PartialState
from accelerate.utils import broadcast_object_list, gather_object

from frozenlab.base import seeds
from frozenlab.models.evaluation import evaluate
from frozenlab.models.policy import Policy, Progress
from frozenlab.session.spec import SessionSpec
from frozenlab.tasks.task import Task


def shared(spec: SessionSpec) -> bool:
    """Whether several processes train together, and so answer together."""
    return spec.language is not None and spec.language.launcher.processes > 1


def agreed(lacking: bool, spec: SessionSpec) -> bool:
    """What the first of the session's processes says: it alone keeps the tables, so it knows whether a measurement is lacking."""
    if not shared(spec):
        return lacking
    [said] = broadcast_object_list([lacking])
    return said


def answers(policy: Policy, tasks: list[Task], spec: SessionSpec, on_progress: Progress | None = None) -> pd.DataFrame:
    """One answer to each task, one row each, in their order; where answers are drawn, by the same seed at every stage.

    Of N processes each answers every N-th task, so that each gets some of every size; all of them get the whole table.
    ``on_progress`` is called with how many of all tasks are done, as far as this process knows.
    """
    if not shared(spec):
        return evaluate(policy, tasks, policy.sampling(seeds.derive(spec.seed, "stage/measured")), on_progress)
    processes = PartialState()
    number, of = processes.process_index, processes.num_processes
    own = evaluate(
        policy,
        tasks[number::of],
        policy.sampling(seeds.derive(spec.seed, "stage/measured by several", number)),
        None if on_progress is None else lambda done: on_progress(min(len(tasks), done * of)),
    )
    parts: list[pd.DataFrame] = gather_object([own])
    return pd.concat([parts[i % of].iloc[[i // of]] for i in range(len(tasks))], ignore_index=True)
