"""The spec of a study (``study.json``): one session, the arms that it is run in, and the seeds that each arm is run with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from frozenlab import seeds
from frozenlab.engineer.engineers import AnyEngineer, engineer_of
from frozenlab.engineer.guard import GuardSettings
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.sections import NAMES, USUAL, SectionName
from frozenlab.engineer.server import Server
from frozenlab.errors import LabError
from frozenlab.loop.forks import CHANGEABLE
from frozenlab.loop.older import upgraded_arm
from frozenlab.loop.presets import preset_spec
from frozenlab.loop.spec import SessionSpec

PAPER_SECTIONS: tuple[SectionName, ...] = ("failures", "statistics", "preserved")
"""The sections whose usefulness the paper studies."""
PAPER_ENGINEERS: tuple[str, ...] = ("policy", "base", "rules", "uniform", "fixed")
"""The current checkpoint, the model before training, and the baselines."""
GUARDS = {"usual": GuardSettings(), "strict": GuardSettings(max_step=0.05), "loose": GuardSettings(max_step=1.0)}
"""Guards of three strengths. They differ only in the largest step of a ratio; the smallest share of a size stays the same. The rules and
the lab model step by 0.1, so the strict guard halves their steps, and loose differs from usual only for an engineer that goes further."""
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


def section_arms(varied: Sequence[SectionName] = PAPER_SECTIONS) -> tuple[Arm, ...]:
    """Every combination of the varied sections (2^k arms), the others always shown; from all of them to none."""
    others = [section for section in USUAL if section not in varied]
    shown = [chosen for n in range(len(varied), -1, -1) for chosen in combinations(varied, n)]
    return tuple(Arm(name="-".join(chosen) or "none", sections=ordered([*others, *chosen])) for chosen in shown)


def without_one(varied: Sequence[SectionName] = USUAL) -> tuple[Arm, ...]:
    """All sections, and all but each of the varied ones."""
    arms = [Arm(name=f"no-{left}", sections=ordered([section for section in USUAL if section != left])) for left in varied]
    return (Arm(name="all", sections=USUAL), *arms)


def only_one(varied: Sequence[SectionName] = USUAL) -> tuple[Arm, ...]:
    """No section, and each of the varied ones alone."""
    return (Arm(name="none", sections=()), *(Arm(name=f"only-{section}", sections=(section,)) for section in varied))


def engineer_arms(engineers: Sequence[EngineerSpec]) -> tuple[Arm, ...]:
    """One arm per engineer, named after it."""
    return tuple(Arm(name=engineer.kind, engineer=engineer) for engineer in engineers)


def guard_arms() -> tuple[Arm, ...]:
    return tuple(Arm(name=name, guard=guard) for name, guard in GUARDS.items())


def guidance_arms(session: SessionSpec, engineer: EngineerSpec | None = None) -> tuple[Arm, ...]:
    """One engineer (None: the session's) with and without the paper's two lessons in its prompt.

    Raises:
        StudyError: that engineer reads no prompt in words.
    """
    asked = engineer or session.engineer
    if asked.takes_guidance(session.language):
        return tuple(
            Arm(name=name, engineer=asked.model_copy(update={"guidance": given})) for name, given in (("guided", True), ("unguided", False))
        )
    who = "a lab model" if "model" in asked.needs else f"the engineer {asked.kind}"
    needed = "an engineer behind an API, or a session that trains a language model"
    raise StudyError(f"{who} reads no instructions in words: the study guidance needs {needed}")


def current_name(name: str) -> str:
    """The name of a study or of a way to vary the sections, given its current or its earlier name."""
    return FORMER_NAMES.get(name, name)


def ordered(sections: Sequence[SectionName]) -> tuple[SectionName, ...]:
    return tuple(section for section in NAMES if section in sections)


# --- ready to run ----------------------------------------------------------------------------------------------------

SEEDS = {"sections": 3, "leave-one-out": 3, "one-at-a-time": 3, "engineers": 5, "guard": 5, "guidance": 5}
"""Default number of seeds of each ready-made study."""
FORMER_NAMES = {"left-out": "leave-one-out", "alone": "one-at-a-time"}
"""Earlier names of ways to vary the sections, still read on the command line."""


def sections_study(seeds: int = SEEDS["sections"], session: SessionSpec | None = None) -> StudySpec:
    """The study sections: every combination of the three sections named by the paper."""
    return _study("Which context helps the engineer?", section_arms(), seeds, session)


def leave_one_out_study(seeds: int = SEEDS["leave-one-out"], session: SessionSpec | None = None) -> StudySpec:
    """The study leave-one-out: all sections, and all but one, for each of them."""
    return _study("Which section is missed?", without_one(), seeds, session)


def one_at_a_time_study(seeds: int = SEEDS["one-at-a-time"], session: SessionSpec | None = None) -> StudySpec:
    """The study one-at-a-time: no section, and each section alone."""
    return _study("What does a section do by itself?", only_one(), seeds, session)


def engineers_study(
    seeds: int = SEEDS["engineers"],
    session: SessionSpec | None = None,
    engineers: Sequence[str | EngineerSpec] = PAPER_ENGINEERS,
) -> StudySpec:
    """The study engineers: several engineers, by default the paper's, without its lessons. The first is the reference arm.

    An engineer that is given by its name has the settings of the session's engineer, if that is the same, or the usual ones. Raises
    EngineerError as :func:`engineer_of` does.
    """
    own = session or preset_spec("study")
    asked = [engineer_of(one, own.engineer) if isinstance(one, str) else one for one in engineers]
    return _study("Who is a good engineer?", engineer_arms([unguided(one, own) for one in asked]), seeds, own)


def guard_study(seeds: int = SEEDS["guard"], session: SessionSpec | None = None) -> StudySpec:
    """The study guard: how far a proposal may move a ratio; see GUARDS."""
    return _study("How far may a proposal go?", guard_arms(), seeds, session)


def guidance_study(seeds: int = SEEDS["guidance"], session: SessionSpec | None = None, engineer: EngineerSpec | None = None) -> StudySpec:
    """The study guidance: the paper's two lessons in the prompt or not. Raises StudyError as :func:`guidance_arms` does."""
    own = session or preset_spec("study")
    return _study("Do the lessons in the prompt help?", guidance_arms(own, engineer), seeds, own)


def _study(title: str, arms: tuple[Arm, ...], seeds: int, session: SessionSpec | None) -> StudySpec:
    """A study of the first ``seeds`` seeds, with sessions of the preset ``study`` unless another session is given.

    For any session, results come from test boards, each seed has its own boards, the engineer is asked before the first stage, and its
    prompt has no lessons, which would be a second cause next to the difference of the arms. A learning rate that falls over the session
    falls in each stage instead, so that late proposals count as much as early ones.
    """
    own = session or preset_spec("study")
    changes: dict[str, Any] = {"test": own.test or own.suite, "ask_first": True}
    if own.training.schedule == "linear":
        changes["training"] = own.training.scheduled("per-stage")
    changes["engineer"] = unguided(own.engineer, own)
    if "person" in own.engineer.needs:
        if arms[0].engineer is None:
            raise ValueError("a study runs by itself, so its engineer cannot be human")
        changes |= arms[0].changes
    return StudySpec(title=title, session=own.changed(**changes), arms=arms, seeds=tuple(range(seeds)), suite_by_seed=True)


def unguided(engineer: EngineerSpec, session: SessionSpec) -> EngineerSpec:
    """The same engineer without the paper's two lessons, if it could read them."""
    return engineer.model_copy(update={"guidance": False}) if engineer.takes_guidance(session.language) else engineer


STUDIES: dict[str, Callable[..., StudySpec]] = {
    "sections": sections_study,
    "leave-one-out": leave_one_out_study,
    "one-at-a-time": one_at_a_time_study,
    "engineers": engineers_study,
    "guard": guard_study,
    "guidance": guidance_study,
}
"""Ready-made studies by name. Each function takes the number of seeds and the session of the cells; both have defaults."""
