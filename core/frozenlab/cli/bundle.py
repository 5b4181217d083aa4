"""``frozenlab jobs export``, ``import`` and ``own``: jobs as one file, to give to others and to open from others."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frozenlab.cli.common import Command, InputError, agreed, print_json, show

if TYPE_CHECKING:
    from frozenlab.experiments.bundles.found import Found
    from frozenlab.experiments.bundles.report import Bundle, JobReport
    from frozenlab.experiments.bundles.writing import Exported
    from frozenlab.jobs.job import Job
    from frozenlab.session.store import SessionStore

MOST_REFUSALS = 20
"""Lines of a report; ``--json`` has all."""


def add_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="+", metavar="ID", help="sessions, studies, replays, ... by their ids, or KIND:ID")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.zip", help="the file to write")
    parser.add_argument(
        "--weights", action=argparse.BooleanOptionalAction, help="checkpoints too, which take most of the space (default: with --delete)"
    )
    parser.add_argument("--delete", action="store_true", help="open the file as an import would, then move the jobs into the trash")
    parser.add_argument("--yes", action="store_true", help="delete without asking")


def new_file(path: Path) -> Path:
    """The whole path of a file that is to be written. Raises InputError if it is there, or its folder is not."""
    path = path.resolve()
    if path.exists() or not path.parent.is_dir():
        raise InputError(f"{path} exists already: name a new file" if path.exists() else f"there is no folder {path.parent}")
    return path


def run_export(options: argparse.Namespace) -> None:
    from frozenlab.experiments.bundles.found import find, opened
    from frozenlab.experiments.bundles.writing import export, size_of
    from frozenlab.experiments.shelf.shelf import delete
    from frozenlab.session.store import SessionStore

    store, out = SessionStore(), new_file(options.out)
    jobs = [find(name, store) for name in options.ids]
    weights = options.delete if options.weights is None else options.weights
    if options.delete:
        leaving = [opened(job) for job in in_order(jobs)]
        refuse_needed(leaving, store)
        print(f"{size_of(jobs, weights) / 1e6:.1f} MB would go into {out}, and {len(jobs)} jobs into the trash.", file=sys.stderr)
        if not options.yes and not agreed():
            raise InputError("nothing was written or moved; --yes does it")
    exported = export(jobs, out, weights)
    if options.delete:
        check_whole(exported, out, store)
        for job in leaving:
            delete(job, store)
    print_exported(exported, out, options.json)


def print_exported(exported: Exported, out: Path, as_json: bool) -> None:
    manifest = exported.manifest
    if as_json:
        jobs = [{"kind": job.kind, "id": job.id, "files": len(job.files), "changed": job.changed} for job in manifest.jobs]
        left_out = [left._asdict() for left in exported.left_out]
        print_json({"out": str(out), "bytes": out.stat().st_size, "jobs": jobs, "left_out": left_out})
        return
    for job in manifest.jobs:
        taken_out = f", paths of this machine taken out of {', '.join(job.changed)}" if job.changed else ""
        print(f"{job.kind} {job.id}: {len(job.files)} files, {'with' if job.weights else 'without'} weights{taken_out}")
        for need in job.needs:
            if not any((need.kind, need.name) == (other.kind, other.id) for other in manifest.jobs):
                print(f"  needs the {need.kind} {need.name}, which is not in the file")
    for left in exported.left_out:
        print(f"  left out of {left.job}: {left.path}: {left.why}")
    print(f"{out.stat().st_size / 1e6:.1f} MB are in {out}")


def add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a file that frozenlab jobs export made")
    parser.add_argument("--yes", action="store_true", help="import what is sound; without this you are asked at a terminal")


def run_import(options: argparse.Namespace) -> int:
    from frozenlab.experiments.bundles.importing import take_in
    from frozenlab.experiments.bundles.reading import opened
    from frozenlab.session.store import SessionStore

    store = SessionStore()
    with opened(options.file, store) as bundle:
        if not options.json:
            print_report(bundle)
        taken = take_in(bundle, store) if bundle.sound and (options.yes or agreed()) else []
        if options.json:
            print_json(as_record(bundle) | {"imported": [{"kind": job.kind, "id": job.id} for job in taken]})
        for job in () if options.json else taken:
            print(f"{job.kind} {job.id} is imported, read-only: frozenlab jobs own {job.kind}:{job.id} makes it yours")
        if bundle.sound and not taken and not options.json:
            print("nothing was imported; --yes imports what is sound")
        return 0 if bundle.sound or not bundle.refusals else 2


def print_report(bundle: Bundle) -> None:
    print(f"{bundle.file}: {bundle.size / 1e6:.1f} MB, made by FrozenLab {shown_version(bundle)}, SHA-256 {bundle.sha256}")
    for job in bundle.jobs:
        from frozenlab.experiments.bundles.archive import shown

        print(f"{job.name}: {shown(job.title)} ({job.facts})")
        for need, where in job.needs:
            print(f"  names the {need.kind} {shown(need.name)}: {where}")
    for refusal in bundle.refusals[:MOST_REFUSALS]:
        print(f"  refused: {refusal}")
    if (more := len(bundle.refusals) - MOST_REFUSALS) > 0:
        print(f"  refused: {more} more")


def shown_version(bundle: Bundle) -> str:
    from frozenlab.experiments.bundles.archive import shown

    return shown(bundle.frozenlab)


def as_record(bundle: Bundle) -> dict[str, object]:
    def job_record(job: JobReport) -> dict[str, object]:
        needs = [{"kind": need.kind, "name": need.name, "where": where} for need, where in job.needs]
        about = {"kind": job.entry.kind, "id": job.entry.id, "title": job.title, "becomes": job.id, "sound": job.sound, "here": job.here}
        return about | {"bytes": job.entry.size, "needs": needs}

    refused = [{"name": refusal.name, "why": refusal.why} for refusal in bundle.refusals]
    return {"file": bundle.file, "sha256": bundle.sha256, "jobs": [job_record(job) for job in bundle.jobs], "refused": refused}


def add_own(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="an imported job, by its id or KIND:ID")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run_own(options: argparse.Namespace) -> None:
    from frozenlab.experiments.bundles.found import find, needs
    from frozenlab.jobs.imported import imported, make_own
    from frozenlab.session.store import SessionStore

    job = find(options.id, SessionStore())
    mark = imported(job.folder)
    if mark is not None and not mark.own:
        from frozenlab.experiments.bundles.archive import shown

        print(f"{job.kind} {job.id} was {mark.words}. As yours it can be run and changed, with this machine's power.", file=sys.stderr)
        for need in needs(job):
            print(f"  it would use the {need.kind} {shown(need.name)}", file=sys.stderr)
        if not options.yes and not agreed():
            raise InputError("nothing was changed; --yes skips the question")
    make_own(job.folder)
    show(options, {"kind": job.kind, "id": job.id, "own": True}, f"{job.kind} {job.id} is yours")


def in_order(jobs: list[Found]) -> list[Found]:
    """What needs other jobs before them: forks before what they come from, sessions before students, all else before these."""
    return sorted(jobs, key=lambda job: (job.kind == "student", job.kind == "session", -job.task.stat().st_mtime))


def refuse_needed(leaving: list[Job], store: SessionStore) -> None:
    """Raise ShelfError if a job could not be deleted afterwards, but for those that go with it."""
    from frozenlab.experiments.references import needed_by
    from frozenlab.experiments.shelf.shelf import ShelfError, why_kept

    going = {(job.kind, job.id) for job in leaving}
    for job in leaving:
        why, needing = why_kept(job, store), {(other.kind.replace("fork", "session"), other.id) for other in needed_by(job, store)}
        if why and not (needing and needing <= going):
            raise ShelfError(why)


def check_whole(exported: Exported, out: Path, store: SessionStore) -> None:
    """Open what was written as anybody would. Raises InputError if it could not be imported again, or is not all of the jobs."""
    from frozenlab.experiments.bundles.reading import opened

    if exported.left_out:
        raise InputError(f"{exported.left_out[0].path} of {exported.left_out[0].job} cannot be read, so nothing went into the trash")
    with opened(out, store) as bundle:
        if bundle.refusals:
            raise InputError(f"{out} could not be imported again, so nothing went into the trash: {bundle.refusals[0]}")


VERBS = (
    Command("export", "write sessions, studies, replays, ... into one file", add_export, run_export),
    Command("import", "list the contents of a file of jobs and import the sound ones, read-only", add_import, run_import),
    Command("own", "make an imported job yours, so that you can run and change it", add_own, run_own),
)
