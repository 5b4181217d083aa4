"""The spec of a study (``study.json``): one session, the arms that it is run in, and the seeds that each arm is run with."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.engineer.schema import SECTIONS, ApiSettings, EngineerName, Section
from core.sessions.presets import preset_spec
from core.sessions.spec import GuardSettings, SessionSpec

PAPER_SECTIONS: tuple[Section, ...] = ("failures", "statistics", "preserved")
"""Those whose use the paper asks about."""
PAPER_ENGINEERS: tuple[EngineerName, ...] = ("policy", "base", "rules", "uniform", "fixed")
"""The current checkpoint, the model before training, and what they are held against."""


class Arm(BaseModel):
    """One setting of a study: what in its sessions differs from the study's own. None leaves a thing as it is there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")]
    sections: tuple[Section, ...] | None = None
    engineer: EngineerName | None = None
    api: ApiSettings | None = None
    guard: GuardSettings | None = None

    @property
    def changes(self) -> dict[str, Any]:
        """By name, as fields of a session's spec."""
        return {name: value for name in ("sections", "engineer", "api", "guard") if (value := getattr(self, name)) is not None}


class StudySpec(BaseModel):
    """A grid of arms and seeds. Arms differ only in what bears on proposals, so all of a seed share their first stage."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1] = 1
    title: Annotated[str, Field(min_length=1, max_length=120)]
    session: SessionSpec
    """What every cell runs, but for its seed and its arm."""
    arms: Annotated[tuple[Arm, ...], Field(min_length=2)]
    seeds: Annotated[tuple[Annotated[int, Field(ge=0, lt=2**31)], ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        for what, named in (("arms", [arm.name for arm in self.arms]), ("seeds", self.seeds)):
            if len(set(named)) < len(named):
                raise ValueError(f"two {what} are the same")
        if self.session.stages < 2:
            raise ValueError("a study needs sessions of two stages or more: the first ends before any engineer has been asked")
        for arm in self.arms:
            if self.spec_of(arm, self.seeds[0]).engineer == "human":
                raise ValueError(f"a study runs by itself, so the engineer of the arm {arm.name} cannot be human")
        return self

    def spec_of(self, arm: Arm, seed: int) -> SessionSpec:
        """The session of one cell. Raises ValueError (pydantic's ValidationError) for an arm that cannot be run."""
        title = f"{self.title}, {arm.name}, seed {seed}"[:120]
        return self.session.changed(**arm.changes, seed=seed, title=title)

    def sections_of(self) -> dict[str, frozenset[Section]]:
        """What each arm's engineer sees."""
        return {arm.name: frozenset(self.session.sections if arm.sections is None else arm.sections) for arm in self.arms}


def section_arms(varied: Sequence[Section] = PAPER_SECTIONS) -> tuple[Arm, ...]:
    """Every combination of the varied sections (2^k arms), the others always shown; from all of them to none."""
    others = [section for section in SECTIONS if section not in varied]
    shown = [chosen for n in range(len(varied), -1, -1) for chosen in combinations(varied, n)]
    return tuple(Arm(name="-".join(chosen) or "none", sections=ordered([*others, *chosen])) for chosen in shown)


def without_one(varied: Sequence[Section] = SECTIONS) -> tuple[Arm, ...]:
    """All sections, and all but each of the varied ones."""
    arms = [Arm(name=f"no-{left}", sections=ordered([section for section in SECTIONS if section != left])) for left in varied]
    return (Arm(name="all", sections=SECTIONS), *arms)


def only_one(varied: Sequence[Section] = SECTIONS) -> tuple[Arm, ...]:
    """No section, and each of the varied ones alone."""
    return (Arm(name="none", sections=()), *(Arm(name=f"only-{section}", sections=(section,)) for section in varied))


def engineer_arms(engineers: Sequence[EngineerName] = PAPER_ENGINEERS) -> tuple[Arm, ...]:
    return tuple(Arm(name=engineer, engineer=engineer) for engineer in engineers)


def ordered(sections: Sequence[Section]) -> tuple[Section, ...]:
    return tuple(section for section in SECTIONS if section in sections)


def sections_study(seeds: int = 3, session: SessionSpec | None = None) -> StudySpec:
    """The three sections named by the paper, every combination."""
    own = session or preset_spec("study")
    return StudySpec(title="Which context helps the engineer?", session=own, arms=section_arms(), seeds=tuple(range(seeds)))


def engineers_study(seeds: int = 5, session: SessionSpec | None = None) -> StudySpec:
    """The current checkpoint against the base, the rules and the baselines."""
    return StudySpec(
        title="Who is a good engineer?", session=session or preset_spec("study"), arms=engineer_arms(), seeds=tuple(range(seeds))
    )


STUDIES = {"sections": sections_study, "engineers": engineers_study}
"""Studies that are ready to run, by name: called with a number of seeds."""
