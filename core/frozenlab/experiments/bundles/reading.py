"""Opening a bundle: what is in it, what is refused and why, before anything of it is among one's own.

Each entry is judged by its headers and by the manifest. A job of which nothing is refused is unpacked into a folder of its own, its files
are read once by a process that has nothing to lose, and it is opened as every page opens it.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO
from zipfile import ZipFile

from pydantic import ValidationError

from frozenlab.base.errors import one_line
from frozenlab.experiments.bundles import limits
from frozenlab.experiments.bundles.archive import Entry, entries, shown, unpack
from frozenlab.experiments.bundles.cleaning import OF_THE_WORKER
from frozenlab.experiments.bundles.contents import ContentError, check_json, problems
from frozenlab.experiments.bundles.found import Found, described, needs, title_of
from frozenlab.experiments.bundles.importing import place
from frozenlab.experiments.bundles.layout import FORMATS, MANIFEST_FILE, BundleError, Manifest, allowed, folder_of, format_of, job_in
from frozenlab.experiments.bundles.report import Bundle, JobReport, Refusal
from frozenlab.experiments.references import references
from frozenlab.jobs.disk import check_room
from frozenlab.jobs.folders import SCRATCH, make_root
from frozenlab.jobs.job import KINDS
from frozenlab.models.training.checkpoints import checksum
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore

CODE = {".pkl", ".pickle", ".pt", ".pth", ".bin", ".joblib", ".npy", ".py", ".so", ".sh"}
ARCHIVES = {".zip", ".gz", ".tar", ".tgz", ".bz2", ".xz", ".7z", ".zst", ".rar"}
RESTING = ("waiting", "stopped", "done", "failed", "crashed")
"""Statuses of a job that no worker has."""
TASKS = {kind.task for kind in KINDS.values()}


@contextmanager
def opened(path: Path, store: SessionStore, name: str | None = None) -> Iterator[Bundle]:
    """A bundle, open to be looked at and imported; what was unpacked is deleted when it closes.

    Args:
        store: the sessions next to which it is unpacked.
        name: what to call the file; its own name if none is given.

    Raises:
        BundleError: it is no bundle, or not sound as a whole.
        DiskFullError: there is too little space.
    """
    make_root(store.root)
    with _plain_file(path) as file, tempfile.TemporaryDirectory(dir=store.root, prefix=f"{SCRATCH}import-") as scratch:
        archive, known = entries(file)
        manifest = _manifest(archive, known)
        jobs = [JobReport(entry, Path(scratch) / folder_of(entry.kind, entry.id), entry.title) for entry in manifest.jobs]
        refused = _judge(known, jobs)
        check_room(store.root, sum(job.entry.size for job in jobs if job.sound) + limits.MB, "this import")
        by_name = {entry.name: entry for entry in known}
        for job in jobs:
            _unpack(archive, by_name, job)
        _read_contents(Path(scratch), jobs)
        for job in jobs:
            _open(job)
        place(jobs, store)
        yield Bundle(shown(name or path.name)[:200], checksum(path), path.stat().st_size, manifest.frozenlab, jobs, refused)


@contextmanager
def _plain_file(path: Path) -> Iterator[BinaryIO]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise BundleError(f"{path} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise BundleError(f"{path} is no file" + (": where a browser has unpacked it, zip the folder again" if path.is_dir() else ""))
    with os.fdopen(handle, "rb") as file:
        yield file


def _manifest(archive: ZipFile, known: list[Entry]) -> Manifest:
    entry, data = next((entry for entry in known if entry.name == MANIFEST_FILE), None), bytearray()
    if entry is None:
        raise BundleError("this archive has no manifest.json, so it is no bundle: frozenlab jobs export makes one")
    if entry.problem or entry.info.file_size > limits.MANIFEST:
        raise BundleError(f"{MANIFEST_FILE} {entry.problem or f'has more than {limits.MANIFEST // limits.MB} MB'}")
    try:
        unpack(archive, entry, data.extend)
        given = check_json(bytes(data))
    except ContentError as error:
        raise BundleError(f"{MANIFEST_FILE} {error}") from None
    version, newest = given.get("schema_version"), Manifest.model_fields["schema_version"].default
    if isinstance(version, int) and version > newest:
        raise BundleError(f"this bundle is of version {version}, and this FrozenLab reads version {newest}: update it")
    try:
        return Manifest.model_validate_json(bytes(data))
    except ValidationError as error:
        raise BundleError(f"{MANIFEST_FILE} does not describe a bundle: {one_line(error)}") from None


def _judge(known: list[Entry], jobs: list[JobReport]) -> list[Refusal]:
    """Refuse entries by their headers and the manifest. Returns those that belong to no job."""
    by_id = {(job.entry.kind, job.entry.id): job for job in jobs}
    expected = {f"{folder_of(job.entry.kind, job.entry.id)}/{file.path}": (job, file) for job in jobs for file in job.entry.files}
    homeless: list[Refusal] = []
    for entry in known:
        if entry.name == MANIFEST_FILE:
            continue
        job, listed = expected.get(entry.name, (None, None))
        place = job_in(entry.name)
        if job is None and place is not None:
            job = by_id.get(place[:2])
        why = entry.problem or _stranger(entry.name) or ("is not in the manifest" if listed is None else None)
        if why is None and listed is not None and listed.size != entry.info.file_size:
            why = "has another size than the manifest says"
        if why is None and entry.info.file_size > (most := limits.SIZES[format_of(entry.name)]):
            why = f"has more than {most // limits.MB:,} MB"
        if why is not None:
            (homeless if job is None else job.refused).append(Refusal(entry.name, why))
    there = {entry.name for entry in known}
    for name, (job, _) in expected.items():
        if name not in there:
            job.refused.append(Refusal(name, "is in the manifest, but not in the archive"))
    return homeless


def _stranger(name: str) -> str | None:
    """Why a sound name is none of a job's file."""
    suffix, place = PurePosixPath(name).suffix.lower(), job_in(name)
    if place is not None and allowed(place[0], place[2]):
        return None
    if suffix in CODE:
        return "could run code when it is read (as a pickle can), and no bundle holds such files"
    if suffix in ARCHIVES:
        return "is an archive in the archive"
    if suffix not in FORMATS:
        return f"is of no kind that a bundle holds ({', '.join(FORMATS)})"
    return f"is no file that a {place[0]} has" if place else "belongs to no job"


def _unpack(archive: ZipFile, by_name: dict[str, Entry], job: JobReport) -> None:
    """Write the job's files into files that were not there before."""
    for listed in () if job.refused else job.entry.files:
        name, target = f"{folder_of(job.entry.kind, job.entry.id)}/{listed.path}", job.folder / listed.path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with target.open("xb") as out:
                same = unpack(archive, by_name[name], out.write) == listed.sha256
        except ContentError as error:
            job.refused.append(Refusal(name, str(error)))
        else:
            if not same:
                job.refused.append(Refusal(name, "is not what the manifest says: its checksum differs"))
    if job.refused:
        shutil.rmtree(job.folder, ignore_errors=True)


def _read_contents(scratch: Path, jobs: list[JobReport]) -> None:
    """Refuse files whose contents are not what their names say, and jobs that are not at rest."""
    files = {f"{folder_of(job.entry.kind, job.entry.id)}/{file.path}": job for job in jobs if not job.refused for file in job.entry.files}
    for name, why in problems(scratch, [(name, format_of(name)) for name in files]).items():
        files[name].refused.append(Refusal(name, why))
    for name, job in files.items():
        if not job.refused and PurePosixPath(name).name == "state.json" and (at_work := _at_work(scratch / name)):
            job.refused.append(Refusal(name, at_work))


def _at_work(path: Path) -> str | None:
    """Why a ``state.json`` is none of a job at rest. One that names a process could get that process stopped."""
    state = check_json(path.read_bytes())
    if state.get("status") not in RESTING:
        return "says that a worker has the job, and only jobs at rest are exported"
    if any(state.get(name) is not None for name in OF_THE_WORKER):
        return "names a process or a machine"
    return None


def _open(job: JobReport) -> None:
    """Open the job as pages do, and keep what it is called and what it needs."""
    if job.refused:
        return
    found = Found(job.entry.kind, job.folder)
    if not found.task.is_file():
        job.refused.append(Refusal(job.name, f"has no {KINDS[job.entry.kind].task}"))
        return
    try:
        job.title, job.wanted = title_of(found), needs(found)
    except (ValueError, RecursionError, AttributeError, TypeError) as error:  # a LabError about damage is a ValueError
        hint = ", because it is of a newer version than this FrozenLab reads" if _newer(found) else ""
        job.refused.append(Refusal(job.name, f"cannot be opened{hint}: {one_line(error)}"))
    for file in job.entry.files:
        if PurePosixPath(file.path).name in TASKS and (path := _fixed_path(check_json((job.folder / file.path).read_bytes()))):
            job.refused.append(Refusal(job.name, f"names a place on the disk of the person who opens it, {shown(path)}, in {file.path}"))


def _newer(job: Found) -> bool:
    known = SessionSpec.model_fields["schema_version"].default if job.kind == "session" else 1
    version = described(job).get("schema_version")
    return isinstance(version, int) and version > known


def _fixed_path(task: Any) -> str | None:
    """A name in a task that leads to a fixed place, or out of the folder in which it is read; export leaves none."""
    names = sorted(ref.name for ref in references(task))
    fixed = (name for name in names if name.startswith(("/", "~", "\\")) or name[1:2] == ":" or ".." in PurePosixPath(name).parts)
    return next(fixed, None)
