"""What a bundle is: the files of each kind of job that it may hold, and its first entry, ``manifest.json``, which lists them.

Files that no list here names are neither exported nor imported: workers' logs, locks, optimizer states, and the pages and pictures of a
report.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from frozenlab.base.errors import LabError
from frozenlab.base.schemas import Strict
from frozenlab.jobs.job import KINDS
from frozenlab.models.training.checkpoints import for_resume

Format = Literal["json", "lines", "table", "arrays", "weights", "text"]
FORMATS: dict[str, Format] = {
    ".json": "json", ".jsonl": "lines", ".parquet": "table", ".npz": "arrays", ".safetensors": "weights",
    ".csv": "text", ".txt": "text", ".md": "text", ".jinja": "text", ".sha256": "text",
}  # fmt: skip
"""Suffix of a file's name -> how it is read."""

ID = r"[a-z0-9][a-z0-9-]{0,62}"
CHECKPOINT = r"policy/([A-Za-z0-9][A-Za-z0-9_.-]{0,99}\.(safetensors|json|jinja|txt)|README\.md)"
SESSION = (
    r"(session|state|labels|origin)\.json",
    r"events\.jsonl",
    r"(baseline|stages/\d\d)/(environment|context|proposal|given)\.json",
    r"(baseline|stages/\d\d)/(validation|test)\.parquet",
    r"stages/\d\d/metrics\.jsonl",
    r"stages/\d\d/completions\.parquet",
    rf"stages/\d\d/{CHECKPOINT}",
)
RESULT = (r"(task|state|report|origin)\.json", r"cells\.csv", r"boards\.parquet")
FILES: dict[str, tuple[str, ...]] = {
    "session": SESSION,
    "evaluation": RESULT,
    "study": (
        r"(study|state|origin)\.json",
        r"registered\.sha256",
        rf"cells/{ID}/({'|'.join(SESSION)})",
        rf"final/{ID}/({'|'.join(RESULT)})",
        r"report/(report\.json|boards\.parquet|[a-z]{1,20}\.csv)",
    ),
    "replay": (r"(task|state|origin)\.json", r"answers\.parquet"),
    "diagnosis": (r"(task|state|report|origin)\.json", r"(answers|evidence/[a-z0-9][a-z0-9-]{0,80})\.parquet", r"rates\.csv"),
    "student": (r"(recipe|state|certificate|origin)\.json", r"(before|after)\.parquet", CHECKPOINT),
    "contest": (r"(task|state|origin)\.json", r"entries/\d{3}\.json", rf"sides/{ID}/({'|'.join(SESSION)})"),
    "headroom": (r"(task|state|origin|report/report)\.json", r"influence-\d{1,4}\.npz", r"outcomes\.parquet"),
}
"""Kind of job -> regular expressions of the paths in its folder."""
PLACES = {kind.place or "sessions": kind for kind in KINDS.values()}
"""The folder of a kind's jobs in a bundle: as in the sessions folder, whose own jobs are in ``sessions``."""

_FILES = {kind: re.compile("|".join(f"(?:{path})" for path in paths), re.ASCII) for kind, paths in FILES.items()}
_JOB = re.compile(rf"({'|'.join(PLACES)})/({ID})/(.+)", re.DOTALL)


def allowed(kind: str, path: str) -> bool:
    """Whether a bundle may hold this file of a job; ``path`` is relative to the job's folder, with ``/``."""
    return _FILES[kind].fullmatch(path) is not None and not for_resume(PurePosixPath(path).name)


def is_weights(path: str) -> bool:
    """Whether the file belongs to a checkpoint, which is left out unless weights are asked for."""
    return "policy" in PurePosixPath(path).parts[:-1]


def format_of(path: str) -> Format:
    return FORMATS[PurePosixPath(path).suffix]


def job_in(name: str) -> tuple[str, str, str] | None:
    """Kind, id and path within the job's folder of an entry; None if it is none of a job."""
    found = _JOB.fullmatch(name)
    return (PLACES[found[1]].name, found[2], found[3]) if found else None


def folder_of(kind: str, job_id: str) -> str:
    """The folder of a job in a bundle: ``sessions/demo``."""
    return f"{KINDS[kind].place or 'sessions'}/{job_id}"


MANIFEST_FILE = "manifest.json"
KindName = Annotated[str, Field(pattern=f"^({'|'.join(KINDS)})$")]
Line = Annotated[str, Field(max_length=500)]


class BundleError(LabError, ValueError):
    """A bundle cannot be made, opened or imported; the message says why."""


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
