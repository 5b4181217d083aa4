"""``frozenlab list``, and ``frozenlab jobs``: keeping what has run here in order."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from frozenlab.base import places
from frozenlab.base.errors import LabError
from frozenlab.cli import queue
from frozenlab.cli.common import add_fields, given, show
from frozenlab.cli.session import add_session_id, find_session
from frozenlab.experiments.bundles.found import find, opened
from frozenlab.experiments.shelf import shelf
from frozenlab.jobs import launcher
from frozenlab.jobs.job import KINDS, Job
from frozenlab.jobs.state import read_state
from frozenlab.session.catalog import Labels
from frozenlab.session.runs import runs
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
    parser.add_argument("kind", nargs="?", choices=list(KINDS), help="list jobs of this kind only")
    parser.add_argument("--archived", action="store_true", help="list archived sessions too")
    parser.add_argument("--most", type=int, default=40, help="jobs to list, the newest first (default: %(default)s)")


def run_list(options: argparse.Namespace) -> None:
    store = SessionStore()
    every = [line for line in (*sessions(store, options.archived), *others(store)) if options.kind in (None, line.kind)]
    shown = sorted(every, key=lambda line: -line.began)[: options.most]
    more = [f"and {len(every) - len(shown)} more; --most lists them"] if len(every) > len(shown) else []
    none = [] if every else ["There are no jobs yet: frozenlab run --preset quick runs a session"]
    show(options.json, {"jobs": [line._asdict() for line in shown], "all": len(every)}, *map(str, shown), *more, *none)


def sessions(store: SessionStore, archived: bool) -> Iterator[Line]:
    for run in runs(store.listed()):
        if archived or not run.labels.archived:
            yield Line(run.id, "session", run.status, run.began, run.title)


def others(store: SessionStore) -> Iterator[Line]:
    """The jobs of all other kinds that can be read."""
    for kind in list(KINDS.values())[1:]:
        for folder in (store.root / kind.place).glob("*"):
            with suppress(LabError):
                found = find(f"{kind.name}:{folder.name}", store)
                job = opened(found)
                yield Line(found.id, kind.name, job.state().status, found.task.stat().st_mtime, job.title)


def add_stop(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="a job, KIND:ID, a part of a study or contest as STUDY/CELL, or a session folder")


def run_stop(options: argparse.Namespace) -> None:
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
    show(options.json, {"id": options.id, "status": state.status}, words)


def find_job(name: str) -> Job:
    """A job by its id, by ``KIND:ID``, or a session by its folder."""
    return find_session(name) if (Path(name) / "session.json").exists() else opened(find(name, SessionStore()))


def add_label(parser: argparse.ArgumentParser) -> None:
    add_session_id(parser)
    add_fields(parser, Labels, "title", "tags", "notes", "pinned", defaults=False)


def run_label(options: argparse.Namespace) -> None:
    label([options.id], options, **given(options, "title", "tags", "notes", "pinned"))


def add_archive(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="sessions by their ids")


add_unarchive = add_archive


def run_archive(options: argparse.Namespace) -> None:
    label(options.ids, options, archived=True)


def run_unarchive(options: argparse.Namespace) -> None:
    label(options.ids, options, archived=False)


def label(names: Sequence[str], options: argparse.Namespace, **changes: object) -> None:
    """Change labels of sessions and print them."""
    for session in map(find_session, names):
        labels = Labels.model_validate(session.labels.model_dump() | changes)
        shelf.label(session, labels)
        tags = f", tags {', '.join(labels.tags)}" if labels.tags else ""
        words = f"{session.id}: {labels.title or session.title}{tags}{', archived' if labels.archived else ''}"
        show(options.json, {"id": session.id} | labels.model_dump(mode="json"), words)
