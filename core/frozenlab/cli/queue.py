"""``frozenlab jobs queue``, ``now``, ``pause``, ``go`` and ``retry``: what runs and waits on this machine."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from frozenlab.base import places
from frozenlab.base.numbers import percent
from frozenlab.cli.common import InputError, show
from frozenlab.jobs import launcher
from frozenlab.jobs.queue.db import QueueDB, QueuedJob
from frozenlab.jobs.queue.look import Look, look
from frozenlab.session.store import SessionStore


def add_queue(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--most", type=int, default=40, help="jobs to list (default: %(default)s)")


def run_queue(options: argparse.Namespace) -> None:
    found = look(places.sessions_folder())
    show(options.json, as_json(found), *as_lines(found, options.most))


def add_now(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="a job, or a part of a study or contest as STUDY/CELL")
    add_queue(parser)


def add_pause(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", metavar="ID", help="a job, or a part of a study or contest as STUDY/CELL (default: all)")
    add_queue(parser)


add_retry, add_go = add_now, add_pause


def run_now(options: argparse.Namespace) -> None:
    steer(options, urgent=True)


def run_pause(options: argparse.Namespace) -> None:
    steer(options, paused=True)


def run_go(options: argparse.Namespace) -> None:
    steer(options, paused=False)


def steer(options: argparse.Namespace, **values: bool) -> None:
    """Change one job, or pause the whole queue or let it go on, and show the queue."""
    root = places.sessions_folder()
    if options.id:
        launcher.change(root, find(root, options.id).path, **values)
    else:
        launcher.pause_queue(root, **values)
    run_queue(options)


def run_retry(options: argparse.Namespace) -> None:
    """Enter again the last job of this name that left the queue, or the one in the folder of this name, if the queue could not note its
    end, as on a full disk."""
    from frozenlab.experiments.bundles.found import find as find_folder

    root = places.sessions_folder()
    ended = next((job for job in QueueDB(root).ended() if options.id == job.path.name and not job.parent), None)
    if ended is not None:
        launcher.retry(root, ended.path, ended.kind)
    else:
        job = find_folder(options.id, SessionStore(root))
        launcher.retry(root, job.folder, job.kind)
    run_queue(options)


def find(root: Path, name: str) -> QueuedJob:
    """The job in the queue with this name. Raises InputError if there is none, or more than one."""
    found = named(root, name)
    if len(found) > 1:
        raise InputError(f"{name} means several jobs: {', '.join(job.name for job in found)}")
    if not found:
        raise InputError(f"there is no job {name!r} in the queue")
    return found[0]


def named(root: Path, name: str) -> list[QueuedJob]:
    """The jobs in the queue that a name may mean."""
    return [job for job in QueueDB(root).jobs() if name in (job.id, job.name)]


def as_lines(found: Look, most: int) -> list[str]:
    if found.jobs:
        lines = [f"{len(found.running)} running, {len(found.waiting)} queued, on {found.machine.cores} cores"]
        lines[0] += ", paused: only urgent jobs begin" if found.paused else ""
    else:
        lines = ["Nothing runs or waits on this machine."] + ["The queue is paused: frozenlab jobs go"] * found.paused
    lines += [job_line(job, found) for job in found.jobs[:most]]
    lines += [f"  and {len(found.jobs) - most} more"] if len(found.jobs) > most else []
    if found.unfinished:
        lines += ["", "Ended without a result (frozenlab jobs retry ID resumes):"]
    for one in found.unfinished:
        job, when = one.job, clock(one.job.ended, found.now)
        lines.append(f"  {job.path.name:<44} {job.kind:<11} {job.status:<8} {when:<10} {one.why}".rstrip())
    return lines


def job_line(job: QueuedJob, found: Look) -> str:
    state = f"{job.standing} {percent(job.progress)}" if job.running or job.progress else job.standing
    if job.running:
        turn = "no end known yet" if (ends := job.ends(found.now)) is None else f"ends {clock(ends, found.now)}"
    else:
        turn = found.in_line(job) + (f", made room for {job.moved_by}" if job.moved_by else "")
    tried = f", tried {job.tries} times" if job.tries else ""
    return f"  {job.name:<44} {job.kind:<11} {job.priority:<7} {state:<14} {turn}{tried}"


def clock(moment: float, now: float) -> str:
    """``14:05``, or with the day if that is another one."""
    same_day = time.localtime(moment)[:3] == time.localtime(now)[:3]
    return time.strftime("%H:%M" if same_day else "%a %H:%M", time.localtime(moment))


def as_json(found: Look) -> dict[str, Any]:
    shown = ("kind", "title", "folder", "standing", "priority", "progress", "cores", "gpus", "tries", "in_terminal")
    jobs = [
        {"id": job.name, "ends": job.ends(found.now), "made_room_for": job.moved_by or None} | {name: getattr(job, name) for name in shown}
        for job in found.jobs
    ]
    unfinished = [{"id": one.job.path.name, "error": one.error} | asdict(one.job) for one in found.unfinished]
    return {"paused": found.paused, "running": len(found.running), "queued": len(found.waiting), "jobs": jobs, "unfinished": unfinished}
