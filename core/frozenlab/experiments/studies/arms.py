"""Arms of studies: sections on and off, engineers, guards, guidance or not, and values of training settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import get_args

from frozenlab.base.numbers import listed
from frozenlab.engineer.controls import DoseEngineer, OnceEngineer, PlaceboEngineer
from frozenlab.engineer.guard import GuardSettings
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.sections import NAMES, USUAL, SectionName
from frozenlab.experiments.studies.grid import Arm, StudyError, TrainingValue, training_words
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.session.spec import SessionSpec

PAPER_SECTIONS: tuple[SectionName, ...] = ("failures", "statistics", "preserved")
"""The sections whose usefulness the paper studies."""
GUARDS = {"usual": GuardSettings(), "strict": GuardSettings(max_step=0.05), "loose": GuardSettings(max_step=1.0)}
"""Guards of three strengths. They differ only in the largest step of a ratio; the smallest share of a size stays the same. The rules and
the lab model step by 0.1, so the strict guard halves their steps, and loose differs from usual only for an engineer that goes further."""
NONE = "none"
"""The arm that shows none of the varied sections."""
SHOWING: tuple[SectionName, ...] = ("behaviour", "failures")
"""The sections that show what a model cannot do."""
CONTROLS = {
    "blind": "sees neither failures nor behaviour",
    "placebo": "reads the evidence of the wrong cells",
    "anti": "does the opposite of what it proposes",
    "once": "is asked once, and its first config stays",
    "yoked": "gets the configs that it wrote in another session",
    "again": "the same with other draws: what differs is noise",
}
"""What can be done to an engineer, each an arm of its own."""


def section_arms(varied: Sequence[SectionName] = PAPER_SECTIONS) -> tuple[Arm, ...]:
    """Every combination of the varied sections (2^k arms), the others always shown; from all of them to none."""
    others = [section for section in USUAL if section not in varied]
    shown = [chosen for n in range(len(varied), -1, -1) for chosen in combinations(varied, n)]
    return tuple(Arm(name="-".join(chosen) or NONE, sections=ordered([*others, *chosen])) for chosen in shown)


def still_shown(arms: Iterable[Arm]) -> str:
    """A sentence about an arm that is called none and shows the sections that are not varied; empty if there is none."""
    shown = next((arm.sections for arm in arms if arm.name == NONE and arm.sections), None)
    return f"The arm {NONE} still sees {listed(shown)}." if shown else ""


def without_one(varied: Sequence[SectionName] = USUAL) -> tuple[Arm, ...]:
    """All sections, and all but each of the varied ones. A section that is not usual is among all if it is varied."""
    everything = ordered([*USUAL, *varied])
    arms = [Arm(name=f"no-{left}", sections=ordered([section for section in everything if section != left])) for left in varied]
    return (Arm(name="all", sections=everything), *arms)


def only_one(varied: Sequence[SectionName] = USUAL) -> tuple[Arm, ...]:
    """No section, and each of the varied ones alone."""
    return (Arm(name=NONE, sections=()), *(Arm(name=f"only-{section}", sections=(section,)) for section in varied))


def engineer_arms(engineers: Sequence[EngineerSpec]) -> tuple[Arm, ...]:
    """One arm per engineer, named after it; several behind an API are named after their models."""
    several = sum(engineer.server is not None for engineer in engineers) > 1

    def name(engineer: EngineerSpec) -> str:
        return arm_name(engineer.server.model) if several and engineer.server is not None else engineer.kind

    return tuple(Arm(name=name(engineer), engineer=engineer) for engineer in engineers)


def control_arms(names: Sequence[str], engineer: EngineerSpec, arm: str, session: SessionSpec) -> tuple[Arm, ...]:
    """The chosen CONTROLS of an engineer.

    Args:
        arm: the engineer's own arm, to which ``yoked`` is yoked.
        session: what each of the sessions runs.

    Raises:
        StudyError: there is no such control.
    """
    made = {
        "blind": Arm(name="blind", engineer=engineer, sections=ordered([one for one in session.sections if one not in SHOWING])),
        "placebo": Arm(name="placebo", engineer=PlaceboEngineer(of=engineer)),
        "anti": Arm(name="anti", engineer=DoseEngineer(of=engineer, dose=-1)),
        "once": Arm(name="once", engineer=OnceEngineer(of=engineer, after=None if session.ask_first else 0)),
        "yoked": Arm(name="yoked", yoked=arm),
        "again": Arm(name="again", engineer=engineer, draws=1),
    }
    if unknown := next((name for name in names if name not in made), None):
        raise StudyError(f"there is no control {unknown!r}; there are {', '.join(made)}")
    return tuple(made[name] for name in names)


def arm_name(model: str) -> str:
    """The name of a model as that of an arm.

    >>> arm_name("Qwen/Qwen3-4B")
    'qwen-qwen3-4b'
    """
    return re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-")[:50].strip("-") or "api"


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


def training_arms(varied: Mapping[str, Sequence[TrainingValue]]) -> tuple[Arm, ...]:
    """The grid of these values of training settings, an arm each. The first has the first value of each setting."""
    grid = [dict(zip(varied, values, strict=True)) for values in product(*varied.values())]
    return tuple(Arm(name=arm_name(training_words(changes)), training=changes) for changes in grid)


def usual_values(setting: str, training: TrainingSettings) -> tuple[TrainingValue, ...]:
    """Values to begin with where a setting is varied: the present one, then all others if they have names, else half of it."""
    info, own = TrainingSettings.model_fields[setting], getattr(training, setting)
    if named := get_args(info.annotation) or info.examples:
        return (own, *(value for value in named if value != own))
    return (own, own // 2 or 1) if isinstance(own, int) else (own, own / 2 or 1.0)


def values_of(setting: str, text: str) -> tuple[TrainingValue, ...]:
    """The values of a training setting, from text with commas between them.

    Raises:
        StudyError: there is no such setting, or fewer than two values.
        ValueError: one is no value of the setting (pydantic's ValidationError).
    """
    if setting not in TrainingSettings.model_fields:
        raise StudyError(f"there is no training setting {setting!r}; there are {', '.join(TrainingSettings.model_fields)}")
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) < 2:
        raise StudyError(f"{setting} needs two values or more, with commas between them")
    return tuple(getattr(TrainingSettings.model_validate({setting: part}), setting) for part in parts)


def ordered(sections: Sequence[SectionName]) -> tuple[SectionName, ...]:
    return tuple(section for section in NAMES if section in sections)
