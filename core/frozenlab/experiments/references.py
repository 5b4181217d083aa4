"""What the task of a job refers to: sessions, students, models and folders, by the names of its fields.

The file is read as it is, because a job that cannot be opened still needs what it names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from frozenlab.base.files import Kept, read_json
from frozenlab.jobs.folders import JOB_ID
from frozenlab.jobs.job import KINDS, Job
from frozenlab.models.folders import FETCHED, PLANNER, STUDENT
from frozenlab.session.store import SessionStore

EVERYWHERE = {"lab-model", "untrained", PLANNER, *FETCHED}
"""Names of models that every FrozenLab has, or can fetch."""
FIELDS = {"session": "session", "folder": "folder", "policy": "model", "base": "model", "students": "model"}
"""Field of a task -> what it names, if it is a text, or a list of texts."""


class Ref(NamedTuple):
    """Something that a task names."""

    kind: str
    """``session``, ``student``, ``model``, or the ``folder`` of a session."""
    name: str
    """An id, a path, or the name of a model on the hub."""


class Needed(NamedTuple):
    """A job that needs another."""

    kind: str
    id: str


def with_names(task: Any, kind: str, name_of: Callable[[Ref], str]) -> Any:
    """The task of a job of this kind, with the name that ``name_of`` gives each of its references."""

    def renamed(value: Any, field: str) -> Any:
        if isinstance(value, dict):  # the configs of a study's arm have the names of students as keys
            return {renamed(name, "") if name.startswith(STUDENT) else name: renamed(part, name) for name, part in value.items()}
        if isinstance(value, list):
            return [renamed(part, field) for part in value]
        if not isinstance(value, str):
            return value
        if value.startswith(STUDENT):
            return STUDENT + name_of(Ref("student", value.removeprefix(STUDENT)))
        if kind == "diagnosis" and field == "students":
            return name_of(Ref("student", value))
        return name_of(Ref(FIELDS[field], value)) if field in FIELDS and value not in EVERYWHERE else value

    return renamed(task, "")


def references(task: Any, kind: str = "") -> frozenset[Ref]:
    """What the task of a job of this kind names, apart from models that every FrozenLab has."""
    found: set[Ref] = set()

    def note(ref: Ref) -> str:
        found.add(ref)
        return ref.name

    with_names(task, kind, note)
    return frozenset(found)


def needed_by(job: Job, store: SessionStore) -> Iterator[Needed]:
    """The jobs of the sessions folder whose task names the job or a file in it: forks and replays a session, studies a checkpoint, contests
    a student.

    Results are left out: they hold all that they show.
    """
    itself, folder = Ref(job.kind, job.id), f"{job.dir}/"
    for kind in KINDS.values():
        if kind.name == "evaluation":
            continue
        for path in sorted((store.root / kind.place).glob(f"*/{kind.task}")):
            if path.parent == job.dir or not JOB_ID.fullmatch(path.parent.name):
                continue
            try:
                named = _named(path)
            except (OSError, ValueError, RecursionError):
                continue
            if itself in named or any(ref.kind in ("model", "folder") and f"{ref.name}/".startswith(folder) for ref in named):
                yield Needed("fork" if kind.name == "session" and job.kind == "session" else kind.name, path.parent.name)


def _read_named(path: Path) -> frozenset[Ref]:
    kind = next((kind.name for kind in KINDS.values() if kind.place == path.parents[1].name), "session")
    return references(read_json(path), kind)


_named = Kept(_read_named, 100_000)
