"""``frozenlab list``, and ``frozenlab jobs``: keeping what has run here in order, on the disk and in the trash too."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from frozenlab.base import places
from frozenlab.base.errors import LabError
from frozenlab.base.numbers import listed
from frozenlab.cli import queue
from frozenlab.cli.common import InputError, add_fields, agreed, given, named, show
from frozenlab.cli.session import add_session_id, find_session
from frozenlab.experiments.bundles.found import find, opened
from frozenlab.experiments.shelf import housekeeping, shelf
from frozenlab.experiments.shelf.housekeeping import IN_TRASH, RULES, disk_use, other_uses, removals, remove, size_of
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


def add_disk(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--most", type=int, default=20, help="how many sessions to list, the largest first (default: 20)")


def run_disk(options: argparse.Namespace) -> None:
    store = SessionStore()
    uses = {entry.folder.name: disk_use(entry.folder) for entry in store.listed() if not entry.recorded}
    others, trash = other_uses(store), size_of(store.root / shelf.TRASH)
    whole = {kind: sum(use[kind] for use in uses.values()) for kind in housekeeping.KINDS}
    largest = sorted(uses.items(), key=lambda entry: -sum(entry[1].values()))
    lines = [f"{'':<32}{'MB':>10}" + "".join(f"{kind:>12}" for kind in housekeeping.KINDS)]
    for name, use in [(f"all {len(uses)} sessions", whole), *largest[: options.most]]:
        lines.append(
            f"{name:<32}{megabytes(sum(use.values())):>10}" + "".join(f"{megabytes(use[kind]):>12}" for kind in housekeeping.KINDS)
        )
    lines += [f"{name:<32}{megabytes(size):>10}" for name, size in (others | {"in the trash": trash}).items()]
    show(options.json, {"sessions": uses, "others": others, "trash": trash}, *lines)


def add_gc(parser: argparse.ArgumentParser) -> None:
    names = [*RULES, IN_TRASH]
    parser.add_argument(
        "ids", nargs="*", metavar="ID", help="sessions (default: all of yours that are done, those of studies and contests too)"
    )
    parser.add_argument("--rules", metavar="A,B", help=f"what to remove: {listed(names, 'or')} (default: {names[0]})")
    parser.add_argument(
        "--older-than", type=float, default=0.0, metavar="DAYS", help="only what ended, or was deleted, so long ago (default: all)"
    )
    parser.add_argument("--yes", action="store_true", help="remove it; without this it is only listed, or you are asked at a terminal")


def run_gc(options: argparse.Namespace) -> None:
    store = SessionStore()
    for session in map(store.open, options.ids):
        if session.read_only:
            raise InputError(f"{session.id} {session.why_read_only}, so it stays as it is")
    names = [*RULES, IN_TRASH]
    rules = named(options.rules, names, "rule") or names[:1]
    if options.ids and IN_TRASH in rules:
        raise InputError(f"the rule {IN_TRASH} is for the whole trash, with --older-than for a part: leave the ids out")
    found = removals(store, rules, options.older_than, options.ids)
    if not options.json:
        for removal in found:
            print(f"{removal.session}: {removal.rule}, {megabytes(removal.size)} MB")
        print(f"{megabytes(sum(removal.size for removal in found))} MB can go; what pages show stays")
        if any(removal.rule == IN_TRASH for removal in found):
            print("What goes from the trash cannot be restored any more")
    removed = [removal for removal in found if remove(removal)] if found and (options.yes or agreed()) else []
    size = sum(removal.size for removal in removed)
    if options.json or removed:
        shown = [{"session": removal.session, "rule": removal.rule, "bytes": removal.size} for removal in found]
        show(options.json, {"found": shown, "removed_bytes": size}, f"{megabytes(size)} MB are removed")


def add_delete(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="sessions, studies, replays, students, ... by their ids, or KIND:ID")


def run_delete(options: argparse.Namespace) -> None:
    store = SessionStore()
    jobs = [find(name, store) for name in options.ids]
    for job in jobs:
        shelf.delete(opened(job), store)
    undo = (f"{job.kind} {job.id} is in the trash; frozenlab jobs restore {job.kind}:{job.id} brings it back" for job in jobs)
    show(options.json, {"deleted": options.ids}, *undo)


def add_restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="a deleted job by its id, or KIND:ID; without it the trash is listed")


def run_restore(options: argparse.Namespace) -> None:
    store = SessionStore()
    trash = shelf.in_trash(store)
    if options.id is None:
        sizes = [size_of(gone.folder) for gone in trash]
        rows = [{"kind": gone.kind, "id": gone.id, "deleted": gone.since, "bytes": size} for gone, size in zip(trash, sizes, strict=True)]
        lines = [
            f"{gone.name:<60} deleted {time.strftime('%Y-%m-%d %H:%M', time.localtime(gone.since))}{megabytes(size):>10} MB"
            for gone, size in zip(trash, sizes, strict=True)
        ]
        show(options.json, {"trash": rows}, *(lines or ["The trash is empty"]))
        return
    found = [gone for gone in trash if options.id in (gone.id, gone.name)]
    if len(found) > 1:
        raise InputError(f"there are several {options.id!r} in the trash: say which, {' or '.join(gone.name for gone in found)}")
    if not found:
        raise InputError(f"there is no {options.id!r} in the trash; frozenlab jobs restore lists what is")
    folder = shelf.restore(found[0].id, store, found[0].kind)
    show(options.json, {"kind": found[0].kind, "id": found[0].id, "folder": str(folder)}, f"{found[0].kind} {found[0].id} is back")


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f}"
