"""Ready-made studies, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from frozenlab.engineer.engineers import engineer_of
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.experiments.studies.arms import control_arms, engineer_arms, guard_arms, guidance_arms, only_one, section_arms, without_one
from frozenlab.experiments.studies.grid import Arm
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.session.presets import preset_spec
from frozenlab.session.spec import SessionSpec

SEEDS = {"sections": 3, "leave-one-out": 3, "one-at-a-time": 3, "engineers": 5, "guard": 5, "guidance": 5, "main": 3}
"""Default number of seeds of each ready-made study."""
PAPER_ENGINEERS: tuple[str, ...] = ("policy", "base", "rules", "uniform", "fixed")
"""The current checkpoint, the model before training, and the baselines."""
MAIN_ENGINEERS: tuple[str, ...] = ("random", "fixed", "policy")
"""The arms of the paper's main table: domain randomisation, a fixed environment, and environments that the checkpoint engineers."""


def main_study(
    seeds: int = SEEDS["main"], session: SessionSpec | None = None, engineers: Sequence[str | EngineerSpec] = MAIN_ENGINEERS
) -> StudySpec:
    """The study main: the paper's main table. Each final checkpoint is measured on the suite ``paper`` too, which has 3,150 boards.

    Raises EngineerError as :func:`engineer_of` does.
    """
    spec = engineers_study(seeds, session, engineers)
    return StudySpec.model_validate(spec.model_dump() | {"title": "Do engineered environments train better?", "final_suite": "paper"})


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
    controls: Sequence[str] = (),
) -> StudySpec:
    """The study engineers: several engineers, by default the paper's, without its lessons. The first is the reference arm, and the one
    that CONTROLS are made of.

    An engineer that is given by its name has the settings of the session's engineer, if that is the same, or the usual ones. Raises
    EngineerError as :func:`engineer_of` does, StudyError as :func:`control_arms` does.
    """
    own = session or preset_spec("study")
    asked = [unguided(engineer_of(one, own.engineer) if isinstance(one, str) else one, own) for one in engineers]
    arms = engineer_arms(asked)
    controlled = control_arms(controls, asked[0], arms[0].name, own.sections)
    return _study("Who is a good engineer?", (*arms, *controlled), seeds, own)


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
    "main": main_study,
}
"""Ready-made studies by name. Each function takes the number of seeds and the session of the cells; both have defaults."""
