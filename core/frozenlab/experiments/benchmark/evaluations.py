"""Evaluations in the background: folders of measurements that are waiting, running, or ended without a result.

Such a folder is that of its result from the beginning: ``task.json`` says what is measured, ``state.json`` how far it is. The result's own
files come at the end (results.py).
"""

from __future__ import annotations

from pathlib import Path

from frozenlab.experiments.benchmark.results import results_folder
from frozenlab.experiments.benchmark.task import EvaluationError, Task
from frozenlab.experiments.experiment import Experiment, Words
from frozenlab.jobs.folders import fresh_name
from frozenlab.jobs.needs import LAB_MODEL, Needs, language_model
from frozenlab.session.store import SessionStore


class Evaluation(Experiment[Task]):
    """The folder of an evaluation in the background. Opening it raises EvaluationError if its task cannot be read."""

    kind, model, error = "evaluation", Task, EvaluationError
    words = Words("evaluation", "evaluations", "measuring")

    @classmethod
    def files(cls, place: Path) -> list[Path]:
        """Of those that wait, run, or ended without a result, newest first. Finished ones are results."""
        return [file for file in super().files(place) if not (file.parent / "report.json").exists()]

    @property
    def title(self) -> str:
        return title_of(self.spec)

    @property
    def online(self) -> bool:
        return self.spec.online

    @property
    def needs(self) -> Needs:
        return needs_of(self.spec)

    @property
    def slow(self) -> bool:
        return self.spec.language is not None


def title_of(task: Task) -> str:
    return f"{task.title} on {Path(task.suite).name}"


def needs_of(task: Task) -> Needs:
    return language_model() if task.language else LAB_MODEL


def fresh_id(task: Task, store: SessionStore) -> str:
    """An unused id for a new result."""
    return fresh_name(results_folder(store), task.title, otherwise="result")
