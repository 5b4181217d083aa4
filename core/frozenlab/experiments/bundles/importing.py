"""Taking the sound jobs of an open bundle among one's own: complete or not at all, marked, and read-only."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Iterator, Mapping
from itertools import chain, count
from pathlib import Path

from frozenlab.base.errors import LabError
from frozenlab.base.files import sync, write_text
from frozenlab.experiments.bundles.found import Found, described, find
from frozenlab.experiments.bundles.layout import Need
from frozenlab.experiments.bundles.report import Bundle, JobReport
from frozenlab.experiments.references import with_names
from frozenlab.experiments.studies.store import REGISTERED
from frozenlab.jobs.imported import IMPORTED_FILE, Imported
from frozenlab.jobs.job import KINDS, RESERVED
from frozenlab.jobs.launcher import launch_lock
from frozenlab.models.training.checkpoints import checksum
from frozenlab.session.catalog import LABELS_FILE, MOST_TAGS, RECORDED, Labels, read_labels
from frozenlab.session.store import SessionStore

TAG = "imported"
"""A tag of imported sessions, by which the table of runs finds them."""
Renamed = Mapping[tuple[str, str], str]
"""Kind and id in the bundle -> id here."""


def take_in(bundle: Bundle, store: SessionStore, only: Collection[JobReport] | None = None) -> list[Found]:
    """Import the sound jobs of an open bundle, or some of them, and return them in their folders.

    Each is complete on the disk before it gets its name. Where ids are taken, jobs get others, and what the bundle's jobs say of each other
    is changed with them.
    """
    taken = []
    with launch_lock(store.root):
        place(bundle.jobs, store)  # anew: an id may have been taken meanwhile
        chosen = [job for job in bundle.sound if only is None or job in only]
        renamed = {(job.entry.kind, job.entry.id): job.id for job in chosen if job.id != job.entry.id}
        for job in chosen:
            _prepare(job, bundle, renamed)
            target = store.root / KINDS[job.entry.kind].place / job.id
            target.parent.mkdir(parents=True, exist_ok=True)
            job.folder.rename(target)
            sync(target.parent)
            taken.append(Found(job.entry.kind, target))
    return taken


def _prepare(job: JobReport, bundle: Bundle, renamed: Renamed) -> None:
    """Everything that the folder of an imported job has beyond what it had in the bundle, down to the disk."""
    found = Found(job.entry.kind, job.folder)
    if renamed and not (job.folder / REGISTERED).exists():  # what was registered is never changed
        before = described(found)
        if (now := with_names(before, found.kind, lambda ref: renamed.get(ref, ref.name))) != before:
            write_text(found.task, json.dumps(now, indent=1, ensure_ascii=False))
    if found.kind == "session":
        try:
            labels = read_labels(job.folder / LABELS_FILE)
        except ValueError:
            labels = Labels()
        tags = (TAG, *(tag for tag in labels.tags if tag != TAG))[:MOST_TAGS]
        labels = Labels(title=labels.title, tags=tags, notes=labels.notes)  # no longer archived: people want to see what they import
        write_text(job.folder / LABELS_FILE, labels.model_dump_json(indent=2))
    mark = Imported(file=bundle.file, sha256=bundle.sha256, id=job.entry.id, frozenlab=bundle.frozenlab, time=time.time())
    write_text(job.folder / IMPORTED_FILE, mark.model_dump_json(indent=1))
    for parent, _, files in os.walk(job.folder, topdown=False):
        for name in files:
            sync(Path(parent, name))
        sync(Path(parent))


def place(jobs: list[JobReport], store: SessionStore) -> None:
    """Say of each job whether it is here already, which id it gets, and where the things are that it needs."""
    inside = {(job.entry.kind, job.entry.id) for job in jobs if not job.refused}
    for job in jobs:
        kind, job_id = job.entry.kind, job.entry.id
        names, folder = ids(kind, job_id), store.root / KINDS[kind].place
        job.id = next(name for name in names if not os.path.lexists(folder / name) or (not job.refused and _same(job, folder / name)))
        job.here = os.path.lexists(folder / job.id)
        job.needs = [(need, _where(need, inside, store)) for need in job.wanted]


def ids(kind: str, job_id: str) -> Iterator[str]:
    """The ids that a job can get here, the first that is free: its own, or with a number. No import passes for a recorded session."""
    stem = f"imported-{job_id.removeprefix(RECORDED)}" if kind == "session" and job_id.startswith(RECORDED) else job_id
    taken = RESERVED if kind == "session" else ()
    return (name for name in chain([stem[:63]], (f"{stem[:58]}-{number}" for number in count(2))) if name not in taken)


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
