"""A bundle beside the jobs that are here already: which are the same, which ids are free, and where the things are that its jobs need."""

from __future__ import annotations

import os
from pathlib import Path

from frozenlab.base.errors import LabError
from frozenlab.experiments.bundles.found import BY_NAME, find
from frozenlab.experiments.bundles.manifest import Need
from frozenlab.experiments.bundles.report import JobReport
from frozenlab.models.training.checkpoints import checksum
from frozenlab.session.listing import RECORDED
from frozenlab.session.store import SessionStore


def place(jobs: list[JobReport], store: SessionStore) -> None:
    """Say of each job whether it is here already, which id it gets, and where the things are that it needs."""
    inside = {(job.entry.kind, job.entry.id) for job in jobs if not job.refused}
    for job in jobs:
        kind, job_id = job.entry.kind, job.entry.id
        job.here = not job.refused and _same(job, store.root / BY_NAME[kind].place / job_id)
        job.id = job_id if job.here else free_id(kind, job_id, store)
        job.needs = [(need, _where(need, inside, store)) for need in job.wanted]


def free_id(kind: str, job_id: str, store: SessionStore) -> str:
    """The id that a job gets here: its own if it is free, else with a number. No import passes for a recorded session."""
    stem = f"imported-{job_id.removeprefix(RECORDED)}" if kind == "session" and job_id.startswith(RECORDED) else job_id
    folder = store.root / BY_NAME[kind].place
    names = (stem[:63], *(f"{stem[:58]}-{number}" for number in range(2, 10_000)))
    return next(name for name in names if not os.path.lexists(folder / name))


def _same(job: JobReport, folder: Path) -> bool:
    """Whether the folder holds the same job: all files that are not about its worker or its labels."""
    files = [file.path for file in job.entry.files if file.path not in ("state.json", "labels.json")]
    return all((folder / path).is_file() and checksum(folder / path) == checksum(job.folder / path) for path in files)


def _where(need: Need, inside: set[tuple[str, str]], store: SessionStore) -> str:
    """Where something that a job needs is, in words."""
    if (need.kind, need.name) in inside:
        return "in this file"
    if need.kind == "model":
        return "not in this file"
    try:
        find(f"{need.kind}:{need.name}", store)
    except LabError:
        return "not here"
    return "here is one of this name"
