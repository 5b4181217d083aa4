"""``frozenlab queue``: what runs and waits on this machine, and steering it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frozenlab.cli.common import Command, InputError, print_json

if TYPE_CHECKING:
    from frozenlab.jobs.queue.book import Entry
    from frozenlab.jobs.queue.look import Look, Place

ACTIONS = {
    "now": "begin at once; what makes room for it goes on by itself afterwards",
    "first": "begin before all others of its priority",
    "up": "one place earlier",
    "down": "one place later",
    "priority": "low, normal, high or urgent",
    "pause": "keep it waiting; without an ID: begin nothing but urgent jobs",
    "go": "let it take its turn again; without an ID: the whole queue",
    "cancel": "take it out of the queue, or stop it at its next step",
    "retry": "queue again what failed, crashed or was stopped",
}


def add_queue(parser: argparse.ArgumentParser) -> None:
    listed = "; ".join(f"{name}: {words}" for name, words in ACTIONS.items())
    parser.add_argument("action", nargs="?", choices=ACTIONS, metavar="ACTION", help=listed)
    parser.add_argument("id", nargs="?", metavar="ID", help="id of a job, or of a study's or contest's part as STUDY/CELL")
    parser.add_argument("level", nargs="?", metavar="LEVEL", help="with priority: low, normal, high or urgent")
    parser.add_argument("--most", type=int, default=40, help="jobs to list (default: %(default)s)")


def run_queue(options: argparse.Namespace) -> None:
    from frozenlab.base import places
    from frozenlab.jobs.queue.look import look

    root = places.sessions_folder()
    if options.action:
        act(root, options)
    found = look(root)
    if options.json:
        print_json(as_json(found))
    else:
        print("\n".join(as_lines(found, options.most)))


def act(root: Path, options: argparse.Namespace) -> None:
    """Do what was asked. Raises InputError and LaunchError."""
    from frozenlab.jobs import launcher
    from frozenlab.jobs.needs import Level

    if (options.level is not None) != (options.action == "priority"):
        raise InputError("use: frozenlab queue priority ID LEVEL, with low, normal, high or urgent")
    if options.id is None:
        if options.action not in ("pause", "go"):
            raise InputError(f"frozenlab queue {options.action} needs the ID of a job")
        (launcher.pause_queue if options.action == "pause" else launcher.let_queue_go_on)(root)
    elif options.action == "retry":
        retry(root, options.id)
    elif options.action == "priority":
        try:
            level = Level[options.level.upper()]
        except KeyError:
            raise InputError(f"there is no priority {options.level!r}: low, normal, high or urgent") from None
        launcher.set_level(root, find(root, options.id).folder, level)
    else:
        steps: dict[str, Callable[[str], None]] = {
            "now": lambda folder: launcher.set_level(root, folder, Level.URGENT),
            "first": lambda folder: launcher.move_first(root, folder),
            "up": lambda folder: launcher.move(root, folder, -1),
            "down": lambda folder: launcher.move(root, folder, 1),
            "pause": lambda folder: launcher.pause(root, folder),
            "go": lambda folder: launcher.go_on(root, folder),
            "cancel": lambda folder: launcher.cancel(root, folder),
        }
        steps[options.action](find(root, options.id).folder)


def find(root: Path, name: str) -> Entry:
    """The job in the queue that a name means. Raises InputError if there is none, or more than one."""
    from frozenlab.jobs.queue.book import Book

    found = [entry for entry in Book(root).entries() if name in (entry.id, short_name(entry))]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"{name} means several jobs: {', '.join(map(short_name, found))}")
    raise InputError(f"there is no job {name!r} in the queue")


def retry(root: Path, name: str) -> None:
    """Enter again the last job of this name that left the queue. Raises InputError and LaunchError."""
    from frozenlab.jobs import launcher
    from frozenlab.jobs.queue.book import Book

    ended = next((job for job in Book(root).ended() if name == Path(job.folder).name and not job.parent), None)
    if ended is None:
        raise InputError(f"the queue remembers no job {name!r} that has ended; frozenlab resume {name} goes on with a session")
    launcher.retry(root, Path(ended.folder), ended.kind)


def short_name(entry: Entry) -> str:
    """``STUDY/CELL`` for a part of a study, else the id."""
    return f"{Path(entry.parent).name}/{entry.id}" if entry.parent else entry.id


def as_lines(found: Look, most: int) -> list[str]:
    return [*places_as_lines(found, most), *unfinished_as_lines(found)]


def unfinished_as_lines(found: Look) -> list[str]:
    if not found.unfinished:
        return []
    lines = ["", "Ended without a result (frozenlab queue retry ID goes on):"]
    for one in found.unfinished:
        job, when = one.job, clock(one.job.ended, found.now)
        lines.append(f"  {one.path.name:<44} {job.kind:<11} {job.status:<8} {when:<10} {one.why}".rstrip())
    return lines


def places_as_lines(found: Look, most: int) -> list[str]:
    if not found.places:
        return ["Nothing runs or waits on this machine."] + (["The queue is paused: frozenlab queue go"] if found.paused else [])
    words = f"{len(found.running)} running, {len(found.waiting)} queued, on {found.machine.cores} cores"
    lines = [words + (", paused: only urgent jobs begin" if found.paused else "")]
    for place in found.places[:most]:
        entry = place.entry
        moved = f", made room for {entry.moved_by}" if entry.moved_by and not entry.running else ""
        tried = f", tried {entry.tries} times" if entry.tries else ""
        state = f"{place.standing} {place.progress:.0%}" if entry.running or place.progress else place.standing
        lines.append(
            f"  {short_name(entry):<44} {entry.kind:<11} {place.level.word:<7} {state:<14} {times(place, found.now)}{moved}{tried}"
        )
    if len(found.places) > most:
        lines.append(f"  and {len(found.places) - most} more")
    return lines


def times(place: Place, now: float) -> str:
    begins, ends = place.expected.begins, place.expected.ends
    end = "no end known yet" if ends is None else f"ends {clock(ends, now)}"
    if place.entry.running:
        return end
    return f"begins {clock(begins, now)}, {end}" if begins is not None else "no times known yet"


def clock(moment: float, now: float) -> str:
    """``14:05``, or with the day if that is another one."""
    same_day = time.localtime(moment)[:3] == time.localtime(now)[:3]
    return time.strftime("%H:%M" if same_day else "%a %H:%M", time.localtime(moment))


def as_json(found: Look) -> dict[str, Any]:
    jobs = [
        {
            "id": short_name(place.entry),
            "kind": place.entry.kind,
            "title": place.entry.title,
            "folder": place.entry.folder,
            "standing": place.standing,
            "priority": place.level.word,
            "progress": place.progress,
            "cores": place.entry.cores,
            "gpus": place.entry.gpus,
            "begins": place.expected.begins,
            "ends": place.expected.ends,
            "tries": place.entry.tries,
            "made_room_for": place.entry.moved_by or None,
            "in_terminal": place.entry.in_terminal,
        }
        for place in found.places
    ]
    unfinished = [{"id": one.path.name, "error": one.error} | asdict(one.job) for one in found.unfinished]
    return {"paused": found.paused, "running": len(found.running), "queued": len(found.waiting), "jobs": jobs, "unfinished": unfinished}


COMMANDS = (Command("queue", "show and steer what runs and waits on this machine", add_queue, run_queue),)
