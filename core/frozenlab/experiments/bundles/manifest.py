"""The first entry of a bundle, ``manifest.json``: which jobs it holds, their files with checksums, and what they need from elsewhere."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from frozenlab.base.errors import LabError
from frozenlab.experiments.bundles.layout import ID
from frozenlab.jobs.job import KINDS

MANIFEST_FILE = "manifest.json"
KindName = Annotated[str, Field(pattern=f"^({'|'.join(kind.name for kind in KINDS)})$")]
Line = Annotated[str, Field(max_length=500)]


class BundleError(LabError, ValueError):
    """A bundle cannot be made, opened or imported; the message says why."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FileEntry(Strict):
    """A file of a job."""

    path: Annotated[str, Field(min_length=1, max_length=240)]
    """In the job's folder, with ``/``."""
    size: Annotated[int, Field(ge=0, lt=2**32)]
    """Bytes."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Need(Strict):
    """Something that a job refers to and that is not a file of it."""

    kind: Literal["session", "student", "model"]
    name: Line
    """An id; of a model its name on the hub, or the name of its folder."""


class JobEntry(Strict):
    """A job in the bundle."""

    kind: KindName
    id: Annotated[str, Field(pattern=f"^{ID}$")]
    title: Line
    weights: bool
    """Whether checkpoints are among its files."""
    files: Annotated[tuple[FileEntry, ...], Field(min_length=1)]
    needs: tuple[Need, ...] = ()
    changed: tuple[str, ...] = ()
    """Files that differ from those in the exporter's folder: paths of that machine were taken out."""

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(file.size for file in self.files)


class Manifest(Strict):
    """``manifest.json``. It has no date, so that the same folders always make the same file."""

    schema_version: Literal[1] = 1
    frozenlab: Annotated[str, Field(max_length=40)]
    """The version that made the bundle."""
    jobs: Annotated[tuple[JobEntry, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        for what, names in (
            ("two jobs", Counter((job.kind, job.id) for job in self.jobs)),
            ("two files", Counter((job.kind, job.id, file.path.casefold()) for job in self.jobs for file in job.files)),
        ):
            if twice := next((name for name, n in names.items() if n > 1), None):
                raise ValueError(f"{what} have the same name, {' '.join(twice)[:200]}")
        return self
