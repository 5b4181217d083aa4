"""Forks: a new session that is another one up to some stage, and goes its own way from the proposal after it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.lake.config import first_error
from core.lake.files import write_text
from core.sessions.spec import Parent, SessionSpec
from core.sessions.store import Session, SessionError, SessionStore
from core.training.checkpoints import can_go_on

CHANGEABLE = {"title", "engineer", "api", "sections", "layouts", "guard"}
"""What of a spec bears on nothing before a proposal."""
DECIDED = ("context.json", "proposal.json")
"""What a stage leaves that its engineer has a part in."""


def forked_spec(parent: Session, stage: int, **changes: Any) -> SessionSpec:
    """The parent's spec with another engineer, other sections and so on from the proposal after ``stage`` (0-based) on.

    Raises:
        SessionError: the parent is not through that stage, its training cannot be gone on with, or a change is none that a fork can have.
    """
    if unknown := sorted(set(changes) - CHANGEABLE):
        raise SessionError(f"a fork cannot have another {unknown[0]}: it would not be the same session up to its stage {stage + 1}")
    if not 0 <= stage < parent.spec.stages or parent.validation(stage) is None:
        raise SessionError(f"{parent.id} has not validated a stage {stage + 1}, so nothing can begin there")
    if stage + 1 < parent.spec.stages and not can_go_on(parent.stage_dir(stage) / "policy"):
        raise SessionError(f"{parent.id} keeps no optimizer of its stage {stage + 1}: training cannot go on from there")
    changes.setdefault("title", f"{parent.title}, forked after stage {stage + 1}"[:120])
    try:
        return parent.spec.changed(**changes, parent=Parent(session=parent.id, stage=stage))
    except ValidationError as error:
        raise SessionError(first_error(error)) from None


def fork(parent: Session, stage: int, store: SessionStore, session_id: str | None = None, **changes: Any) -> Session:
    """Makes the folder of a fork, ready to be resumed: everything of the parent until its engineer was asked after ``stage``.

    The folder is complete before it has its name, so that nobody meets half a fork. Raises SessionError as :func:`forked_spec` and
    :meth:`SessionStore.create` do.
    """
    spec = forked_spec(parent, stage, **changes)

    def fill(folder: Path) -> None:
        shutil.copytree(parent.dir / "baseline", folder / "baseline", copy_function=link_or_copy)
        for before in range(stage + 1):
            left_out = shutil.ignore_patterns("trainer", *(DECIDED if before == stage else ()))
            shutil.copytree(parent.stage_dir(before), folder / "stages" / f"{before:02d}", ignore=left_out, copy_function=link_or_copy)

    session = store.create(spec, session_id, fill)
    rates = [rate for rate in parent.state().rates if rate.stage is None or rate.stage <= stage]
    write_text(session.dir / "state.json", session.state().model_copy(update={"rates": rates}).model_dump_json(indent=2))
    return session


def link_or_copy(source: str, target: str) -> None:
    """What a finished stage left is never written to again, only replaced: two sessions can share it on disk."""
    try:
        os.link(source, target)
    except OSError:  # another disk, or one that knows no links
        shutil.copy2(source, target)
