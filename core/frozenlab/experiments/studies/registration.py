"""Whether a study's file was there, as it is now, before the study's first session began."""

from __future__ import annotations

import hashlib

from frozenlab.base.files import regular, write_text
from frozenlab.experiments.studies.store import Study

REGISTERED = "registered.sha256"
"""The checksum of ``study.json``, written by the runner before it makes the first session."""


def register(study: Study) -> None:
    """Keep the checksum of the study's file, unless there is one or a session has begun already."""
    path = study.dir / REGISTERED
    if not path.exists() and all(study.session(cell) is None for cell in study.cells):
        write_text(path, checksum(study))


def is_registered(study: Study) -> bool:
    """Whether the study's file is the one that was there before its first session began."""
    path = study.dir / REGISTERED
    try:
        return regular(path).read_text(encoding="utf-8").strip() == checksum(study)
    except (OSError, ValueError):  # there is none, or something else in its place
        return False


def checksum(study: Study) -> str:
    return hashlib.sha256(regular(study.dir / "study.json").read_bytes()).hexdigest()
