"""Evaluations: the measurement to make, and the folder of one in progress.

An evaluation that runs in the background has the folder that its result will have, from the beginning: ``task.json`` says what is measured,
``state.json`` how far it is. The result's own files come at the end (results.py).
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from frozenlab.benchmark.report import Measured
from frozenlab.benchmark.results import SHIPPED, results_folder
from frozenlab.errors import LabError, one_line
from frozenlab.jobs.folders import JOB_ID, fresh_name, make_folder, readable
from frozenlab.jobs.launcher import launching, spawn
from frozenlab.jobs.task import TaskJob
from frozenlab.loop.store import SessionStore
from frozenlab.policy.folders import LAB_MODEL, is_lab_model, on_hub, policy_folder, weights_file
from frozenlab.policy.settings import LanguageSettings
from frozenlab.tasks.families import family_with_suite
from frozenlab.tasks.family import Family

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
AS_PUBLISHED = LanguageSettings(lora=None)
"""Settings for measuring a language model that no session trained."""
CHECKPOINT = re.compile(r"([a-z0-9][a-z0-9-]{0,62}):(base|[1-9][0-9]{0,2})")


class Task(Measured):
    """``task.json``: the checkpoint and the suite to measure."""

    policy: str
    """``lab-model``, or the absolute path of a checkpoint folder; with ``language``, the name of a model on the hub too."""
    language: LanguageSettings | None = None
    """Settings of a Hugging Face language model; None for a lab model."""

    @property
    def family(self) -> Family:
        """The family of the suite's tasks."""
        return family_with_suite(self.suite)

    @property
    def online(self) -> bool:
        """Whether its tasks or its model come from the hub."""
        return self.family.suite_online(self.suite) or (self.language is not None and on_hub(self.policy))


class EvaluationError(LabError, ValueError):
    """An evaluation cannot be made, read or thrown away; the message says why."""


def task_for(model: str, suite: str, store: SessionStore, **fields: Any) -> Task:
    """The task for a model as people name it: ``lab-model``, a checkpoint folder, the name of a model on the hub, or
    ``SESSION:base``, ``SESSION:1``, ... for the checkpoints of a session.

    Args:
        fields: other fields of :class:`Task`, such as ``temperature`` or ``title``.

    Raises:
        EvaluationError: there is no such checkpoint, or a field is not valid.
        SessionError: there is no such session.
        SuiteError: there is no such suite.
    """
    checkpoint = checkpoint_of(model, store)
    source = family_with_suite(suite).suite_source(suite)
    try:
        return Task(**(checkpoint | {"suite": source} | fields))
    except ValidationError as error:
        raise EvaluationError(one_line(error)) from None


def checkpoint_of(model: str, store: SessionStore) -> dict[str, Any]:
    """The checkpoint behind a model's name, as fields of :class:`Task`. Raises EvaluationError and SessionError."""
    named = CHECKPOINT.fullmatch(model)
    if named and not Path(model).exists():
        return _of_session(named[1], named[2], store)
    if HUB_NAME.fullmatch(model) and not Path(model).exists():
        return {"title": model, "model": model, "policy": model, "language": AS_PUBLISHED}
    return _of_folder(model)


def _of_folder(model: str) -> dict[str, Any]:
    folder = policy_folder(model).resolve()
    if weights_file(folder) is None:
        raise EvaluationError(f"{model!r} is no checkpoint: neither lab-model, nor a folder with a model.safetensors, nor SESSION:STAGE")
    name = "lab model" if folder == LAB_MODEL else folder.name
    language = None if is_lab_model(folder) else AS_PUBLISHED
    return {"title": name, "model": name, "policy": "lab-model" if folder == LAB_MODEL else str(folder), "language": language}


def _of_session(session_id: str, which: str, store: SessionStore) -> dict[str, Any]:
    session = store.open(session_id)
    stage = None if which == "base" else int(which) - 1
    available = {checkpoint.stage: checkpoint for checkpoint in session.checkpoints()}
    if stage not in available:
        names = ", ".join("base" if other is None else str(other + 1) for other in available)
        raise EvaluationError(f"session {session_id} has no weights of {which!r}; it has those of {names}")
    spec = session.spec
    base = {"model": spec.policy, "policy": spec.policy} if spec.language else _of_folder(spec.policy)
    return base | {
        "title": f"{session.title}, {available[stage].label}",
        "policy": base["policy"] if stage is None else str(available[stage].path.resolve()),
        "language": spec.language,
        "method": None if stage is None else spec.training.method,
        "session": session_id,
        "stage": stage,
    }


class Evaluation(TaskJob[Task]):
    """The folder of an evaluation in the background. Opening it raises EvaluationError if its task cannot be read."""

    kind = "evaluation"
    model, error = Task, EvaluationError

    @property
    def title(self) -> str:
        return f"{self.task.title} on {Path(self.task.suite).name}"

    @property
    def online(self) -> bool:
        return self.task.online

    @property
    def slow(self) -> bool:
        return self.task.language is not None


def create(task: Task, store: SessionStore) -> Evaluation:
    """Create a folder with ``task.json`` and a queued state."""
    return Evaluation(make_folder(results_folder(store), None, "task.json", task, title=task.title, kind="result", error=EvaluationError))


def start(task: Task, store: SessionStore) -> Evaluation:
    """Starts to measure a checkpoint, as ``frozenlab evaluate`` does in the foreground. Raises LaunchError while another job runs."""
    with launching(store.root):
        evaluation = create(task, store)
        spawn(evaluation)
    return evaluation


def fresh_id(task: Task, store: SessionStore) -> str:
    """An unused id for a new result."""
    return fresh_name(results_folder(store), task.title, otherwise="result")


def evaluations(store: SessionStore) -> list[Evaluation]:
    """All evaluations that are waiting, running, or ended without a result, newest first. Finished ones are results."""
    tasks = sorted(results_folder(store).glob("*/task.json"), reverse=True)
    return readable((task for task in tasks if not (task.parent / "report.json").exists()), Evaluation, EvaluationError)


def throw_away(result_id: str, store: SessionStore) -> None:
    """Delete one of the user's results, or an evaluation that ended without one. Raises EvaluationError if it is running or missing."""
    folder = results_folder(store) / result_id
    if not JOB_ID.fullmatch(result_id) or not folder.is_dir():
        shipped = JOB_ID.fullmatch(result_id) and (SHIPPED / result_id).is_dir()
        raise EvaluationError(f"{result_id} ships with the project and stays" if shipped else f"there is no result {result_id!r}")
    if (folder / "task.json").exists() and not (folder / "report.json").exists() and Evaluation(folder).state().live:
        raise EvaluationError(f"{result_id} is running; stop it first")
    for name in ("task.json", "report.json"):  # first the file that makes it a result, so that nobody reads half of one
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder)
