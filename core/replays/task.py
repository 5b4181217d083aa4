"""Frozen-evidence replays: questions about one stage of a session, and the folder that keeps the answers.

replays/<id>/
  task.json         what is asked, written once
  state.json        state of the process that asks
  answers.parquet   one row per answer so far: arm, sample, and the proposal's whole record as JSON

The session is only read. A replay can be stopped or killed; it shows the answers it has and resumes from there.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, Self

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from frozenlab import places
from frozenlab.engineer import hosts
from frozenlab.engineer.engineers import BY_NAME, UNATTENDED
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.schema import ProposalRecord
from frozenlab.engineer.sections import USUAL, SectionName
from frozenlab.engineer.server import Server
from frozenlab.errors import LabError, one_line
from frozenlab.files import write_parquet
from frozenlab.jobs.folders import find_folder, make_folder, readable
from frozenlab.jobs.job import Job
from frozenlab.jobs.launcher import launching, spawn
from frozenlab.jobs.state import SLOW_STALLED_AFTER, STALLED_AFTER, WorkerState, read_state
from frozenlab.loop.session import Session
from frozenlab.loop.spec import SessionSpec
from frozenlab.loop.store import SessionStore
from frozenlab.policy.folders import weights_file
from frozenlab.studies.spec import PAPER_SECTIONS, Arm, engineer_arms, only_one, section_arms, without_one

MOST_SAMPLES = 200


class ReplayError(LabError, ValueError):
    """A replay cannot be made, read or thrown away; the message says why."""


SHIPPED = places.ASSETS / "replays"
"""The replays that ship with FrozenLab."""


class Answer(NamedTuple):
    """One answer of an arm's engineer. ``sample`` counts from 0; answers of the same number had the same random draws."""

    arm: str
    sample: int
    record: ProposalRecord


class ReplayTask(BaseModel):
    """``task.json``: the stage, the arms, and how often each is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    title: Annotated[str, Field(min_length=1, max_length=200)]
    session: str
    """Its id."""
    folder: str | None = None
    """Absolute path of the session if it does not lie among the others."""
    stage: Annotated[int, Field(ge=0)]
    """0-based. The arms are asked for the proposal after it."""
    arms: Annotated[tuple[Arm, ...], Field(min_length=1)]
    """Who is asked, with which sections; the first is the reference arm."""
    samples: Annotated[int, Field(ge=1, le=MOST_SAMPLES)] = 16
    """Answers per arm."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [arm.name for arm in self.arms]
        if len(set(names)) < len(names):
            raise ValueError("two arms are the same")
        return self

    @property
    def reference(self) -> str:
        """The reference arm."""
        return self.arms[0].name

    @property
    def total(self) -> int:
        """Total number of answers."""
        return len(self.arms) * self.samples


class Replay(Job):
    """One replay folder, opened for reading."""

    kind = "replay"

    def __init__(self, folder: Path) -> None:
        """Raises ReplayError if there is no readable ``task.json``."""
        self.dir, self.id = folder, folder.name
        try:
            self.task = ReplayTask.model_validate_json((folder / "task.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            reason = one_line(error)
            raise ReplayError(f"replay {self.id!r}: task.json cannot be read: {reason}") from None

    @property
    def title(self) -> str:
        return self.task.title

    @property
    def session(self) -> Session:
        """The session of the replay. Raises SessionError if it does not exist any more."""
        return session_of(self.task, SessionStore(self.dir.parents[1]))

    @property
    def patience(self) -> float:
        """Language models take their time, here or behind an API."""
        specs = [spec_of(arm, self.session) for arm in self.task.arms]
        slow = any(spec.engineer.slow(spec.language) for spec in specs)
        return SLOW_STALLED_AFTER if slow else STALLED_AFTER

    @property
    def online(self) -> bool:
        return self.session.spec.online

    def state(self) -> WorkerState:
        return read_state(self.dir)

    def answers(self) -> list[Answer]:
        """The answers so far, in the order in which they came. Raises ReplayError if they cannot be read."""
        path = self.dir / "answers.parquet"
        if not path.exists():
            return []
        try:
            rows = pd.read_parquet(path, columns=["arm", "sample", "record"])
            return [
                Answer(str(arm), int(sample), ProposalRecord.model_validate_json(record))
                for arm, sample, record in rows.itertuples(index=False)
            ]
        except Exception as error:  # a damaged table can make its reader raise anything
            raise ReplayError(f"replay {self.id!r}: answers.parquet cannot be read: {one_line(error)}") from None


def write_answers(folder: Path, answers: Sequence[Answer]) -> None:
    """Replace ``answers.parquet``."""
    rows = [(answer.arm, answer.sample, answer.record.model_dump_json()) for answer in answers]
    write_parquet(folder / "answers.parquet", pd.DataFrame(rows, columns=["arm", "sample", "record"]))


# --- what is asked ---------------------------------------------------------------------------------------------------


def one_at_a_time(varied: Sequence[SectionName] = USUAL) -> tuple[Arm, ...]:
    """All sections, no section, and each of the varied sections alone."""
    return (Arm(name="all", sections=USUAL), *only_one(varied))


SECTION_KINDS: dict[str, Callable[[Sequence[SectionName]], tuple[Arm, ...]]] = {
    "sections": section_arms,
    "leave-one-out": without_one,
    "one-at-a-time": one_at_a_time,
}
"""Ways to vary the sections that one engineer sees, by name. The first arm of each shows all sections."""
KINDS = (*SECTION_KINDS, "engineers")
"""All ways in which arms may differ."""


def varied_sections(kind: str, chosen: Sequence[SectionName] | None) -> tuple[SectionName, ...]:
    """The chosen sections, or the defaults of a kind: the paper's three for all combinations, otherwise all."""
    return tuple(chosen) if chosen is not None else PAPER_SECTIONS if kind == "sections" else USUAL


def arms_of_sections(kind: str, sections: Sequence[SectionName], engineer: EngineerSpec | None = None) -> tuple[Arm, ...]:
    """Arms of one engineer (None: the session's) with these sections on and off, in one of the SECTION_KINDS."""
    return tuple(arm.model_copy(update={"engineer": engineer}) for arm in SECTION_KINDS[kind](sections))


def arms_of_engineers(engineers: Iterable[EngineerSpec], own: str) -> tuple[Arm, ...]:
    """Arms of several engineers, all with the session's sections. Its ``own`` engineer comes first, as the reference arm."""
    order = list(BY_NAME)
    by_kind = {engineer.kind: engineer for engineer in engineers}
    return engineer_arms(sorted(by_kind.values(), key=lambda engineer: (engineer.kind != own, order.index(engineer.kind))))


def task_for(session: Session, stage: int, arms: Sequence[Arm], what: str, *, folder: Path | None = None, **fields: int) -> ReplayTask:
    """The task of asking these arms after ``stage`` (0-based) of a session.

    Args:
        what: what differs between the arms, in a word or two, for the title.
        folder: folder of the session, if it does not lie among the others.
        fields: other fields of :class:`ReplayTask`, such as ``samples``.

    Raises:
        SessionError: the stage has not been validated.
        ReplayError: an arm cannot be asked, or a field is not valid.
    """
    session.measurements(stage)
    for arm in arms:
        if reason := obstacle(session, stage, spec_of(arm, session).engineer.kind):
            raise ReplayError(f"the arm {arm.name} cannot be asked: {reason}")
    fixed = {"title": f"{session.title}, stage {stage + 1}: {what}"[:200], "session": session.id, "folder": folder and str(folder)}
    try:
        return ReplayTask.model_validate(fixed | {"stage": stage, "arms": tuple(arms)} | fields)
    except ValidationError as error:
        raise ReplayError(one_line(error)) from None


def session_of(task: ReplayTask, store: SessionStore) -> Session:
    """The session of the replay. Raises SessionError if it does not exist any more."""
    return store.open(task.session) if task.folder is None else Session(Path(task.folder))


def servers(task: ReplayTask, session: Session) -> list[Server]:
    """The servers of the task's arms."""
    return [server for arm in task.arms if (server := spec_of(arm, session).engineer.server) is not None]


def spec_of(arm: Arm, session: Session) -> SessionSpec:
    """The session's spec with the changes of an arm. Raises ReplayError if they are not compatible."""
    try:
        return session.spec.changed(**arm.changes)
    except ValidationError as error:
        raise ReplayError(f"the arm {arm.name} cannot be asked: {one_line(error)}") from None


def obstacle(session: Session, stage: int, engineer: str) -> str | None:
    """The reason why the engineer of this name cannot be asked about a stage; None if it can."""
    kind = BY_NAME[engineer]
    if "person" in kind.needs:
        return "its engineer is a person, who is not asked again and again"
    if kind.needs_weights(session.spec.language) and weights_file(session.stage_dir(stage) / "policy") is None:
        return f"the engineer {engineer} needs the weights of stage {stage + 1}, which {session.id} does not have"
    return None


def askable(session: Session, stage: int) -> list[str]:
    """The engineers that can be asked about a stage without further settings: all without an obstacle that need none, or whose settings
    the session has."""
    ready = [name for name in UNATTENDED if not BY_NAME[name].required() or session.spec.engineer.kind == name]
    return [name for name in ready if obstacle(session, stage, name) is None]


def validated_stages(session: Session) -> list[int]:
    """The stages (0-based) with validation results. Only checks for the files."""
    return [stage for stage in range(session.spec.stages) if (session.stage_dir(stage) / "validation.parquet").exists()]


# --- the folders -----------------------------------------------------------------------------------------------------


def replays_folder(store: SessionStore) -> Path:
    return store.root / "replays"


def create(task: ReplayTask, store: SessionStore, replay_id: str | None = None) -> Replay:
    """Create a folder with ``task.json`` and a queued state. Raises ReplayError if the id is invalid or taken."""
    root = replays_folder(store)
    return Replay(make_folder(root, replay_id, "task.json", task, title=task.title, kind="replay", error=ReplayError))


def start(task: ReplayTask, store: SessionStore) -> Replay:
    """Starts to ask, as ``frozenlab replay`` does in the foreground. Raises LaunchError while another job runs, HostError if an engineer's
    server is not allowed on this machine."""
    hosts.check(servers(task, session_of(task, store)))
    with launching(store.root):
        replay = create(task, store)
        spawn(replay)
    return replay


def resume(replay: Replay, store: SessionStore) -> None:
    """Starts a worker that asks for the answers that a replay lacks. Raises what :func:`start` raises, and SessionError if the stage that
    it asks about is gone."""
    hosts.check(servers(replay.task, replay.session))
    with launching(store.root):
        replay.session.measurements(replay.task.stage)  # before the replay is called queued
        spawn(replay)


def replays(store: SessionStore) -> list[Replay]:
    """Every readable replay of the user, newest first."""
    tasks = sorted(replays_folder(store).glob("*/task.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    return readable(tasks, Replay, ReplayError)


def shipped() -> list[Replay]:
    """The replays that ship with the project."""
    return readable(sorted(SHIPPED.glob("*/task.json")), Replay, ReplayError)


def open_replay(replay_id: str, store: SessionStore) -> Replay:
    """Open one of the user's replays. Raises ReplayError if there is none with this id."""
    return Replay(find_folder(replays_folder(store), replay_id, kind="replay", error=ReplayError))


def throw_away(replay: Replay) -> None:
    """Delete one of the user's replays. Raises ReplayError if it is running."""
    if replay.state().live:
        raise ReplayError(f"{replay.id} is running; stop it first")
    (replay.dir / "task.json").unlink(missing_ok=True)  # first the file that makes it a replay, so that nobody reads half of one
    shutil.rmtree(replay.dir)
