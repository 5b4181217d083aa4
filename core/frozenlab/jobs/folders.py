"""The folders of jobs: ids, creating, finding and listing them, and refusing those that contain links."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from frozenlab.base.errors import LabError, one_line
from frozenlab.base.files import regular, writable, write_text
from frozenlab.jobs.state import WorkerState, store_state

JOB_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
SCRATCH, SCRATCH_AGE = ".new-", 86400.0
"""Name of the folder in which a new job is assembled, and for how many seconds at most."""

Opened = TypeVar("Opened")
Task = TypeVar("Task", bound=BaseModel)


class LinkError(LabError, ValueError):
    """A job folder contains a link; the message says which."""


class RootError(LabError):
    """Nothing can be kept in the sessions folder; the message says what to set."""


def make_root(root: Path) -> None:
    """Make the folder in which jobs have theirs. Raises RootError if it cannot be made, or written."""
    if not writable(root):
        raise RootError(f"nothing can be kept in {root}: set FROZENLAB_SESSIONS to a folder of yours that can be written")


def make_folder(
    root: Path, job_id: str, file: str, task: BaseModel, *, kind: str, error: type[LabError],
    state: WorkerState | None = None, fill: Callable[[Path], None] = lambda folder: None,
) -> Path:  # fmt: skip
    """Make a folder in ``root`` with the ``task`` in ``file`` and a queued state. It is complete before it has its name.

    Args:
        kind: the kind of job, for messages.
        state: another state than the usual one.
        fill: adds further files to the folder.

    Raises:
        error: the id is invalid or taken.
        RootError: ``root`` cannot be written.
    """
    check_id(job_id, kind, error)
    make_root(root)
    clear_scratch(root, SCRATCH_AGE)
    folder = root / job_id
    with tempfile.TemporaryDirectory(dir=root, prefix=SCRATCH) as scratch:
        made = Path(scratch) / job_id
        made.mkdir()
        fill(made)
        store_state(made, state or WorkerState(started=time.time()))
        write_text(made / file, task.model_dump_json(indent=2))
        try:
            made.rename(folder)
        except OSError:
            if folder.is_dir() and not (folder / file).exists():
                raise error(f"{job_id}/{file} is missing in {root}: put it back, or delete the folder") from None
            raise error(f"a {kind} {job_id!r} already exists in {root}") from None
    return folder


def clear_scratch(root: Path, age: float) -> None:
    """Remove half-made jobs older than ``age`` seconds."""
    for left in root.glob(f"{SCRATCH}*"):
        with suppress(FileNotFoundError):  # its process lives and has just finished it
            if time.time() - left.stat().st_mtime > age:
                shutil.rmtree(left, ignore_errors=True)


def read_task(path: Path, model: type[Task], *, kind: str, error: type[LabError]) -> Task:
    """Read the file that says what a job is about. Raises ``error`` if it is missing or does not fit the ``model``."""
    try:
        return model.model_validate_json(regular(path).read_bytes())
    except Exception as damage:  # whatever is called so: its own validators may meet anything
        raise error(f"{kind} {path.parent.name!r}: {path.name} cannot be read: {one_line(damage)}") from None


def check_id(job_id: str, kind: str, error: type[LabError]) -> None:
    """Raises ``error`` if the id is invalid."""
    if not JOB_ID.fullmatch(job_id):
        raise error(f"{job_id!r} is no {kind} id: lower-case letters, digits and hyphens, at most 63")


def find_folder(root: Path, job_id: str, *, kind: str, error: type[LabError]) -> Path:
    """The folder of a job by its id. Raises ``error`` if there is none."""
    folder = root / job_id
    if not JOB_ID.fullmatch(job_id) or not folder.is_dir():
        raise error(f"there is no {kind} {job_id!r} in {root}")
    return folder


def readable(files: Iterable[Path], read: Callable[[Path], Opened], error: type[LabError]) -> list[Opened]:
    """The jobs in the folders of these files, without those that cannot be read or have an invalid folder name."""
    found = []
    for file in files:
        if not JOB_ID.fullmatch(file.parent.name):
            continue
        try:
            found.append(read(file.parent))
        except error:
            continue
    return found


def fresh_name(folder: Path, title: str, otherwise: str) -> str:
    """A new id: date, time and the words of the title (or ``otherwise``), plus a number if ``folder`` already has that id."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:30].strip("-") or otherwise
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{words}"
    taken = {path.name for path in folder.glob(f"{stem}*")}
    return next(name for name in [stem, *(f"{stem}-{i}" for i in range(2, 1000))] if name not in taken)


def refuse_links(folder: Path) -> None:
    """Raises LinkError if ``folder`` contains a symbolic link. The folder may be a stranger's, and its worker must write nowhere else."""
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(parent) / name
            if path.is_symlink():
                raise LinkError(
                    f"{folder.name} holds a link, {path.relative_to(folder)}: nothing is run in a folder that leads elsewhere. "
                    "Put what it leads to in its place, or delete it"
                )
