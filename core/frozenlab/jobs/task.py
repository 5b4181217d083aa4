"""Jobs that one file describes, ``task.json``: evaluations, replays, diagnoses and measurements of headroom."""

from __future__ import annotations

from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel

from frozenlab.base.errors import LabError
from frozenlab.jobs.folders import read_task, readable
from frozenlab.jobs.job import Job

TASK = "task.json"

Task = TypeVar("Task", bound=BaseModel)


class TaskJob(Job, Generic[Task]):
    """A job folder with a ``task.json``, opened for reading."""

    model: type[Task]
    """What the file holds."""
    error: type[LabError]
    """Raised if the file is missing or damaged."""

    def __init__(self, folder: Path) -> None:
        self.dir, self.id = folder, folder.name
        self.task = read_task(folder / TASK, self.model, kind=self.kind, error=self.error)


Opened = TypeVar("Opened", bound=TaskJob)


def newest_first(root: Path, kind: type[Opened]) -> list[Opened]:
    """Every readable job of a kind in ``root``, newest first."""
    tasks = sorted(root.glob(f"*/{TASK}"), key=lambda path: path.stat().st_mtime, reverse=True)
    return readable(tasks, kind, kind.error)
