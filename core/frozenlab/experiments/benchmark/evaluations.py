"""Evaluations in the background: folders of measurements that are waiting, running, or ended without a result.

Such a folder is that of its result from the beginning: ``task.json`` says what is measured, ``state.json`` how far it is. The result's own
files come at the end (results.py).
"""

from __future__ import annotations

from pathlib import Path

from frozenlab.experiments.benchmark.results import results_folder
from frozenlab.experiments.benchmark.task import EvaluationError, Task
from frozenlab.jobs.folders import fresh_name, make_folder, readable
from frozenlab.jobs.launcher import launching, submit
from frozenlab.jobs.needs import LAB_MODEL, Needs, Work, language_model
from frozenlab.jobs.task import TaskJob
from frozenlab.session.store import SessionStore


class Evaluation(TaskJob[Task]):
    """The folder of an evaluation in the background. Opening it raises EvaluationError if its task cannot be read."""

    kind = "evaluation"
    model, error = Task, EvaluationError

    @property
    def title(self) -> str:
        return title_of(self.task)

    @property
    def online(self) -> bool:
        return self.task.online

    @property
    def needs(self) -> Needs:
        return needs_of(self.task)

    @property
    def work(self) -> Work:
        return Work(f"{self.task.policy} on {Path(self.task.suite).name}")

    @property
    def slow(self) -> bool:
        return self.task.language is not None


def title_of(task: Task) -> str:
    return f"{task.title} on {Path(task.suite).name}"


def needs_of(task: Task) -> Needs:
    return language_model() if task.language else LAB_MODEL


def create(task: Task, store: SessionStore) -> Evaluation:
    """Create a folder with ``task.json`` and a queued state."""
    return Evaluation(make_folder(results_folder(store), None, "task.json", task, title=task.title, kind="result", error=EvaluationError))


def start(task: Task, store: SessionStore) -> Evaluation:
    """Starts to measure a checkpoint, as ``frozenlab evaluate`` does in the foreground. Raises LaunchError if the disk is full."""
    with launching(store.root):
        evaluation = create(task, store)
        submit(evaluation)
    return evaluation


def fresh_id(task: Task, store: SessionStore) -> str:
    """An unused id for a new result."""
    return fresh_name(results_folder(store), task.title, otherwise="result")


def evaluations(store: SessionStore) -> list[Evaluation]:
    """All evaluations that are waiting, running, or ended without a result, newest first. Finished ones are results."""
    tasks = sorted(results_folder(store).glob("*/task.json"), reverse=True)
    return readable((task for task in tasks if not (task.parent / "report.json").exists()), Evaluation, EvaluationError)
