"""The session folder: the files of a run, and how they are read.

A session folder is portable and self-contained. Reading is tolerant: damaged files are listed in :attr:`Session.problems`, the rest is
shown. Whatever a folder contains, reading it raises only SessionError, and only if there is no spec.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from frozenlab import places
from frozenlab.engineer.measurements import StageMeasurements
from frozenlab.engineer.schema import Context, Proposal, ProposalRecord
from frozenlab.errors import LabError, one_line
from frozenlab.files import read_lines, write_text
from frozenlab.jobs.folders import check_id, fresh_name
from frozenlab.jobs.job import STOP_FILE, Job
from frozenlab.jobs.kept import Kept, Signature, signature
from frozenlab.jobs.state import SLOW_STALLED_AFTER, STALLED_AFTER, Moment, as_observed
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import Realised
from frozenlab.loop.listing import RECORDED, Listed, listed, parent_of
from frozenlab.loop.spec import SessionSpec
from frozenlab.loop.state import State, ValidRate
from frozenlab.loop.tables import checked
from frozenlab.policy.evaluation import COLUMNS
from frozenlab.policy.folders import policy_folder, weights_file
from frozenlab.policy.settings import LanguageSettings
from frozenlab.training.methods import BY_NAME

OFFERED = 60
"""Sessions that a page offers to choose from; older ones open by their id."""
SCRATCH, SCRATCH_AGE = ".new-", 86400.0
"""Name of the folder in which a new session is assembled, and for how many seconds at most."""
GIVEN_FILE = "given.json"
"""A person's proposal, in the folder of the stage before it."""

COMPLETION_COLUMNS = COLUMNS | {"training_step": "int64", "reward": "float64"}

Model = TypeVar("Model", bound=BaseModel)
Read = TypeVar("Read")


class SessionError(LabError, ValueError):
    """A session does not exist, cannot be read or may not be changed; the message says which and why."""


class EnvironmentRecord(BaseModel):
    """``environment.json``: the config of a stage and what was drawn from it."""

    schema_version: int = 1
    stage: int | None
    """The stage; None if drawn before training, to ask the engineer about the initial config."""
    seed: int
    config: EnvironmentConfig
    realised: dict[int, Realised]


class Event(BaseModel):
    """A line of ``events.jsonl``."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int | float | str | None] = Field(init=False)

    time: Moment
    kind: str
    stage: int | None = None
    step: int | None = None
    valid: FiniteFloat | None = None
    optimal: FiniteFloat | None = None


class Figures(BaseModel):
    """A line of ``metrics.jsonl``: a training step and its figures."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | None] = Field(init=False)

    step: Annotated[int, Field(ge=1, lt=2**31)]
    reward: float | None = None
    valid: float | None = None
    optimal: float | None = None


class Checkpoint(BaseModel):
    """A policy that can plan boards: the base, or the checkpoint of a stage."""

    label: str
    stage: int | None
    path: Path
    language: LanguageSettings | None = None
    """Settings of a Hugging Face language model; None for a lab model."""


class Session(Job):
    """One session folder, opened for reading. ``problems`` grows as damaged files are met."""

    kind = "session"

    def __init__(self, folder: Path) -> None:
        self.dir = folder
        self.id = folder.name
        self.problems: list[str] = []
        self.spec = self._spec()

    def _spec(self) -> SessionSpec:
        path = self.dir / "session.json"
        try:
            return model_at(SessionSpec)(path)
        except FileNotFoundError:
            raise SessionError(f"session {self.id!r} has no session.json") from None
        except (ValidationError, UnicodeDecodeError) as error:
            reason = one_line(error)
            raise SessionError(f"session {self.id!r}: session.json is not a spec: {reason}") from None
        except Exception as error:  # a folder, no permission, endless brackets: anything can be called session.json
            raise SessionError(f"session {self.id!r}: session.json cannot be read: {one_line(error)}") from None

    @property
    def read_only(self) -> bool:
        return self.why_read_only is not None

    @property
    def why_read_only(self) -> str | None:
        """The reason why the session cannot be changed, as it follows its name in a sentence; None if it can."""
        if self.id.startswith(RECORDED):
            return "is a recorded session"
        return "is a link to another folder" if self.dir.is_symlink() else None

    @property
    def title(self) -> str:
        return self.spec.title or self.id

    @property
    def patience(self) -> float:
        return SLOW_STALLED_AFTER if self.spec.language else STALLED_AFTER

    @property
    def online(self) -> bool:
        return self.spec.online

    def command(self) -> list[str]:
        """What runs the session: one process, or as many as its spec has, by its launcher."""
        language, n = self.spec.language, str(self.spec.processes)
        if language is None or self.spec.processes == 1:
            return super().command()
        each = ["-m", "frozenlab.loop.processes", str(self.dir)]
        if language.launcher.program == "accelerate":
            return [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_machines", "1", "--num_processes", n, *each]
        return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", n, *each]

    @property
    def created(self) -> float:
        """Unix seconds at which the session began: the first event's time, so that a copied folder keeps its age."""
        state = self.state()
        return state.started or self._read(self.dir / "session.json", lambda: (self.dir / "session.json").stat().st_mtime) or 0.0

    # --- what is happening ---------------------------------------------------------------------------------------

    def state(self) -> State:
        stored = self._model(self.dir / "state.json", State)
        if stored is None:
            return State(status="failed", error="state.json is missing or damaged", rates=self.rates())
        return as_observed(stored.model_copy())

    @property
    def stop_asked(self) -> bool:
        """Whether the worker was asked to stop, which it does after the current step."""
        return (self.dir / STOP_FILE).exists()

    def rates(self) -> list[ValidRate]:
        """The valid rates of the session's results so far, computed from the tables."""
        tables = {stage: self.results(stage) for stage in (None, *range(self.spec.stages))}
        return [ValidRate.of(stage, table) for stage, table in tables.items() if table is not None]

    def events(self, offset: int = 0) -> tuple[list[dict[str, Any]], int]:
        """The events after byte ``offset``, and the offset to ask with next time. Each has a ``time`` (unix seconds) and a ``kind``."""
        return self._lines(self.dir / "events.jsonl", Event, offset)

    # --- the files of a stage--------------------------------------------------------------------------------------

    def stage_dir(self, stage: int | None) -> Path:
        """The folder of a stage (0-based); stage None is the time before training."""
        return self.dir / "baseline" if stage is None else self.dir / "stages" / f"{stage:02d}"

    def environment(self, stage: int | None) -> EnvironmentRecord | None:
        """The config of a stage and what was drawn from it. None, with a problem, if it is not the config decided on for this stage. Stage
        None: the initial config as the engineer saw it."""
        path = self.stage_dir(stage) / "environment.json"
        record = self._model(path, EnvironmentRecord)
        before = None if stage is None else self.proposal(stage - 1 if stage else None)
        decided = before.config_after if before else self.spec.initial_config if not stage else None
        if record is None or (record.stage == stage and decided in (None, record.config)):
            return record
        self._problem(path, "is not what was decided on for this stage")
        return None

    def context(self, stage: int | None) -> Context | None:
        return self._model(self.stage_dir(stage) / "context.json", Context)

    def proposal(self, stage: int | None) -> ProposalRecord | None:
        return self._model(self.stage_dir(stage) / "proposal.json", ProposalRecord)

    def given(self, stage: int | None) -> Proposal | None:
        """A person's proposal after the stage, in place of the session's engineer; None if there is none."""
        return self._model(self.stage_dir(stage) / GIVEN_FILE, Proposal)

    def metrics(self, stage: int) -> pd.DataFrame:
        """One row per training step; empty before the first. A step repeated after a resume counts once, as last written."""
        rows = pd.DataFrame(self.figures(stage))
        if rows.empty:
            return rows
        every = list(dict.fromkeys([*rows.columns, "reward", "valid", "optimal"]))
        return (
            rows.reindex(columns=every)
            .replace([np.inf, -np.inf], np.nan)
            .drop_duplicates("step", keep="last")
            .sort_values("step", ignore_index=True)
        )

    def metrics_revision(self, stage: int) -> Signature:
        """A value that changes whenever :meth:`metrics` of the stage may have changed."""
        return signature(self.stage_dir(stage) / "metrics.jsonl")

    def revision(self) -> tuple[tuple[str, Signature], ...]:
        """A value that changes whenever a file of any stage has changed."""
        files = [path for stage in (None, *range(self.spec.stages)) for path in self.stage_dir(stage).glob("*.*")]
        return tuple((str(path), signature(path)) for path in sorted(files))

    def figures(self, stage: int) -> list[dict[str, Any]]:
        """The training steps as written; repeated steps appear twice."""
        return self._lines(self.stage_dir(stage) / "metrics.jsonl", Figures)[0]

    def validation(self, stage: int | None) -> pd.DataFrame | None:
        """One row per validation board, which the engineer reads too; stage None is the base before training."""
        return self._answers(self.stage_dir(stage) / "validation.parquet")

    def test(self, stage: int | None) -> pd.DataFrame | None:
        """One row per test board, which no engineer reads; None if the session has none."""
        return self._answers(self.stage_dir(stage) / "test.parquet")

    def _answers(self, path: Path) -> pd.DataFrame | None:
        table = self._table(path, _validations)
        if table is not None and table.empty:
            self._problem(path, "holds no boards")
            return None
        return table

    @property
    def sealed(self) -> bool:
        """Whether results come from test boards. They do not while a person is the engineer, who would see them."""
        if self.spec.test is None or "person" not in self.spec.engineer.needs:
            return self.spec.test is not None
        stored = self._model(self.dir / "state.json", State)
        return stored is not None and stored.status == "done"

    def results(self, stage: int | None) -> pd.DataFrame | None:
        """The session's results, one row per board: the test boards if the session has them, otherwise the validation boards."""
        return self.test(stage) if self.sealed else self.validation(stage)

    @property
    def results_from(self) -> str:
        """The boards behind the results, in words."""
        return "test boards, which no engineer saw" if self.sealed else "validation boards, which the engineer saw too"

    def completions(self, stage: int) -> pd.DataFrame | None:
        """Sampled training completions with their verdicts, by step."""
        return self._table(self.stage_dir(stage) / "completions.parquet", _completions)

    def recorded_steps(self, stage: int) -> int:
        """Number of training steps of the stage, from the first on, that both the figures and the completions contain."""
        sampled, figures = self.completions(stage), self.metrics(stage)
        known = set() if sampled is None or figures.empty else {*sampled["training_step"]} & {*figures["step"]}
        return next(step for step in range(len(known) + 1) if step + 1 not in known)

    def measurements(self, stage: int | None) -> StageMeasurements:
        """Everything that affects the proposal after a stage, or before the first. Raises SessionError if it has not been validated."""
        drawn, after = self.environment(stage), self.validation(stage)
        before = None if stage is None else self.validation(stage - 1 if stage else None)
        if drawn is None or after is None or (stage is not None and before is None):
            raise SessionError(f"{self.id} has not validated {'its base' if stage is None else f'a stage {stage + 1}'}")
        return StageMeasurements(
            stage=stage,
            config=drawn.config,
            realised=drawn.realised,
            metrics=pd.DataFrame() if stage is None else self.metrics(stage),
            validation=after,
            validation_before=before,
            last_proposal=None if stage is None else self.proposal(stage - 1 if stage else None),
            method=self.spec.training.method,
            rewarded=BY_NAME[self.spec.training.method].rewards,
            sampled=None if stage is None else self.completions(stage),
        )

    def checkpoints(self) -> list[Checkpoint]:
        """The base, then the policy after each stage with weights in the folder."""
        language = self.spec.language
        found = [Checkpoint(label="base, before training", stage=None, path=policy_folder(self.spec.policy), language=language)]
        for stage in range(self.spec.stages):
            path = self.stage_dir(stage) / "policy"
            if weights_file(path):
                found.append(Checkpoint(label=f"after stage {stage + 1}", stage=stage, path=path, language=language))
        return found

    # --- reading -------------------------------------------------------------------------------------------------

    def _model(self, path: Path, kind: type[Model]) -> Model | None:
        return self._read(path, lambda: model_at(kind)(path))

    def _table(self, path: Path, read: Kept[pd.DataFrame]) -> pd.DataFrame | None:
        table = self._read(path, lambda: read(path))
        return None if table is None else table.copy(deep=False)

    def _lines(self, path: Path, kind: type[BaseModel], offset: int = 0) -> tuple[list[dict[str, Any]], int]:
        """The valid lines after byte ``offset``, and the offset to continue from. Other lines are skipped and become a problem."""
        found = self._read(path, lambda: sound_lines(path, kind, offset) if offset else lines_at(kind)(path))
        if found is None:
            return [], offset
        for problem in found.problems:
            self._problem(path, problem)
        return list(found.lines), found.end

    def _read(self, path: Path, read: Callable[[], Read]) -> Read | None:
        """The result of ``read``; None if the file does not exist, None and a line in ``problems`` if it is damaged."""
        try:
            return read() if path.exists() else None
        except Exception as error:  # a damaged file can make its reader raise anything
            self._problem(path, f"cannot be read: {one_line(error)}")
            return None

    def _problem(self, path: Path, what: str) -> None:
        problem = f"{path.relative_to(self.dir)} {what}"
        if problem not in self.problems:
            self.problems.append(problem)


# --- what is read once ---------------------------------------------------------------------------------------------------


class Lines(NamedTuple):
    """The result of :func:`sound_lines`."""

    lines: list[dict[str, Any]]
    end: int
    """Byte to continue from."""
    problems: list[str]


def sound_lines(path: Path, kind: type[BaseModel], offset: int = 0) -> Lines:
    """The lines after byte ``offset`` that are of this ``kind``, and the reasons why others are not."""
    lines, end = read_lines(path, offset)
    sound: list[dict[str, Any]] = []
    problems: dict[str, None] = {}
    for line in lines:
        try:
            sound.append(kind.model_validate(line).model_dump(exclude_unset=True))
        except ValidationError as error:
            problems[f"has a line that is none of its kind: {one_line(error)}"] = None
    return Lines(sound, end, list(problems))


@cache
def lines_at(kind: type[BaseModel]) -> Kept[Lines]:
    return Kept(lambda path: sound_lines(path, kind), 200)


@cache
def model_at(kind: type[Model]) -> Kept[Model]:
    """A reader for JSON files of this ``kind``."""
    return Kept(lambda path: kind.model_validate_json(path.read_text(encoding="utf-8")), 1_000)


def table_at(columns: dict[str, str]) -> Kept[pd.DataFrame]:
    """A reader for tables with all of these ``columns``, in their types."""

    return Kept(lambda path: checked(pd.read_parquet(path), columns), 100)


_validations, _completions = table_at(COLUMNS), table_at(COMPLETION_COLUMNS)


class SessionStore:
    """All sessions of one folder. Default: ``FROZENLAB_SESSIONS``, else ``sessions/`` of the checkout or of the current folder."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or Path(os.environ.get("FROZENLAB_SESSIONS") or places.workplace() / "sessions")).resolve()
        self.unreadable: dict[str, str] = {}
        """Folders that the last listing could not read: id -> a sentence with the reason."""

    def listed(self) -> list[Listed]:
        """All sessions, including those that ship with the project, newest first, without opening them."""
        return listed(self.root, places.SESSIONS)

    def sessions(self, most: int | None = None, known: Sequence[Listed] | None = None) -> list[Session]:
        """Readable sessions, newest first. Recorded sessions are always included, with their forks last, for comparison with their
        parents.

        Args:
            most: read only this many of the user's newest sessions.
            known: the result of :meth:`listed`, if the caller has it.
        """
        known = self.listed() if known is None else known
        offered = {session.folder for session in islice((session for session in known if not session.recorded), most)}
        found, self.unreadable = [], {}
        for session in known:
            if session.recorded or session.folder in offered:
                try:
                    found.append(Session(session.folder))
                except SessionError as error:
                    self.unreadable[session.folder.name] = str(error)
        return sorted(found, key=lambda session: session.read_only and session.spec.parent is not None)

    def running(self, known: Sequence[Listed] | None = None) -> Session | None:
        """The newest running session of the user; ``known`` as in :meth:`sessions`."""
        for session in self.listed() if known is None else known:
            if session.at_work and not session.recorded:
                try:
                    opened = Session(session.folder)
                except SessionError:
                    continue
                if opened.state().live and not opened.read_only:
                    return opened
        return None

    def forked(self) -> dict[str, str]:
        """Forks, oldest first: id -> id of the parent session."""
        parents = {session.folder.name: parent_of(session.folder) for session in reversed(self.listed())}
        return {name: parent for name, parent in parents.items() if parent is not None}

    def open(self, session_id: str) -> Session:
        """Open a session by its id. Raises SessionError if there is none."""
        check_id(session_id, "session", SessionError)
        for root in (self.root, places.SESSIONS):
            folder = root / session_id
            recorded_elsewhere = root != self.root and not session_id.startswith(RECORDED)
            if (folder / "session.json").exists() and not recorded_elsewhere:
                return Session(folder)
        raise SessionError(f"there is no session {session_id!r} in {self.root}")

    def create(self, spec: SessionSpec, session_id: str | None = None, fill: Callable[[Path], None] = lambda folder: None) -> Session:
        """Create a folder with ``session.json`` and a queued state; ``fill`` adds its initial files.

        Raises SessionError if the id is taken.
        """
        session_id = session_id or fresh_name(self.root, spec.title, otherwise=spec.engineer.kind)
        check_id(session_id, "session", SessionError)
        folder = self.root / session_id
        self.root.mkdir(parents=True, exist_ok=True)
        for left in self.root.glob(f"{SCRATCH}*"):
            if time.time() - left.stat().st_mtime > SCRATCH_AGE:  # of a process that was killed here
                shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=self.root, prefix=SCRATCH) as scratch:  # so that nobody reads half a session
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
