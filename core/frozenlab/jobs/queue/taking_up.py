"""Jobs as entries of the queue, and finding in their folders those that wait or run on this machine."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from frozenlab.base.errors import LabError
from frozenlab.jobs.folders import JOB_ID
from frozenlab.jobs.imported import why_not_own
from frozenlab.jobs.job import KINDS, Job, Kind
from frozenlab.jobs.needs import Level
from frozenlab.jobs.queue.book import Entry
from frozenlab.jobs.state import read_state, says_live


def entry_for(job: Job, level: Level = Level.NORMAL, parent: str = "") -> Entry:
    """The entry of a job that waits."""
    needs, work = job.needs, job.work
    return Entry(
        folder=str(job.dir),
        kind=job.kind,
        title=job.title,
        level=level,
        queued=time.time(),
        cores=needs.cores,
        gpus=needs.gpus,
        memory=needs.memory,
        like=work.like,
        amount=work.amount,
        parent=parent,
    )


def open_job(kind: Kind, folder: Path) -> Job:
    """The job in a folder. Imports what its kind needs, but no torch. Raises the LabError of its kind."""
    module, name = kind.opens.rsplit(".", 1)
    return getattr(import_module(module), name)(folder)


def is_job(folder: Path, kind: Kind) -> bool:
    return JOB_ID.fullmatch(folder.name) is not None and (folder / kind.task).is_file() and not folder.is_symlink()


def waits_here(root: Path) -> bool:
    """Whether a job of a sessions folder was queued on this machine and has no worker yet."""
    return any(not entry.running for entry in queued_here(root))


def queued_here(root: Path, known: Collection[str] = ()) -> Iterator[Entry]:
    """The jobs of a sessions folder that were queued on this machine or run on it, those that waited longest first, without the
    ``known`` folders."""
    found = []
    for kind in KINDS:
        for place in (kind.place, *kind.within):
            for path in root.glob(f"{place}/*/state.json" if place else "*/state.json"):
                folder = path.parent
                if str(folder) in known or not is_job(folder, kind) or not says_live(path):
                    continue
                state = read_state(folder)
                here = state.host is not None and not state.elsewhere
                if here and state.status in ("queued", "running", "stalled") and why_not_own(folder) is None:
                    found.append((state.heartbeat or 0.0, kind, folder, place in kind.within, state))
    for since, kind, folder, within, state in sorted(found, key=lambda job: job[0]):
        try:
            entry = entry_for(open_job(kind, folder), parent=str(folder.parents[1]) if within else "")
        except LabError:
            continue
        if state.pid is not None:
            entry = replace(entry, running=True, pid=state.pid, create_time=state.create_time or 0.0, began=since)
        yield replace(entry, queued=since)
