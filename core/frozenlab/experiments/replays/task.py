"""The task of a replay: which engineers are asked about one stage of a session, with which sections, how often, and whether they can be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError, model_validator

from frozenlab.base.errors import LabError, one_line
from frozenlab.base.schemas import Strict
from frozenlab.engineer.engineers import BY_NAME, UNATTENDED, engineer_of
from frozenlab.engineer.engineers.own_model import ASKED
from frozenlab.engineer.hosts import Server
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.sections import USUAL, SectionName
from frozenlab.experiments.studies.arms import PAPER_SECTIONS, SHOWING, engineer_arms, only_one, ordered, section_arms, without_one
from frozenlab.experiments.studies.grid import Arm
from frozenlab.models.folders import nowhere, weights_file
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore

MOST_SAMPLES = 200


class ReplayError(LabError, ValueError):
    """A replay cannot be made, read or thrown away; the message says why."""


class ReplayTask(Strict):
    """``task.json``: the stage, the arms, and how often each is asked."""

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
    """Seed of the answers."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        names = [arm.name for arm in self.arms]
        if len(set(names)) < len(names):
            raise ValueError("two arms are the same")
        return self

    @property
    def reference(self) -> str:
        return self.arms[0].name

    @property
    def total(self) -> int:
        """Total number of answers."""
        return len(self.arms) * self.samples


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
    fixed = {"title": f"{session.title}, stage {stage + 1}: {what}"[:200], "session": session.address, "folder": folder and str(folder)}
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
    if not kind.needs_weights(session.spec.language):
        return None
    if weights_file(policy := session.stage_dir(stage) / "policy") is None:
        return f"the engineer {engineer} needs the weights of stage {stage + 1}, which {session.id} does not have"
    return nowhere(str(policy))


def askable(session: Session, stage: int) -> list[str]:
    """The engineers that can be asked about a stage without further settings: all without an obstacle that need none, or whose settings
    the session has."""
    ready = [name for name in UNATTENDED if not BY_NAME[name].required() or session.spec.engineer.kind == name]
    return [name for name in ready if obstacle(session, stage, name) is None]


def validated_stages(session: Session) -> list[int]:
    """The stages (0-based) with validation results. Only checks for the files."""
    return [stage for stage in range(session.spec.stages) if (session.stage_dir(stage) / "validation.parquet").exists()]


def one_at_a_time(varied: Sequence[SectionName] = USUAL) -> tuple[Arm, ...]:
    """All sections, no section, and each of the varied sections alone."""
    return (Arm(name="all", sections=ordered([*USUAL, *varied])), *only_one(varied))


SECTION_KINDS: dict[str, Callable[[Sequence[SectionName]], tuple[Arm, ...]]] = {
    "sections": section_arms,
    "leave-one-out": without_one,
    "one-at-a-time": one_at_a_time,
}
"""Ways to vary the sections that one engineer sees, by name. The first arm of each shows all sections."""
TWO_BY_TWO = "two-by-two"
KINDS = (*SECTION_KINDS, "engineers", TWO_BY_TWO)
"""All ways in which arms may differ."""


def varied_sections(kind: str, chosen: Sequence[SectionName] | None) -> tuple[SectionName, ...]:
    """The chosen sections, or the defaults of a kind: the paper's three for all combinations, otherwise all."""
    return tuple(chosen) if chosen is not None else PAPER_SECTIONS if kind == "sections" else USUAL


def arms_of_sections(kind: str, sections: Sequence[SectionName], engineer: EngineerSpec | None = None) -> tuple[Arm, ...]:
    """Arms of one engineer (None: the session's) with these sections on and off, in one of the SECTION_KINDS."""
    return tuple(arm.model_copy(update={"engineer": engineer}) for arm in SECTION_KINDS[kind](sections))


def arms_two_by_two(session: SessionSpec) -> tuple[Arm, ...]:
    """The checkpoint and the base, each with what the session shows of the model's failures and behaviour, and without it.

    If the checkpoint knows something about itself that the context does not say, it loses less without. Models that were taught
    self-assessment ask themselves first.
    """
    asks = ASKED if session.training.self_assessment else 0
    withheld = [section for section in session.sections if section not in SHOWING]
    arms = []
    for name in ("policy", "base"):
        engineer = engineer_of(name, session.engineer)
        own = engineer.model_copy(update={"asks_itself": asks}) if asks else engineer
        arms += [Arm(name=f"{name}-shown", engineer=own), Arm(name=f"{name}-withheld", engineer=own, sections=ordered(withheld))]
    return tuple(arms)


def arms_of_engineers(engineers: Iterable[EngineerSpec], own: str) -> tuple[Arm, ...]:
    """Arms of several engineers, all with the session's sections. Its ``own`` engineer comes first, as the reference arm."""
    order = list(BY_NAME)
    by_kind = {engineer.kind: engineer for engineer in engineers}
    return engineer_arms(sorted(by_kind.values(), key=lambda engineer: (engineer.kind != own, order.index(engineer.kind))))
