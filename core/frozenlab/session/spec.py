"""The spec of a session: every setting of one run of the loop, and every seed (``session.json``)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from frozenlab.base.numbers import counted
from frozenlab.base.schemas import Strict, not_older
from frozenlab.engineer.controls import OnceEngineer
from frozenlab.engineer.dialects.plain import least_budget
from frozenlab.engineer.engineers import AnyEngineer, PolicyEngineer, engineer_of
from frozenlab.engineer.engineers.own_model import ModelEngineer
from frozenlab.engineer.guard import GuardSettings
from frozenlab.engineer.protocol import Models
from frozenlab.engineer.schema import Setting
from frozenlab.engineer.sections import USUAL, SectionName
from frozenlab.jobs.machine import LAB_MODEL, Needs, language_model
from frozenlab.models.folders import on_hub
from frozenlab.models.policy import Policy
from frozenlab.models.settings import LanguageSettings
from frozenlab.models.training.methods import BY_NAME, TrainingSettings, title_of
from frozenlab.session.health.rules import RuleName
from frozenlab.tasks.families import AnyConfig, AnySuite, family_of
from frozenlab.tasks.family import Family


class Parent(Strict):
    """Where a fork comes from."""

    session: str
    stage: Annotated[int, Field(ge=0)]
    """The last stage that both have, 0-based; the proposal after it is the fork's own."""


class SessionSpec(Strict):
    """Everything that decides a session. Written once to ``session.json``, never edited."""

    schema_version: Annotated[Literal[2, 3], BeforeValidator(not_older)] = 3
    """From 3 on the first step learns with every schedule, a language model cannot give a cell a share of 0, and its rationale is
    bounded, so that the answer ends within its budget. One of version 2 goes on as it began."""
    title: Annotated[str, Field(max_length=120)] = ""
    """The name that people see."""
    policy: str = "lab-model"
    """The model that is trained: ``lab-model`` (the shipped one), ``student:ID`` (a planted student) or the path of a checkpoint folder;
    with ``language``, ``smollm2`` and ``smollm2-planner`` (once ``smollm2`` is fetched) and the name of a model on the hub too."""
    language: LanguageSettings | None = None
    """How the policy is loaded, asked and trained if it is a Hugging Face language model; None: it is a lab model."""
    engineer: AnyEngineer = PolicyEngineer()
    """Who proposes the next config. In a file its name alone stands for the usual settings."""
    sections: tuple[SectionName, ...] = USUAL
    """The context sections the engineer sees."""
    layouts: tuple[Setting, ...] = ()
    """The layouts an engineer may give a map size; without any, every size keeps those of the initial config."""
    stages: Annotated[int, Field(ge=1, le=50)] = 3
    """How often the loop runs: train, validate, propose."""
    initial_config: AnyConfig
    training: TrainingSettings = TrainingSettings()
    suite: AnySuite
    """The validation boards: held out from training, read by the engineer after each stage."""
    test: AnySuite | None = None
    """The test boards, for results: no engineer reads them, no stage trains on them, and boards that are also validation boards are
    replaced by the next ones. None: results come from the validation boards."""
    ask_first: bool = False
    """Whether the engineer is asked before the first stage too, from the validation of the base."""
    guard: GuardSettings = GuardSettings()
    stop_if: tuple[RuleName, ...] = ()
    """Rules of health (:mod:`frozenlab.session.health.rules`) that stop the session when one of them gives an alarm. Resumed, it looks at
    new steps only."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    """Seed of all random draws. The same spec with the same seed draws the same boards everywhere."""
    parent: Parent | None = None
    """Of a fork, the session that it was until then; None for one that began at the beginning."""

    @property
    def tasks(self) -> Family:
        """The task family."""
        return family_of(self.initial_config.family)

    @property
    def held_out(self) -> tuple[int, int]:
        """The validation tasks and the test tasks."""
        validation, test = (0 if suite is None else self.tasks.suite_size(suite, self.initial_config) for suite in (self.suite, self.test))
        return validation, test

    @property
    def heavy(self) -> bool:
        """Whether what training needs to go on from a stage is too large to be kept for forks: all weights of a language model."""
        return self.language is not None and self.language.lora is None

    @property
    def online(self) -> bool:
        """Whether its model is looked up on the hub."""
        return self.language is not None and on_hub(self.policy)

    @property
    def needs(self) -> Needs:
        """What its worker takes of a machine; the memory of a processor beside (:func:`frozenlab.session.footprint.needs`)."""
        if self.language is None:
            return LAB_MODEL
        return language_model(0 if self.language.device == "cpu" else self.processes)

    @property
    def processes(self) -> int:
        """That train together."""
        return self.language.launcher.processes if self.language else 1

    def but(self, *fields: str) -> str:
        """What the spec says besides these fields: the same in specs that differ in nothing else, whatever version wrote them."""
        return self.model_dump_json(exclude={"schema_version", *fields})

    def changed(self, **changes: Any) -> Self:
        """The spec with other values. An engineer may be given by its name: one of the same kind keeps the settings that it has.

        Raises ValueError (pydantic's ValidationError is one) where they are not valid.
        """
        if isinstance(name := changes.get("engineer"), str):
            changes["engineer"] = engineer_of(name, self.engineer)
        return self.model_validate(self.model_dump() | changes)

    def models(self, current: Policy | None) -> Models:
        """The models for its engineer; ``current`` is the one that is trained."""
        return Models(self.policy, self.language, current, self.initial_config, self.schema_version)

    @model_validator(mode="after")
    def _check(self) -> Self:
        suites = [suite for suite in (self.suite, self.test) if suite is not None]
        if other := next((suite.family for suite in suites if suite.family != self.initial_config.family), None):
            raise ValueError(f"the config is of the family {self.initial_config.family}, a suite of {other}")
        if unknown := [part for part in self.layouts if part not in self.tasks.parts]:
            raise ValueError(f"there is no layout {unknown[0]!r}; there is {', '.join(self.tasks.parts) or 'none'}")
        method = BY_NAME[self.training.method]
        if method.teacher and self.tasks.teacher is None:
            raise ValueError(f"{method.title} needs a teacher, which the family {self.tasks.name} has not")
        if self.training.overlong != "counted" and self.language is None:
            raise ValueError('"overlong" is about answers of a language model; a lab model has a limit for each board')
        if self.training.self_assessment and (self.language is not None or not self.training.method.endswith("grpo")):
            raise ValueError("self-assessment is taught to a lab model that trains by GRPO, and to no other")
        if self.ask_first and "person" in self.engineer.needs:
            raise ValueError('a person is first asked after stage 1: leave "ask_first" out')
        if isinstance(own := self.engineer, OnceEngineer) and not (self.ask_first if own.after is None else own.after < self.stages):
            raise ValueError('"once" would never be asked: "after" has to be a stage of the session (0 is the first), or "ask_first" true')
        return self

    @model_validator(mode="after")
    def _check_language(self) -> Self:
        if self.language is None:
            return self
        self.tasks.asked(self.language.question)
        training, rows, processes = self.training, self.language.rows, self.language.launcher.processes
        author = self.engineer.author
        if isinstance(author, ModelEngineer) and author.asks_itself:
            raise ValueError('"asks_itself" is for a lab model, which has words to say what it believes; a language model has not')
        if isinstance(author, ModelEngineer) and author.max_tokens >= self.language.context:
            raise ValueError(f"a proposal may take {author.max_tokens} tokens, but prompt and answer together only {self.language.context}")
        if isinstance(author, ModelEngineer) and self.schema_version > 2:
            least = least_budget(self.initial_config, self.tasks, self.layouts)
            if author.max_tokens < least:
                cells = counted(len(self.initial_config.cells), "cell")
                raise ValueError(
                    f"a proposal about {cells} may take {least} tokens: the engineer's max_tokens of {author.max_tokens} is too low"
                )
        if not BY_NAME[training.method].language:
            raise ValueError(f"a language model trains by GRPO; {title_of(training.method)} needs the lab model")
        if self.policy == "lab-model":
            raise ValueError('"language" is about a Hugging Face model: name it in "policy"')
        if training.boards_per_step % processes:
            raise ValueError(f"{processes} processes cannot share {training.boards_per_step} boards a step evenly")
        plans = training.plans_per_step
        if plans % (rows * processes):
            raise ValueError(
                f"{plans} plans a step do not come out even in passes of {rows} in {processes} process{'es' if processes > 1 else ''}: "
                f'"rows" has to divide {plans // processes}'
            )
        return self
