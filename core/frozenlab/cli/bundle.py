"""``frozenlab jobs export``, ``import`` and ``own``: jobs as one file, to give to others and to open from others."""

from __future__ import annotations

import argparse
from pathlib import Path

from frozenlab.cli.common import InputError, agreed, confirm, new_path, show
from frozenlab.experiments.bundles import found, reading
from frozenlab.experiments.bundles.archive import shown
from frozenlab.experiments.bundles.found import Found, find, needs
from frozenlab.experiments.bundles.importing import take_in
from frozenlab.experiments.bundles.report import Bundle, JobReport
from frozenlab.experiments.bundles.writing import Exported, export, size_of
from frozenlab.experiments.references import needed_by
from frozenlab.experiments.shelf.shelf import ShelfError, delete, why_kept
from frozenlab.jobs.imported import imported, make_own
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


def run_export(options: argparse.Namespace) -> None:
    store, out = SessionStore(), new_path(options.out, "file")
    jobs = [find(name, store) for name in options.ids]
    weights = options.delete if options.weights is None else options.weights
    if options.delete:
        leaving = [found.opened(job) for job in in_order(jobs)]
        refuse_needed(leaving, store)
        would = f"{size_of(jobs, weights) / 1e6:.1f} MB would go into {out}, and {len(jobs)} jobs into the trash."
        confirm(would, "nothing was written or moved; --yes does it", yes=options.yes)
    exported = export(jobs, out, weights)
    if options.delete:
        check_whole(exported, out, store)
        for job in leaving:
            delete(job, store)
    print_exported(exported, out, options.json)


def print_exported(exported: Exported, out: Path, as_json: bool) -> None:
    manifest, size = exported.manifest, out.stat().st_size
    there = {(job.kind, job.id) for job in manifest.jobs}
    lines = []
    for job in manifest.jobs:
        taken_out = f", paths of this machine taken out of {', '.join(job.changed)}" if job.changed else ""
        lines.append(f"{job.kind} {job.id}: {len(job.files)} files, {'with' if job.weights else 'without'} weights{taken_out}")
        lacking = [need for need in job.needs if (need.kind, need.name) not in there]
        lines += [f"  needs the {need.kind} {need.name}, which is not in the file" for need in lacking]
    lines += [f"  left out of {left.job}: {left.path}: {left.why}" for left in exported.left_out]
    jobs = [{"kind": job.kind, "id": job.id, "files": len(job.files), "changed": job.changed} for job in manifest.jobs]
    record = {"out": str(out), "bytes": size, "jobs": jobs, "left_out": [left._asdict() for left in exported.left_out]}
    show(as_json, record, *lines, f"{size / 1e6:.1f} MB are in {out}")


def add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a file that frozenlab jobs export made")
    parser.add_argument("--yes", action="store_true", help="import what is sound; without this you are asked at a terminal")


def run_import(options: argparse.Namespace) -> int:
    store = SessionStore()
    with reading.opened(options.file, store) as bundle:
        if not options.json:
            print_report(bundle)
        taken = take_in(bundle, store) if bundle.sound and (options.yes or agreed()) else []
        said = [f"{job.kind} {job.id} is imported, read-only: frozenlab jobs own {job.kind}:{job.id} makes it yours" for job in taken]
        if bundle.sound and not taken:
            said = ["nothing was imported; --yes imports what is sound"]
        if options.json or said:
            show(options.json, as_record(bundle) | {"imported": [{"kind": job.kind, "id": job.id} for job in taken]}, *said)
        return 0 if bundle.sound or not bundle.refusals else 2


def print_report(bundle: Bundle) -> None:
    print(f"{bundle.file}: {bundle.size / 1e6:.1f} MB, made by FrozenLab {shown(bundle.frozenlab)}, SHA-256 {bundle.sha256}")
    for job in bundle.jobs:
        print(f"{job.name}: {shown(job.title)} ({job.facts})")
        for need, where in job.needs:
            print(f"  names the {need.kind} {shown(need.name)}: {where}")
    for refusal in bundle.refusals[:MOST_REFUSALS]:
        print(f"  refused: {refusal}")
    if (more := len(bundle.refusals) - MOST_REFUSALS) > 0:
        print(f"  refused: {more} more")


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
    job = find(options.id, SessionStore())
    mark = imported(job.folder)
    if mark is not None and not mark.own:
        warning = [f"{job.kind} {job.id} was {mark.words}. As yours it can be run and changed, with this machine's power."]
        warning += [f"  it would use the {need.kind} {shown(need.name)}" for need in needs(job)]
        confirm("\n".join(warning), "nothing was changed; --yes skips the question", yes=options.yes)
    make_own(job.folder)
    show(options.json, {"kind": job.kind, "id": job.id, "own": True}, f"{job.kind} {job.id} is yours")


def in_order(jobs: list[Found]) -> list[Found]:
    """What needs other jobs before them: forks before what they come from, sessions before students, all else before these."""
    return sorted(jobs, key=lambda job: (job.kind == "student", job.kind == "session", -job.task.stat().st_mtime))


def refuse_needed(leaving: list[Job], store: SessionStore) -> None:
    """Raise ShelfError if a job could not be deleted afterwards, but for those that go with it."""
    going = {(job.kind, job.id) for job in leaving}
    for job in leaving:
        why, needing = why_kept(job, store), {(other.kind.replace("fork", "session"), other.id) for other in needed_by(job, store)}
        if why and not (needing and needing <= going):
            raise ShelfError(why)


def check_whole(exported: Exported, out: Path, store: SessionStore) -> None:
    """Open what was written as an import would. Raises InputError if it could not be imported again, or is not all of the jobs."""
    if exported.left_out:
        raise InputError(f"{exported.left_out[0].path} of {exported.left_out[0].job} cannot be read, so nothing went into the trash")
    with reading.opened(out, store) as bundle:
        if bundle.refusals:
            raise InputError(f"{out} could not be imported again, so nothing went into the trash: {bundle.refusals[0]}")
