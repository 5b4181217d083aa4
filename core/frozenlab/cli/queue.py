"""``frozenlab queue``: what runs and waits on this machine, and steering it."""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frozenlab.cli.common import Command, InputError, print_json

if TYPE_CHECKING:
    from frozenlab.jobs.queue.db import QueuedJob
    from frozenlab.jobs.queue.look import Look

ACTIONS = {
    "now": "begin at once; running jobs make room, and go on afterwards",
    "pause": "keep it waiting; without an ID: begin nothing but urgent jobs",
    "go": "let it take its turn again; without an ID: the whole queue",
    "cancel": "take it out of the queue, or stop it at its next step",
    "retry": "queue again what failed, crashed or was stopped",
}


def add_queue(parser: argparse.ArgumentParser) -> None:
    listed = "; ".join(f"{name}: {words}" for name, words in ACTIONS.items())
    parser.add_argument("action", nargs="?", choices=ACTIONS, metavar="ACTION", help=listed)
    parser.add_argument("id", nargs="?", metavar="ID", help="id of a job, or of a study's or contest's part as STUDY/CELL")
    parser.add_argument("--most", type=int, default=40, help="jobs to list (default: %(default)s)")


def run_queue(options: argparse.Namespace) -> None:
    from frozenlab.base import places
    from frozenlab.jobs.queue.look import look

    root = places.sessions_folder()
    if options.action:
        act(root, options.action, options.id)
    found = look(root)
    if options.json:
        print_json(as_json(found))
    else:
        print("\n".join(as_lines(found, options.most)))


def act(root: Path, action: str, name: str | None) -> None:
    """Steer the queue. Raises InputError and LaunchError."""
    from frozenlab.jobs import launcher

    if name is None:
        if action not in ("pause", "go"):
            raise InputError(f"frozenlab queue {action} needs the ID of a job")
        (launcher.pause_queue if action == "pause" else launcher.let_queue_go_on)(root)
    elif action == "retry":
        retry(root, name)
    else:
        steps = {"now": launcher.make_urgent, "pause": launcher.pause, "go": launcher.go_on, "cancel": launcher.cancel}
        steps[action](root, find(root, name).path)


def find(root: Path, name: str) -> QueuedJob:
    """The job in the queue with this name. Raises InputError if there is none, or more than one."""
    from frozenlab.jobs.queue.db import QueueDB

    found = [job for job in QueueDB(root).jobs() if name in (job.id, job.name)]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{name} means several jobs: {', '.join(job.name for job in found)}")
    raise InputError(f"there is no job {name!r} in the queue")


def retry(root: Path, name: str) -> None:
    """Enter again the last job of this name that left the queue. Raises InputError and LaunchError."""
    from frozenlab.jobs import launcher
    from frozenlab.jobs.queue.db import QueueDB

    ended = next((job for job in QueueDB(root).ended() if name == job.path.name and not job.parent), None)
    if ended is None:
        raise InputError(f"the queue remembers no job {name!r} that has ended; frozenlab resume {name} goes on with a session")
    launcher.retry(root, ended.path, ended.kind)


def as_lines(found: Look, most: int) -> list[str]:
    if found.jobs:
        lines = [f"{len(found.running)} running, {len(found.waiting)} queued, on {found.machine.cores} cores"]
        lines[0] += ", paused: only urgent jobs begin" if found.paused else ""
    else:
        lines = ["Nothing runs or waits on this machine."] + ["The queue is paused: frozenlab queue go"] * found.paused
    lines += [job_line(job, found) for job in found.jobs[:most]]
    lines += [f"  and {len(found.jobs) - most} more"] if len(found.jobs) > most else []
    if found.unfinished:
        lines += ["", "Ended without a result (frozenlab queue retry ID goes on):"]
    for one in found.unfinished:
        job, when = one.job, clock(one.job.ended, found.now)
        lines.append(f"  {job.path.name:<44} {job.kind:<11} {job.status:<8} {when:<10} {one.why}".rstrip())
    return lines


def job_line(job: QueuedJob, found: Look) -> str:
    state = f"{job.standing} {job.progress:.0%}" if job.running or job.progress else job.standing
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


COMMANDS = (Command("queue", "show and steer what runs and waits on this machine", add_queue, run_queue),)
