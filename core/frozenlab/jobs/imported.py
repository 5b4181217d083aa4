"""Jobs that were imported from a file: they are marked, and nothing runs in them until a person makes them their own."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from frozenlab.base.errors import LabError
from frozenlab.base.files import Kept, regular, write_text
from frozenlab.jobs.folders import refuse_links
from frozenlab.jobs.state import Moment

IMPORTED_FILE = "imported.json"


class ImportedError(LabError, ValueError):
    """An imported job cannot be run or changed yet; the message says what to do first."""


class Imported(BaseModel):
    """``imported.json``, in the folder of a job that was imported."""

    model_config = ConfigDict(frozen=True)

    schema_version: Literal[1] = 1
    file: Annotated[str, Field(max_length=200)]
    """Name of the file that it was in."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """Of that file."""
    id: Annotated[str, Field(max_length=63)]
    """Its id there."""
    frozenlab: Annotated[str, Field(max_length=40)]
    """The version of FrozenLab that exported it."""
    time: Moment
    """When it was imported (unix seconds)."""
    own: bool = False
    """Whether a person has made it their own, so that it can be run and changed."""

    @property
    def words(self) -> str:
        """``imported on 2026-11-24 from talk.zip``."""
        return f"imported on {time.strftime('%Y-%m-%d', time.localtime(self.time))} from {self.file}"


_read = Kept(lambda path: Imported.model_validate_json(regular(path).read_bytes()), 1_000)


def imported(folder: Path) -> Imported | None:
    """The mark of an imported job; also for a session within it, such as a cell of a study. None if the job was made here.

    A mark that cannot be read still marks: the job counts as imported, from a file whose name is not known.
    """
    for place in (folder, folder.parents[1]):
        path = place / IMPORTED_FILE
        if path.is_symlink() or path.exists():
            try:
                return _read(path)
            except (OSError, ValueError, RecursionError):
                return Imported(file="a file whose name is not known", sha256="0" * 64, id=folder.name, frozenlab="", time=0)
    return None


def why_not_own(folder: Path) -> str | None:
    """The reason why nothing runs in an imported folder, as it follows the job's name in a sentence; None if it may."""
    mark = imported(folder)
    return f"was {mark.words} and is not yours yet" if mark is not None and not mark.own else None


def refuse_imported(folder: Path) -> None:
    """Raises ImportedError if the job was imported and not made one's own."""
    if why := why_not_own(folder):
        raise ImportedError(f"{folder.name} {why}, so nothing runs in it: make it yours first, with frozenlab jobs own {folder.name}")


def refuse_foreign(folder: Path) -> None:
    """Raises LinkError or ImportedError if nothing may run in a job's folder, because it holds a link or is not one's own."""
    refuse_links(folder)
    refuse_imported(folder)


def make_own(folder: Path) -> None:
    """Let an imported job be run and changed from now on. Raises ImportedError if it was not imported."""
    mark = imported(folder)
    if mark is None:
        raise ImportedError(f"{folder.name} was made here, so it is yours")
    write_text(folder / IMPORTED_FILE, mark.model_copy(update={"own": True}).model_dump_json(indent=1))
