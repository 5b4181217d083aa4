"""``frozenlab list``, and ``frozenlab jobs``: keeping what has run here in order."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from frozenlab.base.errors import LabError
from frozenlab.cli import bundle, housekeeping, queue
from frozenlab.cli.common import Command, add_fields, add_session_id, find_session, given, show

if TYPE_CHECKING:
    from frozenlab.jobs.job import Job
    from frozenlab.session.store import SessionStore


class Line(NamedTuple):
    """A job in the list."""

    id: str
    kind: str
    status: str
    began: float
    """Unix seconds."""
    title: str

    def __str__(self) -> str:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.began))
        return f"{self.id:<44} {self.kind:<11} {self.status:<9} {when}  {self.title}"


def add_list(parser: argparse.ArgumentParser) -> None:
    from frozenlab.jobs.job import KINDS

    parser.add_argument("kind", nargs="?", choices=list(KINDS), help="list jobs of this kind only")
    parser.add_argument("--archived", action="store_true", help="list archived sessions too")
    parser.add_argument("--most", type=int, default=40, help="jobs to list, the newest first (default: %(default)s)")


def run_list(options: argparse.Namespace) -> None:
    from frozenlab.session.store import SessionStore

    store = SessionStore()
    every = [line for line in (*sessions(store, options.archived), *others(store)) if options.kind in (None, line.kind)]
    shown = sorted(every, key=lambda line: -line.began)[: options.most]
    more = [f"and {len(every) - len(shown)} more; --most lists them"] if len(every) > len(shown) else []
    none = [] if every else ["There are no jobs yet: frozenlab run --preset quick runs a session"]
    show(options, {"jobs": [line._asdict() for line in shown], "all": len(every)}, *map(str, shown), *more, *none)


def sessions(store: SessionStore, archived: bool) -> Iterator[Line]:
    from frozenlab.session.runs import runs

    for run in runs(store.listed()):
        if archived or not run.labels.archived:
            yield Line(run.id, "session", run.status, run.began, run.title)


def others(store: SessionStore) -> Iterator[Line]:
    """The jobs of all other kinds that can be read."""
    from frozenlab.experiments.bundles.found import find, opened
    from frozenlab.jobs.job import KINDS

    for kind in list(KINDS.values())[1:]:
        for folder in (store.root / kind.place).glob("*"):
            with suppress(LabError):
                found = find(f"{kind.name}:{folder.name}", store)
                job = opened(found)
                yield Line(found.id, kind.name, job.state().status, found.task.stat().st_mtime, job.title)


def add_stop(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="a job, KIND:ID, a part of a study or contest as STUDY/CELL, or a session folder")


def run_stop(options: argparse.Namespace) -> None:
    from frozenlab.base import places
    from frozenlab.jobs import launcher
    from frozenlab.jobs.state import read_state

    root = places.sessions_folder()
    queued = queue.named(root, options.id)
    if len(queued) == 1:
        folder = queued[0].path
        launcher.cancel(root, folder)
    else:
        job = find_job(options.id)
        folder = job.dir
        launcher.stop(job)
    state = read_state(folder)
    words = f"{options.id} is {state.status}" + ("; it stops at its next step" if state.live else "")
    show(options, {"id": options.id, "status": state.status}, words)


def find_job(name: str) -> Job:
    """A job by its id, by ``KIND:ID``, or a session by its folder."""
    from frozenlab.experiments.bundles.found import find, opened
    from frozenlab.session.store import SessionStore

    return find_session(name) if (Path(name) / "session.json").exists() else opened(find(name, SessionStore()))


def add_label(parser: argparse.ArgumentParser) -> None:
    from frozenlab.session.catalog import Labels

    add_session_id(parser)
    add_fields(parser, Labels, "title", "tags", "notes", defaults=False)


def run_label(options: argparse.Namespace) -> None:
    label(options.id, options, **given(options, "title", "tags", "notes"))


def add_session_ids(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="sessions by their ids")


def run_archive(options: argparse.Namespace, archived: bool) -> None:
    for name in options.ids:
        label(name, options, archived=archived)


def label(name: str, options: argparse.Namespace, **changes: object) -> None:
    """Change labels of a session and print them."""
    from frozenlab.experiments.shelf.shelf import label
    from frozenlab.session.catalog import Labels

    session = find_session(name)
    labels = Labels.model_validate(session.labels.model_dump() | changes)
    label(session, labels)
    tags = f", tags {', '.join(labels.tags)}" if labels.tags else ""
    words = f"{session.id}: {labels.title or session.title}{tags}{', archived' if labels.archived else ''}"
    show(options, {"id": session.id} | labels.model_dump(mode="json"), words)


VERBS = (
    Command("stop", "stop a job at its next step, or take it out of the queue", add_stop, run_stop),
    Command("label", "give a session a title, tags and notes", add_label, run_label),
    Command("archive", "hide sessions from lists; they still open by their ids", add_session_ids, partial(run_archive, archived=True)),
    Command("unarchive", "take sessions out of the archive", add_session_ids, partial(run_archive, archived=False)),
    *queue.VERBS,
    *bundle.VERBS,
    *housekeeping.VERBS,
)
COMMANDS = (
    Command("list", "list the jobs of this machine, the newest first", add_list, run_list),
    Command("jobs", "keep jobs in order: stop, label, archive, delete, export, import, ...", verbs=VERBS),
)
