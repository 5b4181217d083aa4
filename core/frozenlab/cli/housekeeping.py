"""``frozenlab jobs disk``, ``gc``, ``delete`` and ``restore``: what jobs take of the disk, what of it can go, and the trash."""

from __future__ import annotations

import argparse
import time

from frozenlab.base.numbers import listed
from frozenlab.cli.common import InputError, agreed, named, show
from frozenlab.experiments.bundles.found import find, opened
from frozenlab.experiments.shelf.housekeeping import IN_TRASH, KINDS, RULES, disk_use, other_uses, removals, remove, size_of
from frozenlab.experiments.shelf.shelf import TRASH, delete, in_trash, restore
from frozenlab.session.store import SessionStore


def add_disk(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--most", type=int, default=20, help="how many sessions to list, the largest first (default: 20)")


def run_disk(options: argparse.Namespace) -> None:
    store = SessionStore()
    uses = {entry.folder.name: disk_use(entry.folder) for entry in store.listed() if not entry.recorded}
    others, trash = other_uses(store), size_of(store.root / TRASH)
    whole = {kind: sum(use[kind] for use in uses.values()) for kind in KINDS}
    largest = sorted(uses.items(), key=lambda entry: -sum(entry[1].values()))
    lines = [f"{'':<32}{'MB':>10}" + "".join(f"{kind:>12}" for kind in KINDS)]
    for name, use in [(f"all {len(uses)} sessions", whole), *largest[: options.most]]:
        lines.append(f"{name:<32}{megabytes(sum(use.values())):>10}" + "".join(f"{megabytes(use[kind]):>12}" for kind in KINDS))
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
        delete(opened(job), store)
    undo = (f"{job.kind} {job.id} is in the trash; frozenlab jobs restore {job.kind}:{job.id} brings it back" for job in jobs)
    show(options.json, {"deleted": options.ids}, *undo)


def add_restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="a deleted job by its id, or KIND:ID; without it the trash is listed")


def run_restore(options: argparse.Namespace) -> None:
    store = SessionStore()
    trash = in_trash(store)
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
    folder = restore(found[0].id, store, found[0].kind)
    show(options.json, {"kind": found[0].kind, "id": found[0].id, "folder": str(folder)}, f"{found[0].kind} {found[0].id} is back")


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f}"
