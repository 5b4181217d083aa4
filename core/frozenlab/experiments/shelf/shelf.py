"""Keeping sessions and other jobs in order: labels, archiving, deleting, and taking back what was deleted.

A deleted job is moved into the trash, a folder of the sessions folder with the same places in it, and is there to the last byte until
the trash is emptied. Jobs that run, that ship with the project or that something else still needs are never deleted: forks and replays read
the session they come from, and other jobs may begin with its checkpoints.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from frozenlab.base.errors import LabError
from frozenlab.base.files import write_text
from frozenlab.experiments.references import needed_by
from frozenlab.jobs.folders import JOB_ID, make_root
from frozenlab.jobs.imported import why_not_own
from frozenlab.jobs.job import KINDS, Job, kind_of
from frozenlab.jobs.launcher import launch_lock
from frozenlab.jobs.state import read_state
from frozenlab.jobs.worker import LOCK_FILE, JobHeldError, sole_worker
from frozenlab.session.catalog import LABELS_FILE, Labels
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore

TRASH = ".trash"
"""The folder of deleted jobs. No session can have this name, so no list finds it."""


class ShelfError(LabError, ValueError):
    """A session cannot be labelled, or a job deleted or restored; the message says why."""


class Trashed(NamedTuple):
    """A job in the trash."""

    kind: str
    folder: Path
    since: float
    """When it was deleted (unix seconds)."""

    @property
    def id(self) -> str:
        return self.folder.name

    @property
    def name(self) -> str:
        """``KIND:ID``, as commands name a job."""
        return f"{self.kind}:{self.id}"


def label(session: Session, labels: Labels) -> None:
    """Keep these labels with the session. Raises ShelfError if it cannot be changed, or would be archived while it runs."""
    if session.why_read_only:
        raise ShelfError(f"{session.id} {session.why_read_only}, so it keeps its name and has no tags or notes")
    if labels.archived and session.state().live:
        raise ShelfError(f"{session.title} is {session.state().status}; stop it, or archive it when it is done")
    write_text(session.dir / LABELS_FILE, labels.model_dump_json(indent=2))


def delete(job: Job, store: SessionStore) -> None:
    """Move the job into the trash. Raises ShelfError if it has to stay, with the reason."""
    make_root(store.root)  # of what ships, where nothing was begun yet
    with launch_lock(store.root), ExitStack() as held:
        if why := why_kept(job, store):
            raise ShelfError(why)
        if (job.dir / LOCK_FILE).exists():  # without one no worker has ever had it
            try:
                held.enter_context(sole_worker(job, wait=0))
            except JobHeldError as error:
                raise ShelfError(f"{error}; stop it before it is deleted") from None
        target = store.root / TRASH / kind_of(job).place / job.id
        if target.exists():
            raise ShelfError(f"a {job.kind} {job.id} is in the trash already: empty the trash first")
        target.parent.mkdir(parents=True, exist_ok=True)
        job.dir.rename(target)


def why_kept(job: Job, store: SessionStore) -> str | None:
    """The sentence that says why a job cannot be deleted; None if it can."""
    if isinstance(job, Session) and job.why_read_only and not why_not_own(job.dir):  # what was imported may go again
        return f"{job.title} {job.why_read_only}, so it stays"
    own = store.root / kind_of(job).place
    if job.dir.parent != own:
        return f"{job.title} is not in {own.name}, the folder of your own, so it stays"
    at_work = [(job.title, job.state()), *((f"{part.name} of {job.title}", read_state(part)) for part in parts(job))]
    if live := [f"{title} is {state.status}" for title, state in at_work if state.live]:
        return f"{live[0]}; stop it before it is deleted"
    if needed := list(needed_by(job, store)):
        named = ", ".join(f"{other.kind} {other.id}" for other in needed[:3])
        more = f" and {len(needed) - 3} more" if len(needed) > 3 else ""
        otherwise = ", or archive it" if job.kind == "session" else ""
        return f"{job.title} is needed by {named}{more}: delete what needs it first{otherwise}"
    return None


def parts(job: Job) -> Iterator[Path]:
    """The folders of the jobs that it has run within its own."""
    for kind in KINDS.values():
        for place, part in kind.inside:
            if place == kind_of(job).place:
                yield from (path.parent for path in sorted((job.dir / part).glob(f"*/{kind.task}")))


def in_trash(store: SessionStore) -> list[Trashed]:
    """The jobs in the trash, those deleted last first, without opening them."""
    found = []
    for kind in KINDS.values():
        for folder in (store.root / TRASH / kind.place).glob("*"):
            if JOB_ID.fullmatch(folder.name) and folder.is_dir() and (kind.place or (folder / kind.task).exists()):
                with suppress(OSError):
                    found.append(Trashed(kind.name, folder, folder.stat().st_ctime))
    return sorted(found, key=lambda one: -one.since)


def restore(job_id: str, store: SessionStore, kind: str = "session") -> Path:
    """Move a job from the trash back among the others, and return its folder. Raises ShelfError if it is not there, or another has its id
    by now."""
    source, target = (root / KINDS[kind].place / job_id for root in (store.root / TRASH, store.root))
    if not JOB_ID.fullmatch(job_id) or not source.is_dir():
        raise ShelfError(f"there is no {kind} {job_id!r} in the trash")
    with launch_lock(store.root):
        if target.exists():
            raise ShelfError(f"there is another {kind} {job_id} by now: delete or rename its folder first")
        target.parent.mkdir(exist_ok=True)
        source.rename(target)
    return target


def forget(gone: Path) -> bool:
    """Delete a folder in the trash for good; whether it was still there."""
    leaving = gone.with_name(f".gone-{gone.name}")  # no id: what is deleted in part is never restored
    shutil.rmtree(leaving, ignore_errors=True)
    try:
        gone.rename(leaving)
    except FileNotFoundError:
        return False
    leaving.unlink() if leaving.is_symlink() else shutil.rmtree(leaving)
    return True


def empty_trash(store: SessionStore) -> None:
    """Delete for good what is in the trash."""
    shutil.rmtree(store.root / TRASH, ignore_errors=True)
