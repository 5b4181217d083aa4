"""Jobs that one file describes, ``task.json``: evaluations and replays."""

from __future__ import annotations

from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel

from frozenlab.errors import LabError
from frozenlab.jobs.folders import read_task
from frozenlab.jobs.job import Job

Task = TypeVar("Task", bound=BaseModel)


class TaskJob(Job, Generic[Task]):
    """A job folder with a ``task.json``, opened for reading."""

    model: type[Task]
    """What the file holds."""
    error: type[LabError]
    """Raised if the file is missing or damaged."""

    def __init__(self, folder: Path) -> None:
        self.dir, self.id = folder, folder.name
        self.task = read_task(folder / "task.json", self.model, kind=self.kind, error=self.error)
