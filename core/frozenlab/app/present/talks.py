"""What a speaker has prepared: which scenes, in which order, with which notes. One small file for each session, beside the sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from frozenlab.app.present.scenes import PARTS
from frozenlab.base.files import read_text, regular, write_text
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore

LONGEST_NOTE = 4000
NAMES = tuple(part.name for part in PARTS)


class Preparation(BaseModel):
    """``talks/<session>.json``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    scenes: tuple[str, ...] = NAMES
    """Names of the scenes, in their order."""
    notes: dict[str, str] = Field(default_factory=dict)
    """Scene name -> what the speaker wants to say."""


def file_of(session: Session, store: SessionStore) -> Path:
    """Recorded sessions cannot be changed, so it is not in the session's folder."""
    return store.root / "talks" / f"{session.id}.json"


def prepared(session: Session, store: SessionStore) -> Preparation:
    """What was prepared for the session; the whole story without notes if that is nothing, or cannot be read."""
    path = file_of(session, store)
    try:
        return Preparation.model_validate_json(read_text(regular(path))) if path.exists() else Preparation()
    except (ValidationError, OSError, ValueError):
        return Preparation()


def prepare(session: Session, store: SessionStore, preparation: Preparation) -> None:
    path = file_of(session, store)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, preparation.model_dump_json(indent=1))
