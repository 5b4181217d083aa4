"""Keeping sessions in order: labels, archiving, deleting, and taking back what was deleted.

A deleted session is moved into the trash, a folder of the sessions folder, and is there to the last byte until somebody empties it.
Sessions that run, that ship with the project or that something else still needs are never deleted: forks and replays read the session they
come from, and other jobs may begin with its checkpoints.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from frozenlab.errors import LabError
from frozenlab.files import read_json, write_text
from frozenlab.jobs.folders import JOB_ID
from frozenlab.jobs.imported import why_not_own
from frozenlab.jobs.job import KINDS
from frozenlab.jobs.kept import Kept
from frozenlab.jobs.launcher import launch_lock
from frozenlab.jobs.worker import LOCK_FILE, JobHeldError, sole_worker
from frozenlab.loop.labels import LABELS_FILE, Labels
from frozenlab.loop.session import Session, SessionError
from frozenlab.loop.store import SessionStore
from frozenlab.roles import only_operators

TRASH = ".trash"
"""The folder of deleted sessions. No session can have this name, so no list finds it."""


class ShelfError(LabError, ValueError):
    """A session cannot be labelled, deleted or restored; the message says why."""


class Needed(NamedTuple):
    """A job that needs a session."""

    kind: str
    id: str


def label(session: Session, labels: Labels) -> None:
    """Keep these labels with the session. Raises ShelfError if it cannot be changed, or would be archived while it runs."""
    only_operators("name a session, tag it or archive it")
    if session.why_read_only:
        raise ShelfError(f"{session.id} {session.why_read_only}, so it keeps its name and has no tags or notes")
    if labels.archived and session.state().live:
        raise ShelfError(f"{session.title} is {session.state().status}; stop it, or archive it when it is done")
    write_text(session.dir / LABELS_FILE, labels.model_dump_json(indent=2))


def delete(session: Session, store: SessionStore) -> None:
    """Move the session into the trash. Raises ShelfError if it has to stay, with the reason."""
    only_operators("delete a session")
    with launch_lock(store.root), ExitStack() as held:
        if why := why_kept(session, store):
            raise ShelfError(why)
        if (session.dir / LOCK_FILE).exists():  # without one no worker has ever had it
            try:
                held.enter_context(sole_worker(session, wait=0))
            except JobHeldError as error:
                raise ShelfError(f"{error}; stop it before it is deleted") from None
        target = store.root / TRASH / session.id
        if target.exists():
            raise ShelfError(f"a session {session.id} is in the trash already: empty the trash first")
        target.parent.mkdir(exist_ok=True)
        session.dir.rename(target)


def why_kept(session: Session, store: SessionStore) -> str | None:
    """The sentence that says why a session cannot be deleted; None if it can."""
    if session.why_read_only and not why_not_own(session.dir):  # what was imported may go again
        return f"{session.title} {session.why_read_only}, so it stays"
    if session.dir.parent != store.root:
        return f"{session.title} is not in {store.root.name}, the folder of your sessions, so it stays"
    state = session.state()
    if state.live:
        return f"{session.title} is {state.status}; stop it before it is deleted"
    if needed := list(needed_by(session, store)):
        named = ", ".join(f"{job.kind} {job.id}" for job in needed[:3]) + (f" and {len(needed) - 3} more" if len(needed) > 3 else "")
        return f"{session.title} is needed by {named}: delete what needs it first, or archive it"
    return None


def needed_by(session: Session, store: SessionStore) -> Iterator[Needed]:
    """The jobs of the sessions folder whose task names the session or a file in it, as forks, replays and studies of its checkpoints do.

    Results are left out: they hold all that they show.
    """
    folder = f"{session.dir}/"
    for kind in KINDS:
        if kind.name == "evaluation":
            continue
        for path in sorted((store.root / kind.place).glob(f"*/{kind.task}")):
            if path.parent == session.dir or not JOB_ID.fullmatch(path.parent.name):
                continue
            try:
                named = _named(path)
            except (OSError, ValueError, RecursionError):
                continue
            if any(name == session.id or f"{name}/".startswith(folder) for name in named):
                yield Needed("fork" if kind.name == "session" else kind.name, path.parent.name)


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


def trash_ids(store: SessionStore) -> list[str]:
    """The ids of the sessions in the trash, those deleted last first, without opening them."""
    found = []
    for path in (store.root / TRASH).glob("*/session.json"):
        with suppress(OSError):
            found.append((path.parent.stat().st_ctime, path.parent.name))
    return [name for _, name in sorted(found, key=lambda one: -one[0])]


def trashed(store: SessionStore, most: int | None = None) -> list[Session]:
    """The sessions in the trash, those deleted last first, ``most`` at most."""
    found = []
    for name in islice(trash_ids(store), most):
        with suppress(SessionError):
            found.append(Session(store.root / TRASH / name))
    return found


def restore(session_id: str, store: SessionStore) -> Session:
    """Move a session from the trash back among the others. Raises ShelfError if it is not there, or another has its id by now."""
    only_operators("restore a session")
    source, target = store.root / TRASH / session_id, store.root / session_id
    if not JOB_ID.fullmatch(session_id) or not source.is_dir():
        raise ShelfError(f"there is no session {session_id!r} in the trash")
    with launch_lock(store.root):
        if target.exists():
            raise ShelfError(f"there is another session {session_id} by now: delete or rename its folder first")
        source.rename(target)
    return Session(target)


def empty_trash(store: SessionStore) -> None:
    """Delete for good what is in the trash."""
    only_operators("empty the trash")
    shutil.rmtree(store.root / TRASH, ignore_errors=True)
