"""``frozenlab jobs disk``, ``gc``, ``delete`` and ``restore``: what jobs take of the disk, what of it can go, and the trash."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from frozenlab.base.numbers import listed
from frozenlab.cli.common import Command, InputError, agreed, named, print_json, show

if TYPE_CHECKING:
    from frozenlab.experiments.shelf.shelf import Trashed


def add_disk(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--most", type=int, default=20, help="how many sessions to list, the largest first (default: 20)")


def run_disk(options: argparse.Namespace) -> None:
    from frozenlab.experiments.shelf.housekeeping import KINDS, disk_use, other_uses, trash_size
    from frozenlab.session.store import SessionStore

    store = SessionStore()
    uses = {entry.folder.name: disk_use(entry.folder) for entry in store.listed() if not entry.recorded}
    if options.json:
        print_json({"sessions": uses, "others": other_uses(store), "trash": trash_size(store)})
        return
    largest = sorted(uses, key=lambda name: -sum(uses[name].values()))
    whole = {kind: sum(use[kind] for use in uses.values()) for kind in KINDS}
    print(f"{'':<32}{'MB':>10}" + "".join(f"{kind:>12}" for kind in KINDS))
    for name, use in [(f"all {len(uses)} sessions", whole)] + [(name, uses[name]) for name in largest[: options.most]]:
        print(f"{name:<32}{megabytes(sum(use.values())):>10}" + "".join(f"{megabytes(use[kind]):>12}" for kind in KINDS))
    for name, size in other_uses(store).items():
        print(f"{name:<32}{megabytes(size):>10}")
    print(f"{'in the trash':<32}{megabytes(trash_size(store)):>10}")


def add_gc(parser: argparse.ArgumentParser) -> None:
    from frozenlab.experiments.shelf.housekeeping import IN_TRASH, RULES

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
    from frozenlab.experiments.shelf.housekeeping import IN_TRASH, RULES, removals, remove
    from frozenlab.session.store import SessionStore

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
    if options.json:
        shown = [{"session": removal.session, "rule": removal.rule, "bytes": removal.size} for removal in found]
        print_json({"found": shown, "removed_bytes": sum(removal.size for removal in removed)})
    elif removed:
        print(f"{megabytes(sum(removal.size for removal in removed))} MB are removed")


def add_delete(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="sessions, studies, replays, students, ... by their ids, or KIND:ID")


def run_delete(options: argparse.Namespace) -> None:
    from frozenlab.experiments.bundles.found import find, opened
    from frozenlab.experiments.shelf.shelf import delete
    from frozenlab.session.store import SessionStore

    store = SessionStore()
    jobs = [find(name, store) for name in options.ids]
    for job in jobs:
        delete(opened(job), store)
    undo = (f"{job.kind} {job.id} is in the trash; frozenlab jobs restore {job.kind}:{job.id} brings it back" for job in jobs)
    show(options, {"deleted": options.ids}, *undo)


def add_restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="a deleted job by its id, or KIND:ID; without it the trash is listed")


def run_restore(options: argparse.Namespace) -> None:
    from frozenlab.experiments.shelf.shelf import in_trash, restore
    from frozenlab.session.store import SessionStore

    store = SessionStore()
    trash = in_trash(store)
    if options.id is None:
        list_trash(trash, options.json)
        return
    found = [gone for gone in trash if options.id in (gone.id, gone.name)]
    if len(found) > 1:
        raise InputError(f"there are several {options.id!r} in the trash: say which, {' or '.join(gone.name for gone in found)}")
    if not found:
        raise InputError(f"there is no {options.id!r} in the trash; frozenlab jobs restore lists what is")
    folder = restore(found[0].id, store, found[0].kind)
    show(options, {"kind": found[0].kind, "id": found[0].id, "folder": str(folder)}, f"{found[0].kind} {found[0].id} is back")


def list_trash(trash: Sequence[Trashed], as_json: bool) -> None:
    from frozenlab.experiments.shelf.housekeeping import size_of

    if as_json:
        rows = [{"kind": gone.kind, "id": gone.id, "deleted": gone.since, "bytes": size_of(gone.folder)} for gone in trash]
        print_json({"trash": rows})
        return
    for gone in trash:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(gone.since))
        print(f"{gone.name:<60} deleted {when}{megabytes(size_of(gone.folder)):>10} MB")
    if not trash:
        print("The trash is empty")


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f}"


VERBS = (
    Command("disk", "disk space of sessions and other jobs, by kind of file", add_disk, run_disk),
    Command(
        "gc", "remove files that finished sessions no longer need: optimizer states, checkpoints before the last; the trash", add_gc, run_gc
    ),
    Command("delete", "move jobs of any kind into the trash", add_delete, run_delete),
    Command("restore", "bring a deleted job back, or list the trash", add_restore, run_restore),
)
