"""Jobs as rows of the queue, and finding in their folders those that wait or run on this machine."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from frozenlab.base.errors import LabError
from frozenlab.jobs.folders import JOB_ID
from frozenlab.jobs.imported import why_not_own
from frozenlab.jobs.job import KINDS, Job, Kind
from frozenlab.jobs.queue.db import QueuedJob
from frozenlab.jobs.state import read_state, says_live


def queued_job(job: Job, urgent: bool = False) -> QueuedJob:
    """The row of a job that waits."""
    return QueuedJob(str(job.dir), job.kind, job.title, urgent, **job.needs._asdict())


def is_job(folder: Path, kind: Kind) -> bool:
    return JOB_ID.fullmatch(folder.name) is not None and (folder / kind.task).is_file() and not folder.is_symlink()


def recovered(root: Path, known: Collection[str] = ()) -> Iterator[QueuedJob]:
    """The jobs whose folders say that they wait or run on this machine, those that waited longest first, without the ``known`` folders."""
    found = []
    for kind in KINDS.values():
        for place in (kind.place, *kind.within):
            for path in root.glob(f"{place}/*/state.json" if place else "*/state.json"):
                folder = path.parent
                if str(folder) in known or not is_job(folder, kind) or not says_live(path):
                    continue
                state = read_state(folder)
                here = state.host is not None and not state.elsewhere
                if here and state.live and why_not_own(folder) is None:
                    found.append((state.heartbeat or 0.0, kind, folder, place in kind.within, state))
    for since, kind, folder, within, state in sorted(found, key=lambda job: job[0]):
        try:
            job = queued_job(kind.open(folder))
        except LabError:
            continue
        job = replace(job, queued=since, parent=str(folder.parents[1]) if within else "")
        if state.pid is not None:
            job = replace(job, running=True, pid=state.pid, create_time=state.create_time or 0.0, began=since)
        yield job
