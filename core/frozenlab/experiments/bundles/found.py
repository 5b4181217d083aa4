"""The jobs of a sessions folder by kind and id, whatever they are: opened, named, and asked what they need from elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from frozenlab.base.files import read_json
from frozenlab.experiments.benchmark.results import Result
from frozenlab.experiments.bundles.layout import BundleError, Need
from frozenlab.experiments.references import references
from frozenlab.jobs.folders import JOB_ID
from frozenlab.jobs.job import KINDS, Job, Kind
from frozenlab.session.catalog import RECORDED
from frozenlab.session.store import SessionStore

REPORT = "report.json"
"""What makes a folder a result, also one that was measured in the foreground and has no task."""


class Found(NamedTuple):
    """A job in its folder."""

    kind: str
    folder: Path

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def task(self) -> Path:
        """The file that describes it."""
        task = self.folder / KINDS[self.kind].task
        return task if task.is_file() or self.kind != "evaluation" else self.folder / REPORT


def find(name: str, store: SessionStore) -> Found:
    """A job by its id, or by ``KIND:ID`` where several kinds have the same one; recorded sessions too. Raises BundleError, and SessionError
    for a session that is not there."""
    kind, colon, job_id = name.rpartition(":")
    if colon and kind not in KINDS:
        raise BundleError(f"there is no kind {kind!r} of jobs; there are {', '.join(KINDS)}")
    if not JOB_ID.fullmatch(job_id):
        raise BundleError(f"{name!r} is no id: lower-case letters, digits and hyphens, at most 63, perhaps after KIND:")
    asked = [KINDS[kind]] if kind else list(KINDS.values())
    found = [job for one in asked if (job := Found(one.name, _folder(one, job_id, store))).task.is_file()]
    if len(found) > 1:
        raise BundleError(f"there are several {job_id!r}: say which, {' or '.join(f'{one.kind}:{job_id}' for one in found)}")
    if not found:
        raise BundleError(f"there is no {kind or 'job'} {job_id!r} in {store.root}")
    return found[0]


def _folder(kind: Kind, job_id: str, store: SessionStore) -> Path:
    recorded = kind.name == "session" and job_id.startswith(RECORDED)
    return store.open(job_id).dir if recorded else store.root / kind.place / job_id


def opened(job: Found) -> Job:
    """The job, opened for reading. Raises LabError if what describes it cannot be read."""
    if job.task.name != REPORT:
        return KINDS[job.kind].open(job.folder)
    result = Result(job.folder)
    if result.report is None:
        raise BundleError(result.problems[0])
    return result


def title_of(job: Found) -> str:
    """Its name for people, after all that describes it has been read. Raises LabError if it cannot be."""
    return opened(job).title


def described(job: Found) -> dict[str, Any]:
    """The JSON of the file that describes it; empty if there is none."""
    try:
        found = read_json(job.task)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def needs(job: Found) -> list[Need]:
    """What its task refers to: sessions, students, and models that are in no FrozenLab."""
    named = sorted(ref for ref in references(described(job), job.kind) if ref.kind != "folder")
    return [Need(kind=ref.kind, name=ref.name[:500]) for ref in named]  # type: ignore[arg-type]
