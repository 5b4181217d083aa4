"""Which jobs of a sessions folder another job needs, by what their tasks name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from frozenlab.base.files import read_json
from frozenlab.jobs.folders import JOB_ID
from frozenlab.jobs.job import KINDS, Job
from frozenlab.jobs.kept import Kept
from frozenlab.models.folders import STUDENT
from frozenlab.session.store import SessionStore


class Needed(NamedTuple):
    """A job that needs another."""

    kind: str
    id: str


def needed_by(job: Job, store: SessionStore) -> Iterator[Needed]:
    """The jobs of the sessions folder whose task names the job or a file in it: forks and replays a session, studies a checkpoint, contests
    a student.

    Results are left out: they hold all that they show.
    """
    folder = f"{job.dir}/"
    names = {"session": {job.id}, "student": {job.id, f"{STUDENT}{job.id}"}}.get(job.kind, set())
    for kind in KINDS:
        if kind.name == "evaluation":
            continue
        for path in sorted((store.root / kind.place).glob(f"*/{kind.task}")):
            if path.parent == job.dir or not JOB_ID.fullmatch(path.parent.name):
                continue
            try:
                named = _named(path)
            except (OSError, ValueError, RecursionError):
                continue
            if any(name in names or f"{name}/".startswith(folder) for name in named):
                yield Needed("fork" if kind.name == "session" and job.kind == "session" else kind.name, path.parent.name)


def _read_named(path: Path) -> frozenset[str]:
    """The strings in a task that can name a session: ids and paths, and not what people wrote as its title."""
    found = read_json(path)
    return frozenset(_strings({key: value for key, value in found.items() if key != "title"} if isinstance(found, dict) else found))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


_named = Kept(_read_named, 100_000)
