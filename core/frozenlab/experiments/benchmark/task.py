"""What an evaluation measures, a checkpoint as people name it on a suite, and its folder.

The folder is that of the result from the beginning: ``task.json`` says what is measured, ``state.json`` how far it is. The result's own
files come at the end (results.py).
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from frozenlab.base.errors import LabError, one_line
from frozenlab.engineer.hosts import Server
from frozenlab.experiments.benchmark.report import Measured, best_of
from frozenlab.experiments.experiment import Experiment, Words
from frozenlab.jobs.machine import LAB_MODEL as ON_CORES
from frozenlab.jobs.machine import Needs, language_model
from frozenlab.models.folders import FETCHED, LAB_MODEL, STUDENT, is_lab_model, noted_question, nowhere, on_hub, policy_folder, weights_file
from frozenlab.models.language.room import on_processor
from frozenlab.models.settings import LanguageSettings
from frozenlab.session.footprint import GIB, short_of_memory, to_answer
from frozenlab.session.store import SessionStore
from frozenlab.tasks.families import family_with_suite
from frozenlab.tasks.family import Family
from frozenlab.tasks.lake.guises import GUISES

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")
AS_PUBLISHED = LanguageSettings(lora=None)
"""Settings for measuring a language model that no session trained."""
LANGUAGE_FIELDS = ("thinking", "max_tokens")
"""Settings of a language model that an evaluation may change."""
PROMPT_ROOM = 2048
"""Tokens; the longest question about a board has a quarter of it."""
QUESTION = PROMPT_ROOM // 4
CHECKPOINT = re.compile(r"([a-z0-9][a-z0-9-]{0,62}):(base|[1-9][0-9]{0,2})")


class Task(Measured):
    """``task.json``: the checkpoint and the suite to measure."""

    temperature: float = Field(0.0, ge=0)
    policy: str
    """``lab-model``, ``student:ID``, or the absolute path of a checkpoint folder; with ``language``, ``smollm2``, ``smollm2-planner`` and
    the name of a model on the hub too."""
    language: LanguageSettings | None = None
    """Settings of a Hugging Face language model; None for a lab model."""
    server: Annotated[Server | None, Field(exclude_if=lambda server: server is None)] = None
    """Where a model is asked that is not loaded here."""

    @property
    def family(self) -> Family:
        """The family of the suite's tasks."""
        return family_with_suite(self.suite)

    @property
    def online(self) -> bool:
        """Whether its tasks or its model come from the hub."""
        return self.family.suite_online(self.suite) or self.server is not None or (self.language is not None and on_hub(self.policy))

    @property
    def words(self) -> str:
        """``lab model on quick``."""
        return f"{self.title} on {Path(self.suite).name}"

    @property
    def needs(self) -> Needs:
        if self.language is None:
            return ON_CORES
        return language_model()._replace(memory=math.ceil(self.memory / GIB) if on_processor(self.language) else 0)

    @property
    def memory(self) -> int:
        """Bytes that a language model needs for it; 0 for others, and where its shape is not known."""
        return to_answer(self.policy, self.language, QUESTION) if self.language else 0

    def check(self, *, waits: bool) -> None:
        """Raises EvaluationError if its language model does not fit here. ``waits``: it begins when the queue has room for it."""
        if self.language and (short := short_of_memory(self.language, self.memory, self.memory, waits=waits)):
            raise EvaluationError(f"{self.model} cannot be measured here: {short}")


class EvaluationError(LabError, ValueError):
    """An evaluation cannot be made, read or thrown away; the message says why."""


class Evaluation(Experiment[Task]):
    """The folder of an evaluation in the background. Opening it raises EvaluationError if its task cannot be read."""

    kind, model, error = "evaluation", Task, EvaluationError
    words = Words("evaluation", "evaluations", "measuring")

    @classmethod
    def check(cls, spec: Task, store: SessionStore) -> None:
        """Raises EvaluationError if its language model does not fit here."""
        spec.check(waits=True)

    @classmethod
    def files(cls, place: Path) -> list[Path]:
        """Of those that wait, run, or ended without a result, newest first. Finished ones are results."""
        return [file for file in super().files(place) if not (file.parent / "report.json").exists()]

    @property
    def title(self) -> str:
        return self.spec.words

    @property
    def online(self) -> bool:
        return self.spec.online

    @property
    def needs(self) -> Needs:
        return self.spec.needs

    @property
    def slow(self) -> bool:
        return self.spec.language is not None


def task_for(model: str, suite: str, store: SessionStore, **fields: Any) -> Task:
    """The task for a model as people name it: ``lab-model``, ``smollm2``, ``student:ID``, a checkpoint folder, the name of a model on the
    hub, or ``SESSION:base``, ``SESSION:1``, ... for the checkpoints of a session; with a ``server``, the model that it serves.

    Args:
        fields: other fields of :class:`Task`, such as ``temperature`` or ``title``, and of a language model ``thinking`` and
            ``max_tokens``. What is not given is as the checkpoint's session validates, or as the model's card asks while it thinks.

    Raises:
        EvaluationError: there is no such checkpoint, or a field is not valid.
        SessionError: there is no such session.
        SuiteError: there is no such suite.
    """
    server = fields.get("server")
    checkpoint = of_server(model, server) if server else checkpoint_of(model, store)
    source = family_with_suite(suite).suite_source(suite)
    try:
        asked = {name: fields.pop(name) for name in LANGUAGE_FIELDS if name in fields}
        language = checkpoint.get("language")
        if asked and language is None:
            raise EvaluationError(f"{model} is a lab model: {', '.join(sorted(asked))} is for language models")
        if language is not None:
            longest = asked.get("max_tokens", language.max_tokens)
            room = {"context": max(language.context, longest + PROMPT_ROOM)}  # for the longest answer and a prompt
            language = LanguageSettings.model_validate(language.model_dump() | asked | room)
            how = language.measured
            fields = {"temperature": how.temperature, "top_p": how.top_p, "top_k": how.top_k} | fields
            fields |= {"language": language, "thinking": language.thinking, "max_tokens": language.max_tokens}
        task = Task(**(checkpoint | {"suite": source} | fields))
        if task.guises > 1:
            task = task.model_copy(update={"title": f"{task.title}, {best_of(task.guises)}"})
    except ValidationError as error:
        raise EvaluationError(one_line(error)) from None
    if task.samples > 1 and task.temperature == 0:
        raise EvaluationError(f"at temperature 0 all {task.samples} answers to a task are the same: give a temperature above 0")
    if task.guises > task.family.guises:
        raise EvaluationError(f"a task of the family {task.family.name} has no rotations and reflections; boards of the lake have {GUISES}")
    if task.guises > 1 and task.samples > 1:
        raise EvaluationError("give samples or guises, not both: each rotation and reflection is answered once")
    return task


def of_server(model: str, server: Server) -> dict[str, Any]:
    """A model behind a server, as fields of :class:`Task`."""
    return {"title": server.model, "model": model, "policy": model, "temperature": server.temperature, "max_tokens": server.max_tokens}


def checkpoint_of(model: str, store: SessionStore) -> dict[str, Any]:
    """The checkpoint behind a model's name, as fields of :class:`Task`. Raises EvaluationError and SessionError."""
    if model.startswith(STUDENT):
        return _student(model)
    named = CHECKPOINT.fullmatch(model)
    if named and not Path(model).exists():
        found = _of_session(named[1], named[2], store)
    elif model in FETCHED or (HUB_NAME.fullmatch(model) and not Path(model).exists()):
        found = {"title": model, "model": model, "policy": model, "language": AS_PUBLISHED}
    else:
        found = _of_folder(model)
    if found["language"] and (missing := nowhere(found["policy"])):
        raise EvaluationError(missing)
    return found


def _student(name: str) -> dict[str, Any]:
    if weights_file(policy_folder(name)) is None:
        raise EvaluationError(f"{name!r} is not made: frozenlab students list shows which there are")
    return {"title": name.replace(":", " "), "model": name, "policy": name}


def _of_folder(model: str) -> dict[str, Any]:
    folder = policy_folder(model).resolve()
    if weights_file(folder) is None:
        raise EvaluationError(f"{model!r} is no checkpoint: neither lab-model, nor a folder with a model.safetensors, nor SESSION:STAGE")
    name = "lab model" if folder == LAB_MODEL else folder.name
    taught = {"question": noted_question(model) or AS_PUBLISHED.question}
    language = None if is_lab_model(folder) else AS_PUBLISHED.model_copy(update=taught)
    policy = folder.name if folder == policy_folder(folder.name) else str(folder)
    return {"title": name, "model": name, "policy": policy, "language": language}


def _of_session(session_id: str, which: str, store: SessionStore) -> dict[str, Any]:
    session = store.open(session_id)
    stage = None if which == "base" else int(which) - 1
    available = {checkpoint.stage: checkpoint for checkpoint in session.checkpoints()}
    if stage not in available:
        if stage is None and (missing := nowhere(session.spec.policy)):
            raise EvaluationError(missing)
        names = ", ".join("base" if other is None else str(other + 1) for other in available)
        raise EvaluationError(f"session {session_id} has no weights of {which!r}; it has those of {names}")
    spec = session.spec
    base = {"model": spec.policy, "policy": spec.policy} if spec.language else checkpoint_of(spec.policy, store)
    return base | {
        "title": f"{session.title}, {available[stage].label}",
        "policy": base["policy"] if stage is None else str(available[stage].path.resolve()),
        "language": spec.language,
        "method": None if stage is None else spec.training.method,
        "session": session_id,
        "stage": stage,
    }
