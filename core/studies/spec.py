"""The spec of a study (``study.json``): one session, the arms that it is run in, and the seeds that each arm is run with."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from frozenlab import seeds
from frozenlab.engineer.engineers import AnyEngineer
from frozenlab.engineer.guard import GuardSettings
from frozenlab.engineer.sections import SectionName
from frozenlab.engineer.server import Server
from frozenlab.errors import LabError
from frozenlab.loop.forks import CHANGEABLE
from frozenlab.loop.older import upgraded_arm
from frozenlab.loop.spec import SessionSpec

PROMPT_TOKENS = 3000
"""Tokens of one request to an engineer behind an API, estimated generously: in the recorded sessions with six and seven map sizes, the
prompt and the schema of the answer have 11 000 characters, at about four characters per token."""


class StudyError(LabError, ValueError):
    """A study does not exist, cannot be read or cannot be made; the message says which and why."""


class Arm(BaseModel):
    """One setting of a study: what its sessions change of the study's session. A field is None if it stays as it is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,49}$")]
    sections: tuple[SectionName, ...] | None = None
    engineer: AnyEngineer | None = None
    guard: GuardSettings | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_older(cls, given: Any) -> Any:
        return upgraded_arm(given) if isinstance(given, dict) else given

    @property
    def changes(self) -> dict[str, Any]:
        """The changes by name, as fields of a session's spec."""
        return {name: value for name in ("sections", "engineer", "guard") if (value := getattr(self, name)) is not None}


class StudySpec(BaseModel):
    """A grid of arms and seeds. Arms differ only in what affects proposals, so all arms of a seed share everything before the first
    proposal."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    title: Annotated[str, Field(min_length=1, max_length=120)]
    session: SessionSpec
    """The session that every cell runs, with the changes of its seed and its arm."""
    arms: Annotated[tuple[Arm, ...], Field(min_length=2)]
    seeds: Annotated[tuple[Annotated[int, Field(ge=0, lt=2**31)], ...], Field(min_length=1)]
    suite_by_seed: bool = False
    """Whether each seed has its own validation and test boards, the same for all its arms. If not, all seeds have the same boards, and the
    spread over seeds says nothing about other boards."""
    smallest_effect: Annotated[float, Field(gt=0, le=0.5)] = 0.01
    """Smallest effect of interest, as a difference of rates. An equivalence test can show that an effect is smaller."""
    prediction: Annotated[str, Field(max_length=4000)] = ""
    """The expected result and the stopping rule, written before the study begins."""

    @model_validator(mode="before")
    @classmethod
    def _read_older(cls, given: Any) -> Any:
        """Arms of version 1 leave to the session what its language model is given as engineer."""
        if not isinstance(given, dict) or not isinstance(given.get("session"), dict):
            return given
        arms = [upgraded_arm(arm, given["session"]) if isinstance(arm, dict) else arm for arm in given.get("arms", ())]
        return given | {"arms": arms}

    @model_validator(mode="after")
    def _check(self) -> Self:
        for what, named in (("arms", [arm.name for arm in self.arms]), ("seeds", self.seeds)):
            if len(set(named)) < len(named):
                raise ValueError(f"two {what} are the same")
        if self.session.stages < 2 and not self.session.ask_first:
            raise ValueError("a study needs sessions of two stages or more: the first ends before any engineer has been asked")
        for arm in self.arms:
            if "person" in self.spec_of(arm, self.seeds[0]).engineer.needs:
                raise ValueError(f"a study runs by itself, so the engineer of the arm {arm.name} cannot be human")
        for arm in self.arms[1:]:  # the others fork from the first
            if unforkable := sorted(set(arm.changes) - CHANGEABLE):
                raise ValueError(f"the arm {arm.name} changes {unforkable[0]!r}, but arms are forks, and a fork cannot have another one")
        return self

    def spec_of(self, arm: Arm, seed: int) -> SessionSpec:
        """The session spec of one cell. Raises ValueError (pydantic's ValidationError) for an arm that cannot be run."""
        title = f"{self.title}, {arm.name}, seed {seed}"[:120]
        return self.session.changed(**arm.changes, **self.suites_of(seed), seed=seed, title=title)

    def suites_of(self, seed: int) -> dict[str, Any]:
        """The suites of a seed, as fields of a session's spec."""
        suites = {name: suite for name in ("suite", "test") if (suite := getattr(self.session, name)) is not None}
        if not self.suite_by_seed:
            return suites
        return {
            name: suite.model_copy(update={"seed": seeds.derive(seed, "study/suite", number)})
            for number, (name, suite) in enumerate(suites.items())
        }

    @property
    def requests(self) -> int:
        """Number of requests to engineers behind an API, if each answer can be used."""
        return len(self.servers) * len(self.seeds) * self.proposals

    @property
    def proposals(self) -> int:
        """Number of proposals per session: one after every stage, and one before the first if the engineer is asked first."""
        return self.session.stages + self.session.ask_first

    @property
    def highest_cost(self) -> float | None:
        """Upper bound on the cost of these requests: PROMPT_TOKENS each, and answers of the greatest length. None if an arm has no
        price."""
        costs = [server.cost(PROMPT_TOKENS, server.max_tokens) for server in self.servers]
        priced = [cost for cost in costs if cost is not None]
        return sum(priced) * len(self.seeds) * self.proposals if len(priced) == len(costs) else None

    @property
    def servers(self) -> list[Server]:
        """The servers of the arms with an engineer behind an API."""
        return [server for arm in self.arms if (server := self.spec_of(arm, self.seeds[0]).engineer.server) is not None]

    def sections_of(self) -> dict[str, frozenset[SectionName]]:
        """The sections that each arm's engineer sees."""
        return {arm.name: frozenset(self.session.sections if arm.sections is None else arm.sections) for arm in self.arms}
