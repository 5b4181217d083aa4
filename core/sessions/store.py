"""The session folder: where everything of a run lies, and how it is read (DESIGN.md section 5).

A session folder is portable and self-contained. Reading is forgiving: what is damaged is named in :attr:`Session.problems`, the rest is
shown.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from pydantic import BaseModel, ValidationError

from core.engineer.evidence import StageMeasurements
from core.engineer.schema import Context, Proposal, ProposalRecord
from core.lake.config import EnvironmentConfig, first_error
from core.lake.files import write_text
from core.lake.generator import Realised
from core.policy.folders import policy_folder, weights_file
from core.policy.settings import LanguageSettings
from core.sessions.files import read_lines
from core.sessions.spec import SessionSpec
from core.sessions.state import State, as_observed

PROJECT = Path(__file__).resolve().parents[2]
SESSION_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
RECORDED = "example-"
"""Sessions that ship with the project begin so, and open read-only."""

STOP_FILE = "stop"
"""Put into a session folder to ask its worker to stop at the next step."""

GIVEN_FILE = "given.json"
"""In the folder of a stage: what a person proposes after it."""

Model = TypeVar("Model", bound=BaseModel)
Read = TypeVar("Read")


class SessionError(ValueError):
    """A session does not exist, cannot be read or may not be changed; the message says which and why."""


class EnvironmentRecord(BaseModel):
    """``environment.json``: the config of a stage and what was drawn from it."""

    schema_version: int = 1
    stage: int
    seed: int
    config: EnvironmentConfig
    realised: dict[int, Realised]


class Checkpoint(BaseModel):
    """A policy that can plan boards: the base, or what a stage left."""

    label: str
    stage: int | None
    path: Path
    language: LanguageSettings | None = None
    """How it is asked if it is a Hugging Face language model; None: it is a lab model."""


class Session:
    """One session folder, opened for reading. ``problems`` grows as damaged files are met."""

    def __init__(self, folder: Path) -> None:
        self.dir = folder
        self.id = folder.name
        self.problems: list[str] = []
        self.spec = self._spec()

    def _spec(self) -> SessionSpec:
        path = self.dir / "session.json"
        try:
            return SessionSpec.model_validate_json(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise SessionError(f"session {self.id!r} has no session.json") from None
        except (ValidationError, UnicodeDecodeError) as error:
            reason = first_error(error) if isinstance(error, ValidationError) else str(error)
            raise SessionError(f"session {self.id!r}: session.json is not a spec: {reason}") from None

    @property
    def read_only(self) -> bool:
        return self.id.startswith(RECORDED)

    @property
    def title(self) -> str:
        return self.spec.title or self.id

    @property
    def created(self) -> float:
        """Unix seconds at which the session began: the first event's time, so that a copied folder keeps its age."""
        state = self.state()
        return state.started or (self.dir / "session.json").stat().st_mtime

    # --- what is happening ---------------------------------------------------------------------------------------

    def state(self) -> State:
        stored = self._model(self.dir / "state.json", State)
        if stored is None:
            return State(status="failed", error="state.json is missing or damaged")
        return as_observed(stored)

    @property
    def stop_asked(self) -> bool:
        """Whether somebody has asked the worker to stop, which it does after the step it is in."""
        return (self.dir / STOP_FILE).exists()

    def events(self, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
        """The events after byte ``offset``, and the offset to ask with next time."""
        return read_lines(self.dir / "events.jsonl", offset)

    # --- what a stage left ---------------------------------------------------------------------------------------

    def stage_dir(self, stage: int) -> Path:
        return self.dir / "stages" / f"{stage:02d}"

    def environment(self, stage: int) -> EnvironmentRecord | None:
        return self._model(self.stage_dir(stage) / "environment.json", EnvironmentRecord)

    def context(self, stage: int) -> Context | None:
        return self._model(self.stage_dir(stage) / "context.json", Context)

    def proposal(self, stage: int) -> ProposalRecord | None:
        return self._model(self.stage_dir(stage) / "proposal.json", ProposalRecord)

    def given(self, stage: int) -> Proposal | None:
        """What a person proposes after the stage, in the place of the session's engineer; None if they leave it to that."""
        return self._model(self.stage_dir(stage) / GIVEN_FILE, Proposal)

    def metrics(self, stage: int) -> pd.DataFrame:
        """One row a training step; empty before the first. A step that was repeated after a resume counts once, as last written."""
        rows = pd.DataFrame(read_lines(self.stage_dir(stage) / "metrics.jsonl")[0])
        return rows if rows.empty else rows.drop_duplicates("step", keep="last").sort_values("step", ignore_index=True)

    def validation(self, stage: int | None) -> pd.DataFrame | None:
        """One row a held-out board; stage None is the base before training."""
        folder = self.dir / "baseline" if stage is None else self.stage_dir(stage)
        return self._table(folder / "validation.parquet")

    def completions(self, stage: int) -> pd.DataFrame | None:
        """Sampled training completions with their verdicts, by step."""
        return self._table(self.stage_dir(stage) / "completions.parquet")

    def measurements(self, stage: int) -> StageMeasurements:
        """Everything that bears on the proposal after a stage. Raises SessionError if the stage has not been validated."""
        drawn, after = self.environment(stage), self.validation(stage)
        before = self.validation(stage - 1 if stage else None)
        if drawn is None or after is None or before is None:
            raise SessionError(f"{self.id} has not validated a stage {stage + 1}")
        return StageMeasurements(
            stage=stage,
            config=drawn.config,
            realised=drawn.realised,
            metrics=self.metrics(stage),
            validation=after,
            validation_before=before,
            last_proposal=self.proposal(stage - 1) if stage else None,
            method=self.spec.training.method,
        )

    def checkpoints(self) -> list[Checkpoint]:
        """The base, then the policy after each stage whose weights are here."""
        language = self.spec.language
        found = [Checkpoint(label="base, before training", stage=None, path=policy_folder(self.spec.policy), language=language)]
        for stage in range(self.spec.stages):
            path = self.stage_dir(stage) / "policy"
            if weights_file(path):
                found.append(Checkpoint(label=f"after stage {stage + 1}", stage=stage, path=path, language=language))
        return found

    # --- reading -------------------------------------------------------------------------------------------------

    def _model(self, path: Path, kind: type[Model]) -> Model | None:
        return self._read(path, lambda: kind.model_validate_json(path.read_text(encoding="utf-8")))

    def _table(self, path: Path) -> pd.DataFrame | None:
        return self._read(path, lambda: pd.read_parquet(path))

    def _read(self, path: Path, read: Callable[[], Read]) -> Read | None:
        """What ``read`` gives; None if the file is not there, None and a line in ``problems`` if it is damaged."""
        if not path.exists():
            return None
        try:
            return read()
        except (ValueError, OSError) as error:  # pydantic's and Arrow's errors are ValueErrors
            reason = first_error(error) if isinstance(error, ValidationError) else str(error).splitlines()[0]
            problem = f"{path.relative_to(self.dir)} cannot be read: {reason}"
            if problem not in self.problems:
                self.problems.append(problem)
            return None


class SessionStore:
    """All sessions of one folder. Default: ``FROZENLAB_SESSIONS``, else the project's ``sessions/``."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or Path(os.environ.get("FROZENLAB_SESSIONS") or PROJECT / "sessions")).resolve()

    def sessions(self) -> list[Session]:
        """Every readable session, newest first; recorded ones that ship with the project come along wherever the root is, their forks last,
        which are there to be held against what they were forked from."""
        folders = {path.parent.name: path.parent for path in (PROJECT / "sessions").glob(f"{RECORDED}*/session.json")}
        folders |= {path.parent.name: path.parent for path in self.root.glob("*/session.json") if SESSION_ID.fullmatch(path.parent.name)}
        found = []
        for folder in folders.values():
            try:
                found.append(Session(folder))
            except SessionError:
                continue
        return sorted(found, key=lambda session: (session.read_only and session.spec.parent is not None, -session.created))

    def open(self, session_id: str) -> Session:
        """Raises SessionError where there is no such session."""
        if not SESSION_ID.fullmatch(session_id):
            raise SessionError(f"{session_id!r} is no session id: lower-case letters, digits and hyphens, at most 63")
        for root in (self.root, PROJECT / "sessions"):
            folder = root / session_id
            recorded_elsewhere = root != self.root and not session_id.startswith(RECORDED)
            if (folder / "session.json").exists() and not recorded_elsewhere:
                return Session(folder)
        raise SessionError(f"there is no session {session_id!r} in {self.root}")

    def create(self, spec: SessionSpec, session_id: str | None = None, fill: Callable[[Path], None] = lambda folder: None) -> Session:
        """A new folder with ``session.json`` and a queued state; ``fill`` puts into it what it begins with.

        Raises SessionError if the id is taken.
        """
        session_id = session_id or fresh_name(self.root, spec.title, otherwise=spec.engineer)
        if not SESSION_ID.fullmatch(session_id):
            raise SessionError(f"{session_id!r} is no session id: lower-case letters, digits and hyphens, at most 63")
        folder = self.root / session_id
        self.root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.root, prefix=".new-") as scratch:  # nobody meets half a session
            made = Path(scratch) / session_id
            made.mkdir()
            fill(made)
            write_text(made / "state.json", State(started=time.time()).model_dump_json(indent=2))
            write_text(made / "session.json", spec.model_dump_json(indent=2))
            try:
                made.rename(folder)
            except OSError:
                raise SessionError(f"a session {session_id!r} already exists in {self.root}") from None
        return Session(folder)


def fresh_name(folder: Path, title: str, otherwise: str) -> str:
    """Date, time and the title's words (``otherwise`` if it has none); with a number, if anything in ``folder`` is called so."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:30].strip("-") or otherwise
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{words}"
    taken = {path.name for path in folder.glob(f"{stem}*")}
    return next(name for name in [stem, *(f"{stem}-{i}" for i in range(2, 1000))] if name not in taken)


THREADS = max(1, (os.cpu_count() or 1) // 2)
"""For processes that import torch: half the cores. Torch's threads wait for each other by spinning: on two cores, with two threads and
anything else running, a training step of 2.5 s took 30; with one thread it takes 4, whatever runs beside it."""


def worker_environment(online: bool = False) -> dict[str, str]:
    """The environment of processes that import torch: nothing is looked up on a hub (unless ``online``), nothing is reported, and TRL does
    not warn of the extension point that sampling uses."""
    quiet = {"HF_HUB_DISABLE_TELEMETRY": "1", "TOKENIZERS_PARALLELISM": "false", "TRL_EXPERIMENTAL_SILENCE": "1"}
    return os.environ | quiet | ({} if online else {"HF_HUB_OFFLINE": "1"})
