"""The spec of a study (``study.json``): one session, the arms that it is run in, the students that it begins with, and the seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from frozenlab.base import seeds
from frozenlab.base.cells import Config
from frozenlab.base.errors import one_line
from frozenlab.base.numbers import counted
from frozenlab.base.schemas import Strict
from frozenlab.engineer.controls import ScheduleEngineer
from frozenlab.engineer.hosts import Server
from frozenlab.engineer.sections import SectionName
from frozenlab.experiments.studies.grid import Arm, Cell, Primary
from frozenlab.jobs.machine import cores
from frozenlab.models.folders import student_label
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.session.forks import CHANGEABLE
from frozenlab.session.pace import Pace
from frozenlab.session.spec import SessionSpec

PROMPT_TOKENS = 3000
"""Tokens of one request to an engineer behind an API, estimated generously: in the recorded sessions with six and seven map sizes, the
prompt and the schema of the answer have 11 000 characters, at about four characters per token."""

LONGEST_ID = 63
"""Characters of a session's id."""


class StudySpec(Strict):
    """A grid of arms, students and seeds. All arms of a student and seed share base, held-out boards and random streams; arms that differ
    only in what affects proposals share everything before the first proposal."""

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
    final_suite: Annotated[str, Field(max_length=40, pattern=r"^[a-z0-9.-]*$")] = ""
    """A named suite, such as ``paper``, on which the last checkpoint of every session is measured when all are done. Empty: none."""
    smallest_effect: Annotated[float, Field(gt=0, le=0.5)] = 0.01
    """Smallest effect of interest, as a difference of rates. An equivalence test can show that an effect is smaller."""
    hypothesis: Annotated[str, Field(max_length=4000)] = ""
    """What the study is to test."""
    prediction: Annotated[str, Field(max_length=4000)] = ""
    """The expected result, written before the study begins."""
    stopping_rule: Annotated[str, Field(max_length=4000)] = ""
    """When the study ends, and what is done with sessions that failed."""
    primary: tuple[Primary, ...] = ()
    """The confirmatory comparisons. All others are exploratory."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        students = [student_label(student) for student in self.students]
        for what, named in (("arms", [arm.name for arm in self.arms]), ("seeds", self.seeds), ("students", students)):
            if len(set(named)) < len(named):
                raise ValueError(f"two {what} are the same")
        if longest := next((cell.id for cell in self.cells if len(cell.id) > LONGEST_ID), None):
            raise ValueError(f"the name of the arm is too long: its cell {longest} has more than {LONGEST_ID} characters")
        if self.session.stop_if:
            raise ValueError('a study runs every session to its end: leave "stop_if" out')
        if self.session.stages < 2 and not self.session.ask_first:
            raise ValueError("a study needs sessions of two stages or more: the first ends before any engineer has been asked")
        if self.final_suite and self.final_suite not in self.session.tasks.named_suites():
            raise ValueError(f"there is no suite {self.final_suite!r} of the family {self.session.tasks.name}")
        names = {arm.name for arm in self.arms}
        if unknown := next((arm for one in self.primary for arm in (one.arm, one.than) if arm not in names), None):
            raise ValueError(f"a primary comparison names the arm {unknown}, which the study does not have")
        if any(one.arm == one.than for one in self.primary) or len({*self.primary}) < len(self.primary):
            raise ValueError("each primary comparison is of two different arms, and is named once")
        for arm in self.arms:
            self._check_control(arm)
            try:
                own = self.spec_of(arm, self.seeds[0])
            except ValidationError as error:
                raise ValueError(f"the arm {arm.name} cannot be run: {one_line(error)}") from None
            if "person" in own.engineer.needs:
                raise ValueError(f"a study runs by itself, so the engineer of the arm {arm.name} cannot be human")
        for arm in self.arms[1:]:  # the others fork from the first
            if unforkable := sorted(set(arm.changes) - CHANGEABLE):
                raise ValueError(f"the arm {arm.name} changes {unforkable[0]!r}, but arms are forks, and a fork cannot have another one")
        return self

    def _check_control(self, arm: Arm) -> None:
        """Raises ValueError for an arm whose configs or draws are not to be had."""
        if arm.configs is not None:
            students = self.students or ("*",)
            if missing := sorted({*students} - {*arm.configs}) if "*" not in arm.configs else []:
                raise ValueError(f'the arm {arm.name} has no config for {missing[0]!r}, and none under "*" for all others')
            if unknown := sorted({*arm.configs} - {*students, "*"}):
                raise ValueError(f"the arm {arm.name} has a config for {unknown[0]!r}, which is no student of this study")
        if arm.yoked is not None:
            if not any(other.name == arm.yoked and other.yoked is None for other in self.arms):
                raise ValueError(f"the arm {arm.name} is yoked to {arm.yoked!r}, which is no arm with an engineer of its own")
            if arm == self.arms[0] or self.units < 2:
                raise ValueError(f"the arm {arm.name} cannot be yoked: that needs an arm before it, and two seeds or students")
        if arm.draws != self.arms[0].draws and not self.session.ask_first:
            raise ValueError(f'the arm {arm.name} has other draws than the first arm: that needs "ask_first", else arms share stage 1')

    def changed(self, **changes: Any) -> Self:
        """The study with other values. Raises ValueError (pydantic's ValidationError is one) where they are not valid."""
        return self.model_validate(self.model_dump() | changes)

    def spec_of(self, arm: Arm, seed: int, student: str = "", configs: Sequence[Config] = ()) -> SessionSpec:
        """The session spec of one cell; if no student is named, that of the first one, or of the session's own policy without students.

        Args:
            configs: those that a yoked arm gets; without any it keeps the initial config, as before the other session is done.

        Raises:
            ValueError: the arm cannot be run (pydantic's ValidationError is one).
        """
        student = student or next(iter(self.students), "")
        of_student = f", {student_label(student)}" if student else ""
        title = f"{self.title}, {arm.name}{of_student}, seed {seed}"[:120]
        own = self.session_seed(seed, student, arm.draws)
        changes = arm.changes | self.suites_of(seed, student) | ({"policy": student} if student else {})
        if arm.training is not None:
            changes["training"] = self.training_of(arm)
        if arm.configs is not None:
            changes["engineer"] = ScheduleEngineer(configs=(arm.configs.get(student) or arm.configs["*"],))
        elif arm.yoked is not None:
            changes["engineer"] = ScheduleEngineer(configs=tuple(configs) or (self.session.initial_config,))
        elif arm.engineer is not None:
            changes["engineer"] = arm.engineer.seeded(own)
        return self.session.changed(**changes, seed=own, title=title)

    def training_of(self, arm: Arm) -> TrainingSettings:
        """How the sessions of an arm train. Raises pydantic's ValidationError where that is not valid."""
        own, changes = self.session.training.model_dump(), arm.training or {}
        for setting, usual in (("method", "learning_rate"), ("schedule", "warmup_steps")):
            if changes.get(setting, own[setting]) != own[setting]:
                del own[usual]
        return TrainingSettings.model_validate(own | changes)

    @property
    def trains_alike(self) -> bool:
        """Whether arms differ in what they train on alone, so that the headroom of configs says something about their effects."""
        return not any(arm.training for arm in self.arms)

    def forks(self, arm: Arm) -> bool:
        """Whether the sessions of an arm share stage 1 with those of the first arm; if not, only the base before training."""
        return not self.session.ask_first and self.training_of(arm) == self.training_of(self.arms[0])

    def source_of(self, cell: Cell) -> Cell | None:
        """The cell whose configs a yoked cell gets; None for other cells."""
        arm = next((arm for arm in self.arms if arm.name == cell.arm.yoked), None)
        if arm is None:
            return None
        if len(self.students) > 1:
            number = cell.number % len(self.students)
            return Cell(arm, cell.seed, self.students[number], number + 1)
        return Cell(arm, self.seeds[(self.seeds.index(cell.seed) + 1) % len(self.seeds)], cell.student, cell.number)

    @property
    def cells(self) -> list[Cell]:
        """All cells, seed by seed, so that an unfinished study is a study of fewer seeds. The other arms of a student and seed begin with
        what they share with the first arm."""
        students = list(enumerate(self.students, 1)) or [(0, "")]
        return [Cell(arm, seed, student, number) for seed in self.seeds for number, student in students for arm in self.arms]

    def session_seed(self, seed: int, student: str = "", draws: int = 0) -> int:
        """The seed of a cell's session. Students after the first have draws of their own, so that they are independent of each other."""
        number = self.student_number(student)
        return seeds.derive(seed, "study/session", number, draws) if number or draws else seed

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
        students = f" × {counted(len(self.students), 'student')}" if self.students else ""
        return f"{len(self.arms)} arms{students} × {counted(len(self.seeds), 'seed')}"

    @property
    def units(self) -> int:
        """Number of units of statistics, each of which is run with every arm: seeds, or students with seeds."""
        return len(self.seeds) * max(1, len(self.students))

    def seconds(self, pace: Pace, jobs: int) -> float:
        """How long it takes with so many sessions at a time, at the pace of one that has run. All arms but the first have the base of the
        first, measured."""
        tasks, arms = self.session.tasks, len(self.arms)
        final = tasks.suite_total(tasks.named_suites()[self.final_suite]) * pace.answer if self.final_suite else 0.0
        of_arms = [pace.seconds(self.spec_of(arm, self.seeds[0]), forked=arm != self.arms[0]) for arm in self.arms]
        return self.units * (sum(of_arms) + arms * final) / jobs

    def effort(self, pace: Pace, jobs: int) -> str:
        """What it takes on this machine: ``About 22 min, judging by Quick session: 24 sessions, 2 at a time on 2 cores, with ...``"""
        at_once, stages = min(jobs, cores(), len(self.cells)), self.session.stages
        boards = self.units * (len(self.arms) * stages + 1) * sum(self.session.held_out)
        return (
            f"{pace.judged(self.seconds(pace, at_once))}: {len(self.cells)} sessions, {at_once} at a time on {counted(cores(), 'core')}, "
            f"with {boards:,} answers to held-out boards in all"
        )

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
