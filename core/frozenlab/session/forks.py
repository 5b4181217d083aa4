"""Forks: a new session that equals another one up to some stage and differs from the proposal after it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from frozenlab.base.errors import one_line
from frozenlab.base.files import write_text
from frozenlab.engineer.schema import Proposal
from frozenlab.jobs.imported import refuse_foreign
from frozenlab.models.training.checkpoints import damage
from frozenlab.session.session import GIVEN_FILE, Session, SessionError
from frozenlab.session.spec import Parent, SessionSpec
from frozenlab.session.store import SessionStore

CHANGEABLE = {"title", "engineer", "sections", "layouts", "guard"}
"""The fields of a spec that affect nothing before a proposal."""
DECIDED = ("context.json", "proposal.json", GIVEN_FILE)
"""The files of a stage that depend on its engineer."""
TRAINED = ("policy", "metrics.jsonl", "completions.parquet", "validation.parquet", "test.parquet")
"""The files of a stage that come from training."""


def forked_spec(parent: Session, stage: int, **changes: Any) -> SessionSpec:
    """The parent's spec with another engineer, other sections and so on from the proposal after ``stage`` (0-based) on.

    Raises:
        SessionError: the parent is not through that stage, or a change is none that a fork can have.
    """
    if unknown := sorted(set(changes) - CHANGEABLE):
        raise SessionError(f"a fork cannot have another {unknown[0]}: it would not be the same session up to its stage {stage + 1}")
    if not 0 <= stage < parent.spec.stages or parent.validation(stage) is None:
        raise SessionError(f"{parent.id} has not validated a stage {stage + 1}, so nothing can begin there")
    changes.setdefault("title", f"{parent.title}, forked after stage {stage + 1}"[:120])
    try:
        return parent.spec.changed(**changes, parent=Parent(session=parent.address, stage=stage))
    except ValueError as error:
        raise SessionError(one_line(error)) from None


def fork(
    parent: Session, stage: int, store: SessionStore, session_id: str | None = None, *, given: Proposal | None = None, **changes: Any
) -> Session:
    """Create the folder of a fork, ready to be resumed, with everything of the parent before its engineer was asked after ``stage``.

    ``given`` is what a person proposes there in the place of the engineer, who is asked again after the next stage. A parent from which
    training cannot go on (see :func:`trains_again`) leaves its boards, configs and proposals; the fork trains on them again, with the same
    draws if this version drew the parent's plans too. The folder is complete before it has its name, so that no reader meets half a fork.

    Raises SessionError as :func:`forked_spec` and :meth:`SessionStore.create` do, LinkError if there is a link in the parent's folder,
    ImportedError if it was imported and is not one's own yet.
    """
    refuse_foreign(parent.dir)
    spec = forked_spec(parent, stage, **changes)
    retrains = trains_again(parent, stage)

    def fill(folder: Path) -> None:
        shutil.copytree(parent.dir / "baseline", folder / "baseline", copy_function=link_or_copy)
        for before in range(stage + 1):
            left_out = shutil.ignore_patterns("trainer", ".*", *(TRAINED if retrains else ()), *(DECIDED if before == stage else ()))
            shutil.copytree(parent.stage_dir(before), folder / "stages" / f"{before:02d}", ignore=left_out, copy_function=link_or_copy)
        if given is not None:
            write_text(folder / "stages" / f"{stage:02d}" / GIVEN_FILE, given.model_dump_json(indent=2))

    rates = [rate for rate in parent.state().rates if rate.stage is None or (rate.stage <= stage and not retrains)]
    return store.create(spec, session_id, fill, rates)


def sibling(other: Session, store: SessionStore, session_id: str, spec: SessionSpec) -> Session:
    """A new session with the same base and held-out boards as ``other``; it shares the measurements of the base. With another seed or
    other training it trains on other boards. Nothing has been proposed in it yet. Raises SessionError as :meth:`SessionStore.create`
    does."""
    alike = (spec.seed, spec.training) == (other.spec.seed, other.spec.training)
    drawn = () if alike else ("environment.json",)

    def fill(folder: Path) -> None:
        ignored = shutil.ignore_patterns(".*", *DECIDED, *drawn)
        shutil.copytree(other.stage_dir(None), folder / "baseline", ignore=ignored, copy_function=link_or_copy)

    return store.create(spec, session_id, fill, [rate for rate in other.state().rates if rate.stage is None])


def trains_again(parent: Session, stage: int) -> bool:
    """Whether a fork has to train the stages again: the stage is not the last, and the parent has no optimizer state of it."""
    return stage + 1 < parent.spec.stages and damage(parent.stage_dir(stage) / "policy", to_go_on=True) is not None


def link_or_copy(source: str, target: str) -> None:
    """Link or copy a file. Files of finished stages are replaced, never changed, so that two sessions can share them on disk."""
    try:
        os.link(source, target)
    except OSError:  # another disk, or one that knows no links
        shutil.copy2(source, target)
