"""The folders of jobs: ids, creating, finding and listing them, and refusing those that contain links."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from frozenlab.base.errors import LabError, one_line
from frozenlab.base.files import regular, write_text
from frozenlab.jobs.state import WorkerState

JOB_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")

Opened = TypeVar("Opened")
Task = TypeVar("Task", bound=BaseModel)


class LinkError(LabError, ValueError):
    """A job folder contains a link; the message says which."""


def make_folder(
    root: Path, job_id: str | None, file: str, task: BaseModel, *, title: str, kind: str, error: type[LabError] = LabError
) -> Path:
    """Make a folder in ``root`` with the ``task`` in ``file`` and a queued state.

    Args:
        job_id: the folder's name; None makes one from the date and the title.
        kind: the kind of job, for messages.

    Raises:
        error: the id is invalid or taken.
    """
    root.mkdir(parents=True, exist_ok=True)
    job_id = job_id or fresh_name(root, title, otherwise=kind)
    check_id(job_id, kind, error)
    folder = root / job_id
    if folder.exists():
        raise error(f"a {kind} {job_id!r} already exists in {root}")
    folder.mkdir()
    write_text(folder / "state.json", WorkerState(started=time.time()).model_dump_json(indent=1))
    write_text(folder / file, task.model_dump_json(indent=1))
    return folder


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
