"""The folders of jobs that run in the background beside sessions: evaluations, studies and replays. Each has a file that says what is to be
done, written once, and ``state.json``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from frozenlab.files import write_text
from frozenlab.jobs.state import WorkerState
from frozenlab.loop.listing import SESSION_ID
from frozenlab.loop.store import fresh_name

Job = TypeVar("Job")


def make_folder(
    root: Path, job_id: str | None, file: str, task: BaseModel, *, title: str, kind: str, error: type[ValueError] = ValueError
) -> Path:
    """A new folder in ``root`` with the ``task`` in ``file`` and a queued state.

    Args:
        job_id: None: date and title.
        kind: what a job of the sort is called.

    Raises:
        error: the id is none or taken.
    """
    root.mkdir(parents=True, exist_ok=True)
    job_id = job_id or fresh_name(root, title, otherwise=kind)
    if not SESSION_ID.fullmatch(job_id):
        raise error(f"{job_id!r} is no {kind} id: lower-case letters, digits and hyphens, at most 63")
    folder = root / job_id
    if folder.exists():
        raise error(f"a {kind} {job_id!r} already exists in {root}")
    folder.mkdir()
    write_text(folder / "state.json", WorkerState(started=time.time()).model_dump_json(indent=1))
    write_text(folder / file, task.model_dump_json(indent=1))
    return folder


def find_folder(root: Path, job_id: str, *, kind: str, error: type[ValueError]) -> Path:
    """The folder of a job by its id. Raises ``error`` where there is none."""
    folder = root / job_id
    if not SESSION_ID.fullmatch(job_id) or not folder.is_dir():
        raise error(f"there is no {kind} {job_id!r} in {root}")
    return folder


def readable(files: Iterable[Path], read: Callable[[Path], Job], error: type[ValueError]) -> list[Job]:
    """The jobs whose folders hold these files, without those that cannot be read, or whose folder is called as no job is."""
    found = []
    for file in files:
        if not SESSION_ID.fullmatch(file.parent.name):
            continue
        try:
            found.append(read(file.parent))
        except error:
            continue
    return found
