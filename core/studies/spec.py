"""The spec of a study (``study.json``): one session, the arms that it is run in, the students that it begins with, and the seeds."""

from __future__ import annotations

from dataclasses import dataclass
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
from frozenlab.policy.folders import student_label

PROMPT_TOKENS = 3000
"""Tokens of one request to an engineer behind an API, estimated generously: in the recorded sessions with six and seven map sizes, the
prompt and the schema of the answer have 11 000 characters, at about four characters per token."""

LONGEST_ID = 63
"""Characters of a session's id."""


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


@dataclass(frozen=True)
class Cell:
    """One arm with one seed and, in a study with students, one student."""

    arm: Arm
    seed: int
    student: str = ""
    """The policy that its session begins with; empty: the session's own."""
    number: int = 0
    """The student's place in the study, from 1 on; 0 without students."""

    @property
    def id(self) -> str:
        """The id of its session within the study."""
        of_student = f"-student{self.number}" if self.student else ""
        return f"{self.arm.name}{of_student}-s{self.seed}"

    @property
    def label(self) -> str:
        """The student's name in tables; empty without students."""
        return student_label(self.student) if self.student else ""


class StudySpec(BaseModel):
    """A grid of arms, students and seeds. Arms differ only in what affects proposals, so all arms of a student and seed share everything
    before the first proposal."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    title: Annotated[str, Field(min_length=1, max_length=120)]
    session: SessionSpec
    """The session that every cell runs, with the changes of its seed and its arm."""
    arms: Annotated[tuple[Arm, ...], Field(min_length=2)]
    seeds: Annotated[tuple[Annotated[int, Field(ge=0, lt=2**31)], ...], Field(min_length=1)]
    students: tuple[Annotated[str, Field(min_length=1, max_length=500)], ...] = ()
    """Policies that the sessions begin with, each run with every arm and seed: ``lab-model``, ``student:ID`` or the path of a checkpoint
    folder. Empty: the session's own policy."""
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
        students = [student_label(student) for student in self.students]
        for what, named in (("arms", [arm.name for arm in self.arms]), ("seeds", self.seeds), ("students", students)):
            if len(set(named)) < len(named):
                raise ValueError(f"two {what} are the same")
        if longest := next((cell.id for cell in self.cells if len(cell.id) > LONGEST_ID), None):
            raise ValueError(f"the name of the arm is too long: its cell {longest} has more than {LONGEST_ID} characters")
        if self.session.stages < 2 and not self.session.ask_first:
            raise ValueError("a study needs sessions of two stages or more: the first ends before any engineer has been asked")
        for arm in self.arms:
            if "person" in self.spec_of(arm, self.seeds[0]).engineer.needs:
                raise ValueError(f"a study runs by itself, so the engineer of the arm {arm.name} cannot be human")
        for arm in self.arms[1:]:  # the others fork from the first
            if unforkable := sorted(set(arm.changes) - CHANGEABLE):
                raise ValueError(f"the arm {arm.name} changes {unforkable[0]!r}, but arms are forks, and a fork cannot have another one")
        return self

    def spec_of(self, arm: Arm, seed: int, student: str = "") -> SessionSpec:
        """The session spec of one cell; without a student it begins with the session's own policy.

        Raises ValueError (pydantic's ValidationError) for an arm that cannot be run.
        """
        of_student = f", {student_label(student)}" if student else ""
        title = f"{self.title}, {arm.name}{of_student}, seed {seed}"[:120]
        policy = {"policy": student} if student else {}
        return self.session.changed(
            **arm.changes, **policy, **self.suites_of(seed, student), seed=self.session_seed(seed, student), title=title
        )

    @property
    def cells(self) -> list[Cell]:
        """All cells, seed by seed, so that an unfinished study is a study of fewer seeds. The other arms of a student and seed fork from
        the first arm."""
        students = list(enumerate(self.students, 1)) or [(0, "")]
        return [Cell(arm, seed, student, number) for seed in self.seeds for number, student in students for arm in self.arms]

    def session_seed(self, seed: int, student: str = "") -> int:
        """The seed of a cell's session. Students after the first have draws of their own, so that they are independent of each other."""
        number = self.student_number(student)
        return seeds.derive(seed, "study/session", number) if number else seed

    def student_number(self, student: str) -> int:
        """The place of a student, from 0 on; 0 without students too."""
        return self.students.index(student) if student else 0

    def suites_of(self, seed: int, student: str = "") -> dict[str, Any]:
        """The suites of a seed, as fields of a session's spec. Students after the first have suites of their own."""
        suites = {name: suite for name in ("suite", "test") if (suite := getattr(self.session, name)) is not None}
        if not self.suite_by_seed:
            return suites
        own = (number,) if (number := self.student_number(student)) else ()
        return {
            name: suite.model_copy(update={"seed": seeds.derive(seed, "study/suite", number, *own)})
            for number, (name, suite) in enumerate(suites.items())
        }

    @property
    def size_in_words(self) -> str:
        """``5 arms × 4 students × 6 seeds``."""
        students = f" × {len(self.students)} student{'s' if len(self.students) > 1 else ''}" if self.students else ""
        return f"{len(self.arms)} arms{students} × {len(self.seeds)} seeds"

    @property
    def units(self) -> int:
        """Number of units of statistics, each of which is run with every arm: seeds, or students with seeds."""
        return len(self.seeds) * max(1, len(self.students))

    @property
    def requests(self) -> int:
        """Number of requests to engineers behind an API, if each answer can be used."""
        return len(self.servers) * self.units * self.proposals

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
        return sum(priced) * self.units * self.proposals if len(priced) == len(costs) else None

    @property
    def servers(self) -> list[Server]:
        """The servers of the arms with an engineer behind an API."""
        return [server for arm in self.arms if (server := self.spec_of(arm, self.seeds[0]).engineer.server) is not None]

    def sections_of(self) -> dict[str, frozenset[SectionName]]:
        """The sections that each arm's engineer sees."""
        return {arm.name: frozenset(self.session.sections if arm.sections is None else arm.sections) for arm in self.arms}
