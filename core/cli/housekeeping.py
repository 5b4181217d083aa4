"""``frozenlab disk`` and ``gc``: what sessions take of the disk, and removing what is not needed any more."""

from __future__ import annotations

import argparse

from frozenlab.cli.common import Command, InputError, agreed, listed, named, print_json


def add_disk(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--most", type=int, default=20, help="how many sessions to list, the largest first (default: 20)")


def run_disk(options: argparse.Namespace) -> None:
    from frozenlab.loop.housekeeping import KINDS, disk_use, other_uses, trash_size
    from frozenlab.loop.store import SessionStore

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
    from frozenlab.loop.housekeeping import RULES

    names = list(RULES)
    parser.add_argument("ids", nargs="*", metavar="ID", help="sessions (default: all of yours that are done, those of studies too)")
    parser.add_argument("--rules", metavar="A,B", help=f"what to remove: {listed(names)} (default: {names[0]})")
    parser.add_argument("--older-than", type=float, default=0.0, metavar="DAYS", help="only sessions that ended so long ago (default: all)")
    parser.add_argument("--yes", action="store_true", help="remove it; without this it is only listed, or you are asked at a terminal")


def run_gc(options: argparse.Namespace) -> None:
    from frozenlab.loop.housekeeping import RULES, removals, remove
    from frozenlab.loop.store import SessionStore

    store = SessionStore()
    for session in map(store.open, options.ids):
        if session.read_only:
            raise InputError(f"{session.id} {session.why_read_only}, so it stays as it is")
    names = list(RULES)
    found = removals(store, named(options.rules, names, "rule") or names[:1], options.older_than, options.ids)
    if not options.json:
        for removal in found:
            print(f"{removal.session}: {removal.rule}, {megabytes(removal.size)} MB")
        print(f"{megabytes(sum(removal.size for removal in found))} MB can go; what pages show stays")
    removed = [removal for removal in found if remove(removal)] if found and (options.yes or agreed()) else []
    if options.json:
        shown = [{"session": removal.session, "rule": removal.rule, "bytes": removal.size} for removal in found]
        print_json({"found": shown, "removed_bytes": sum(removal.size for removal in removed)})
    elif removed:
        print(f"{megabytes(sum(removal.size for removal in removed))} MB are removed")


def megabytes(size: int) -> str:
    return f"{size / 1e6:.1f}"


COMMANDS = (
    Command("disk", "what sessions and other jobs take of the disk, by kind of file", add_disk, run_disk),
    Command("gc", "remove what finished sessions need no more: optimizer states, checkpoints before the last", add_gc, run_gc),
)
