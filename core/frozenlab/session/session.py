"""A session folder, opened for reading."""

from __future__ import annotations

import sys
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError, model_validator

from frozenlab.base.cells import CellName
from frozenlab.base.errors import LabError, one_line
from frozenlab.base.files import Signature, signature
from frozenlab.engineer.measurements import StageMeasurements
from frozenlab.engineer.schema import Context, Proposal, ProposalRecord
from frozenlab.jobs.imported import why_not_own
from frozenlab.jobs.job import STOP_FILE, Job
from frozenlab.jobs.machine import Needs
from frozenlab.jobs.origin import ORIGIN_FILE, Origin
from frozenlab.jobs.state import LOST, Moment, as_observed
from frozenlab.models.folders import nowhere, policy_folder, weights_file
from frozenlab.models.settings import LanguageSettings
from frozenlab.models.training.checkpoints import damage
from frozenlab.session.catalog import LABELS_FILE, RECORDED, Labels
from frozenlab.session.footprint import needs
from frozenlab.session.reading import FolderReader, model_at, table_of
from frozenlab.session.spec import SessionSpec
from frozenlab.session.state import State, ValidRate
from frozenlab.tasks.families import AnyConfig, family_of

if TYPE_CHECKING:
    import pandas as pd


class EnvironmentRecord(BaseModel):
    """``environment.json``: the config of a stage and what was drawn from it."""

    schema_version: int = 1
    stage: int | None
    """The stage; None if drawn before training, to ask the engineer about the initial config."""
    seed: int
    config: AnyConfig
    realised: dict[CellName, Any]

    @model_validator(mode="after")
    def _read_realised(self) -> Self:
        object.__setattr__(self, "realised", family_of(self.config.family).read_realised(self.config, self.realised))
        return self


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


SuiteName = Literal["validation", "test"]
SUITES: tuple[SuiteName, ...] = get_args(SuiteName)
GIVEN_FILE = "given.json"
"""A person's proposal, in the folder of the stage before it."""


def suite_of_results(tested: bool, asks_person: bool, status: str) -> SuiteName:
    """Results come from test boards if there are some, but not while a person is the engineer, who would see them."""
    return "test" if tested and (status == "done" or not asks_person) else "validation"


class SessionError(LabError, ValueError):
    """A session does not exist, cannot be read or may not be changed; the message says which and why."""


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
        self.files = FolderReader(folder)
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
    def problems(self) -> list[str]:
        """The damage met so far, a line for each file."""
        return self.files.problems

    @property
    def read_only(self) -> bool:
        return self.why_read_only is not None

    @property
    def why_read_only(self) -> str | None:
        """The reason why the session cannot be changed, as it follows its name in a sentence; None if it can."""
        if self.id.startswith(RECORDED):
            return "is a recorded session"
        return "is a link to another folder" if self.dir.is_symlink() else why_not_own(self.dir)

    @property
    def title(self) -> str:
        """Its name for people: the one in its labels, else that of its spec, else its id."""
        return self.labels.title or self.spec.title or self.id

    @property
    def labels(self) -> Labels:
        """Its name, tags and notes, and whether it is archived."""
        return self.files.model(self.dir / LABELS_FILE, Labels) or Labels()

    @property
    def origin(self) -> Origin | None:
        """Where its numbers come from; None if an older version began it."""
        return self.files.model(self.dir / ORIGIN_FILE, Origin)

    @property
    def slow(self) -> bool:
        """A session with a language model is: the model may have to be downloaded, and its answers are long."""
        return self.spec.language is not None

    @property
    def needs(self) -> Needs:
        return needs(self.spec)

    @property
    def online(self) -> bool:
        return self.spec.online

    def command(self) -> list[str]:
        """What runs the session: one process, or as many as its spec has, by its launcher."""
        language, n = self.spec.language, str(self.spec.processes)
        if language is None or self.spec.processes == 1:
            return super().command()
        each = ["-m", "frozenlab.session.processes", str(self.dir)]
        if language.launcher.program == "accelerate":
            return [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_machines", "1", "--num_processes", n, *each]
        return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", n, *each]

    @property
    def created(self) -> float:
        """Unix seconds at which the session began: the first event's time, so that a copied folder keeps its age."""
        state = self.state()
        return state.started or self.files.read(self.dir / "session.json", lambda: (self.dir / "session.json").stat().st_mtime) or 0.0

    # --- what is happening ---------------------------------------------------------------------------------------

    def state(self) -> State:
        stored = self.files.model(self.dir / "state.json", State)
        if stored is None:
            return State(status="failed", error=LOST, rates=self.rates())
        return as_observed(stored.model_copy())

    @property
    def stop_asked(self) -> bool:
        """Whether the worker was asked to stop, which it does after the current step."""
        return (self.dir / STOP_FILE).exists()

    def rates(self) -> list[ValidRate]:
        """The valid rates of the session's results so far, computed from the tables."""
        tables = {stage: self.results(stage) for stage in (None, *range(self.spec.stages))}
        return [ValidRate.of(stage, table) for stage, table in tables.items() if table is not None]

    def events(self) -> list[dict[str, Any]]:
        """The events so far. Each has a ``time`` (unix seconds) and a ``kind``."""
        return self.files.lines(self.dir / "events.jsonl", Event)

    # --- the files of a stage--------------------------------------------------------------------------------------

    def stage_dir(self, stage: int | None) -> Path:
        """The folder of a stage (0-based); stage None is the time before training."""
        return self.dir / "baseline" if stage is None else self.dir / "stages" / f"{stage:02d}"

    def environment(self, stage: int | None) -> EnvironmentRecord | None:
        """The config of a stage and what was drawn from it. None, with a problem, if it is not the config decided on for this stage. Stage
        None: the initial config as the engineer saw it."""
        path = self.stage_dir(stage) / "environment.json"
        record = self.files.model(path, EnvironmentRecord)
        before = None if stage is None else self.proposal(stage - 1 if stage else None)
        first = stage is None or (stage == 0 and not self.spec.ask_first)
        decided = before.config_after if before else self.spec.initial_config if first else None
        if record is None or (record.stage == stage and decided in (None, record.config)):
            return record
        self.files.problem(path, "is not what was decided on for this stage")
        return None

    def context(self, stage: int | None) -> Context | None:
        return self.files.model(self.stage_dir(stage) / "context.json", Context)

    def proposal(self, stage: int | None) -> ProposalRecord | None:
        return self.files.model(self.stage_dir(stage) / "proposal.json", ProposalRecord)

    def proposals(self) -> list[ProposalRecord]:
        """What its engineer wrote, in order."""
        return [record for stage in (None, *range(self.spec.stages)) if (record := self.proposal(stage)) is not None]

    def usable_answers(self) -> tuple[int, int]:
        """How many of the engineer's answers could be used, and how many it was asked for."""
        records = self.proposals()
        return sum(record.proposal is not None for record in records), len(records)

    def refusals(self) -> list[str]:
        """Why answers of the engineer could not be used, in order."""
        return [record.guard.rejected or "" for record in self.proposals() if record.proposal is None]

    def given(self, stage: int | None) -> Proposal | None:
        """A person's proposal after the stage, in place of the session's engineer; None if there is none."""
        return self.files.model(self.stage_dir(stage) / GIVEN_FILE, Proposal)

    def metrics(self, stage: int) -> pd.DataFrame:
        """One row per training step; empty before the first. A step repeated after a resume counts once, as last written."""
        import pandas as pd

        rows = pd.DataFrame(self.figures(stage))
        if rows.empty:
            return rows
        every = list(dict.fromkeys([*rows.columns, "reward", "valid", "optimal"]))
        return (
            rows.reindex(columns=every)
            .replace([inf, -inf], nan)
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
        return self.files.lines(self.stage_dir(stage) / "metrics.jsonl", Figures)

    def validation(self, stage: int | None) -> pd.DataFrame | None:
        """One row per validation board, which the engineer reads too; stage None is the base before training."""
        return self.answers("validation", stage)

    def test(self, stage: int | None) -> pd.DataFrame | None:
        """One row per test board, which no engineer reads; None if the session has none."""
        return self.answers("test", stage)

    def answers(self, suite: SuiteName, stage: int | None) -> pd.DataFrame | None:
        """One row per board of a suite; None if it was not measured or the table is damaged."""
        path = self.stage_dir(stage) / f"{suite}.parquet"
        table = self.files.table(path, table_of(self.spec.tasks))
        if table is not None and table.empty:
            self.files.problem(path, "holds no boards")
            return None
        return table

    @property
    def suite(self) -> SuiteName:
        """The suite that results come from."""
        asks = "person" in self.spec.engineer.needs
        stored = self.files.model(self.dir / "state.json", State) if asks else None
        return suite_of_results(self.spec.test is not None, asks, stored.status if stored else "")

    def results(self, stage: int | None) -> pd.DataFrame | None:
        """The session's results, one row per board: the test boards if the session has them, otherwise the validation boards."""
        return self.answers(self.suite, stage)

    @property
    def results_from(self) -> str:
        """The boards behind the results, in words."""
        if self.suite == "validation":
            return "validation boards, which the engineer saw too"
        if "person" not in self.spec.engineer.needs and any(self.dir.glob(f"stages/*/{GIVEN_FILE}")):
            return "test boards, whose results the person who decided in this fork may have seen"
        return "test boards, which no engineer saw"

    def completions(self, stage: int) -> pd.DataFrame | None:
        """Sampled training completions with their verdicts, by step."""
        return self.files.table(self.stage_dir(stage) / "completions.parquet", table_of(self.spec.tasks, trained=True))

    def recorded_steps(self, stage: int) -> int:
        """Number of training steps of the stage, from the first on, that both the figures and the completions contain."""
        sampled, figures = self.completions(stage), self.metrics(stage)
        known = set() if sampled is None or figures.empty else {*sampled["training_step"]} & {*figures["step"]}
        return next(step for step in range(len(known) + 1) if step + 1 not in known)

    def measurements(self, stage: int | None) -> StageMeasurements:
        """Everything that affects the proposal after a stage, or before the first. Raises SessionError if it has not been validated."""
        import pandas as pd

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
            sampled=None if stage is None else self.completions(stage),
        )

    def checkpoints(self) -> list[Checkpoint]:
        """The base, then the policy after each stage with weights in the folder. The base of a language model is left out where it
        cannot be found."""
        language, base = self.spec.language, policy_folder(self.spec.policy)
        gone = language is not None and nowhere(self.spec.policy) is not None
        found = [] if gone else [Checkpoint(label="base, before training", stage=None, path=base, language=language)]
        for stage in range(self.spec.stages):
            path = self.stage_dir(stage) / "policy"
            if weights_file(path):
                found.append(Checkpoint(label=f"after stage {stage + 1}", stage=stage, path=path, language=language))
        return found


def stages_to_train(session: Session) -> dict[int, str | None]:
    """The stages that have to be trained, each with its damage if it was trained before (None if it was not).

    Random draws depend only on the spec, so a stage that is trained again ends as before. Training a stage continues from the stage before
    it, and its config must have been decided.
    """
    untrained: dict[int, str | None] = {}
    for stage in reversed(range(session.spec.stages)):
        trained = session.stage_dir(stage) / "policy"
        if not trained.exists():
            untrained[stage] = None
        elif what := damage(trained, to_go_on=stage + 1 in untrained):
            untrained[stage] = f"{trained.relative_to(session.dir)}/{what}"
        elif session.proposal(stage) is None and session.recorded_steps(stage) < session.spec.training.steps:
            untrained[stage] = f"{session.stage_dir(stage).relative_to(session.dir)}: metrics.jsonl or completions.parquet lacks some steps"
    return untrained


def problems_of(session: Session) -> list[str]:
    """All damage in the session's folder, from a check of every file."""
    steps, damages = session.spec.training.steps, []
    session.state(), session.events()
    for stage in (None, *range(session.spec.stages)):
        session.environment(stage), session.context(stage), session.proposal(stage), session.test(stage)
        validated = session.validation(stage) is not None
        if stage is None:
            continue
        session.given(stage)
        folder = session.stage_dir(stage)
        here = folder.relative_to(session.dir)
        if (folder / "policy").exists() and (what := damage(folder / "policy")):
            damages.append(f"{here}/policy/{what}")
        if validated and (recorded := session.recorded_steps(stage)) < steps:
            damages.append(f"{here}: metrics.jsonl or completions.parquet lacks steps from {recorded + 1} on")
    return [*session.problems, *damages]
