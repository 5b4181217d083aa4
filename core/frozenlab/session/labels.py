"""What people say about a session: its name, tags and notes, and whether it is archived (``labels.json``).

The spec is written once and never edited, so all of this is in a file of its own beside it. Sessions that ship with the project have none:
everybody has the same ones, by the names that the documentation uses.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from frozenlab.base.files import regular

LABELS_FILE = "labels.json"
MOST_TAGS = 20


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _distinct(tags: tuple[str, ...]) -> tuple[str, ...]:
    """Each tag once, in alphabetical order, without empty ones."""
    return tuple(sorted({tag for tag in tags if tag}))


Tag = Annotated[str, AfterValidator(_one_line), Field(max_length=40)]


class Labels(BaseModel):
    """``labels.json``. A session without the file has the default of each field."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    title: Annotated[str, AfterValidator(_one_line), Field(max_length=120)] = ""
    """The name that pages show. Empty: that of the spec."""
    tags: Annotated[tuple[Tag, ...], AfterValidator(_distinct), Field(max_length=MOST_TAGS)] = ()
    """Words to find it by."""
    notes: Annotated[str, Field(max_length=4000)] = ""
    """What you want to remember about it."""
    archived: bool = False
    """Whether lists leave the session out. It still opens by its id."""


def read_labels(path: Path) -> Labels:
    """The labels in a file; the defaults if there is none. Raises OSError, and ValueError if it holds something else."""
    try:
        return Labels.model_validate_json(regular(path).read_bytes())
    except FileNotFoundError:
        return Labels()
