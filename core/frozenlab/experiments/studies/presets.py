"""Ready-made studies, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from frozenlab.base.cells import Config, evenly, with_shares
from frozenlab.engineer.engineers import engineer_of
from frozenlab.engineer.guard import USUAL, GuardSettings
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.engineer.sections import USUAL as USUAL_SECTIONS
from frozenlab.engineer.sections import SectionName
from frozenlab.experiments.students.menu import DECOYS, ladder, read_config
from frozenlab.experiments.students.menu import LADDER as LADDER_CONFIG
from frozenlab.experiments.students.recipe import Recipe
from frozenlab.experiments.studies.arms import (
    PAPER_SECTIONS,
    control_arms,
    engineer_arms,
    guard_arms,
    guidance_arms,
    only_one,
    section_arms,
    training_arms,
    usual_values,
    without_one,
)
from frozenlab.experiments.studies.grid import Arm, StudyError, TrainingValue
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.models.folders import STUDENT
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.session.presets import preset_spec
from frozenlab.session.spec import SessionSpec
from frozenlab.tasks.families import family_of

ON_STUDENTS = "students"
"""The name of the ready-made study that begins with students of its own."""
LADDER = "ladder"
"""The name of the one that asks engineers to tell what was lost from what is hard."""
SEEDS = {
    "sections": 3, "leave-one-out": 3, "one-at-a-time": 3, "engineers": 5, "sweep": 3, "guard": 5, "guidance": 5, "main": 3, ON_STUDENTS: 6,
    LADDER: 1,
}  # fmt: skip
"""Default number of seeds of each ready-made study."""
VARIED_SECTIONS: dict[str, tuple[SectionName, ...]] = {
    "sections": PAPER_SECTIONS,
    "leave-one-out": USUAL_SECTIONS,
    "one-at-a-time": USUAL_SECTIONS,
}
"""The sections that each ready-made study of sections varies by default."""
PAPER_ENGINEERS: tuple[str, ...] = ("policy", "base", "rules", "uniform", "fixed")
"""The current checkpoint, the model before training, and the baselines."""
MAIN_ENGINEERS: tuple[str, ...] = ("random", "fixed", "policy")
"""The arms of the paper's main table: domain randomisation, a fixed environment, and environments that the checkpoint engineers."""
STUDENTS_ENGINEERS: tuple[str, ...] = ("policy", "rules", "learnability", "lowest", "equal")
SMALLEST_EFFECT = 0.02
"""Of the study students."""
SHORT_TRAINING = TrainingSettings(
    method="imitation", steps=24, boards_per_step=16, completions_per_board=4, learning_rate=3e-3, schedule="per-stage", temperature=0.7
)
VALIDATION, TEST = 40, 60
"""Held-out tasks of each cell."""


def main_study(
    seeds: int = SEEDS["main"], session: SessionSpec | None = None, engineers: Sequence[str | EngineerSpec] = MAIN_ENGINEERS
) -> StudySpec:
    """The study main: the paper's main table. Each final checkpoint is measured on the suite ``paper`` too, which has 3,150 boards.

    Raises EngineerError as :func:`engineer_of` does.
    """
    return engineers_study(seeds, session, engineers).changed(title="Do engineered environments train better?", final_suite="paper")


def sections_study(
    seeds: int = SEEDS["sections"], session: SessionSpec | None = None, varied: Sequence[SectionName] = PAPER_SECTIONS
) -> StudySpec:
    """The study sections: every combination of some sections, by default the three named by the paper."""
    return _study("Which context helps the engineer?", section_arms(varied), seeds, session)


def leave_one_out_study(
    seeds: int = SEEDS["leave-one-out"], session: SessionSpec | None = None, varied: Sequence[SectionName] = USUAL_SECTIONS
) -> StudySpec:
    """The study leave-one-out: all sections, and all but one, for each of the varied ones."""
    return _study("Which section is missed?", without_one(varied), seeds, session)


def one_at_a_time_study(
    seeds: int = SEEDS["one-at-a-time"], session: SessionSpec | None = None, varied: Sequence[SectionName] = USUAL_SECTIONS
) -> StudySpec:
    """The study one-at-a-time: no section, and each of the varied ones alone."""
    return _study("What does a section do by itself?", only_one(varied), seeds, session)


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
    controlled = control_arms(controls, asked[0], arms[0].name, own)
    return _study("Who is a good engineer?", (*arms, *controlled), seeds, own)


def sweep_study(
    seeds: int = SEEDS["sweep"], session: SessionSpec | None = None, varied: Mapping[str, Sequence[TrainingValue]] | None = None
) -> StudySpec:
    """The study sweep: the grid of some values of training settings; without any, the session's learning rate and half of it."""
    own = session or preset_spec("study")
    usual = {"learning_rate": usual_values("learning_rate", own.training)}
    return _study("Which training settings are best?", training_arms(varied or usual), seeds, own)


def guard_study(seeds: int = SEEDS["guard"], session: SessionSpec | None = None) -> StudySpec:
    """The study guard: how far a proposal may move a ratio; see GUARDS."""
    return _study("How far may a proposal go?", guard_arms(), seeds, session)


def guidance_study(seeds: int = SEEDS["guidance"], session: SessionSpec | None = None, engineer: EngineerSpec | None = None) -> StudySpec:
    """The study guidance: the paper's two lessons in the prompt or not. Raises StudyError as :func:`guidance_arms` does."""
    own = session or preset_spec("study")
    return _study("Do the lessons in the prompt help?", guidance_arms(own, engineer), seeds, own)


def _study(title: str, arms: tuple[Arm, ...], seeds: int, session: SessionSpec | None) -> StudySpec:
    """A study of the first ``seeds`` seeds, each with its own boards; its sessions are of the preset ``study`` unless one is given."""
    fit = fit_for_study(session or preset_spec("study"), arms)
    return StudySpec(title=title, session=fit, arms=arms, seeds=tuple(range(seeds)), suite_by_seed=True)


def fit_for_study(own: SessionSpec, arms: Sequence[Arm]) -> SessionSpec:
    """The session as a study of these arms runs it.

    Results come from test boards, the engineer is asked before the first stage, and its prompt has no lessons, which would be a second
    cause next to the difference of the arms. A learning rate that falls over the session falls in each stage instead, so that late
    proposals count as much as early ones. Raises ValueError where the engineer is a person.
    """
    changes: dict[str, Any] = {"test": own.test or own.suite, "ask_first": True}
    if own.training.schedule == "linear":
        changes["training"] = own.training.scheduled("per-stage")
    changes["engineer"] = unguided(own.engineer, own)
    if "person" in own.engineer.needs:
        if arms[0].engineer is None:
            raise ValueError("a study runs by itself, so its engineer cannot be human")
        changes |= arms[0].changes
    return own.changed(**changes)


def unguided(engineer: EngineerSpec, session: SessionSpec) -> EngineerSpec:
    """The same engineer without the paper's two lessons, if it could read them."""
    return engineer.model_copy(update={"guidance": False}) if engineer.takes_guidance(session.language) else engineer


STUDIES: dict[str, Callable[..., StudySpec]] = {
    "sections": sections_study,
    "leave-one-out": leave_one_out_study,
    "one-at-a-time": one_at_a_time_study,
    "engineers": engineers_study,
    "sweep": sweep_study,
    "guard": guard_study,
    "guidance": guidance_study,
    "main": main_study,
}
"""Ready-made studies by name. Each function takes the number of seeds and the session of the cells; both have defaults."""


# --- on students -----------------------------------------------------------------------------------------------------
# Engineers on students, each with a planted weakness. One short stage shows who wins most of it back. The setting is the one in which
# configs matter (docs/instrument.md): few tasks, cells with skills of their own, the engineer asked before the stage, no limit to a step,
# boards by seed, and a test that no engineer sees.


def short_stage(config: Config) -> SessionSpec:
    """The session of each cell of such a study."""
    family = family_of(config.family)

    def suite(boards: int) -> Any:
        return family.suite_type.model_validate({**family.suite_cells(config), "boards_per_cell": boards})

    return SessionSpec(
        stages=1, initial_config=evenly(config), training=SHORT_TRAINING, ask_first=True, sections=("failures", "statistics"),
        suite=suite(VALIDATION), test=suite(TEST), guard=GuardSettings(max_step=1.0),
    )  # fmt: skip


def best_for(config: Config, weak: Sequence[str], rest: float = USUAL.min_share) -> Config:
    """The oracle's config: all tasks from the weak cells but the share ``rest`` of each other cell, the least that the guard allows."""
    share = rest + (1 - rest * len(config.cells)) / len(weak)
    return with_shares(config, {name: share if name in weak else rest for name in config.cells})


def oracle_arm(config: Config, weak: Mapping[str, Sequence[str]]) -> Arm:
    """Student -> its weak cells, as an arm that knows them."""
    return Arm(name="oracle", configs={student: best_for(config, cells) for student, cells in weak.items()})


def students_study(
    seeds: int = SEEDS[ON_STUDENTS],
    *,
    recipes: Mapping[str, Recipe],
    engineers: Sequence[str | EngineerSpec] = STUDENTS_ENGINEERS,
    controls: Sequence[str] = ("blind",),
) -> StudySpec:
    """The study students: engineers, controls of the first of them, and an oracle that knows what each student lacks.

    Args:
        recipes: ``student:ID`` -> its recipe.
        controls: some of :data:`frozenlab.experiments.studies.arms.CONTROLS`.

    Raises:
        StudyError: there are fewer than two students, they were not made for the same config, or there is no such control.
        EngineerError: as :func:`engineer_of` does.
    """
    configs = [evenly(recipe.config) for recipe in recipes.values()]
    if len(configs) < 2:
        raise StudyError("the study students needs two students or more: with one, being best for it is being best for all")
    if any(config != configs[0] for config in configs):
        raise StudyError("these students were made for different configs; choose students of the same one")
    weak = {student: recipe.weak for student, recipe in recipes.items()}
    return _on_students("Who finds and mends what a student lacks?", weak, configs[0], engineers, controls, seeds)


def _on_students(
    title: str,
    weak: Mapping[str, Sequence[str]],
    config: Config,
    engineers: Sequence[str | EngineerSpec],
    controls: Sequence[str],
    seeds: int,
) -> StudySpec:
    """Engineers, controls of the first of them, and an oracle, on students -> their weak cells."""
    asked = [engineer_of(one) if isinstance(one, str) else one for one in engineers]
    session, arms = short_stage(config), engineer_arms(asked)
    return StudySpec(
        title=title,
        session=session.changed(engineer=asked[0]),
        arms=(*arms, *control_arms(controls, asked[0], arms[0].name, session), oracle_arm(config, weak)),
        students=tuple(weak),
        seeds=tuple(range(1, seeds + 1)),
        suite_by_seed=True,
        smallest_effect=SMALLEST_EFFECT,
    )


# --- the ladder of engineers -----------------------------------------------------------------------------------------
# Students that lost two cells, in a config with two decoys, cells of which few tasks are solved by nature: the cell with the lowest rate is
# not one that was lost.


LADDER_TRAINING = {
    "imitation": SHORT_TRAINING,
    "grpo": TrainingSettings(method="grpo", steps=36, boards_per_step=16, completions_per_board=8, schedule="per-stage", temperature=0.7),
}
"""The method of the one short stage -> its settings."""
LADDER_ENGINEERS: tuple[str, ...] = ("policy", "equal", "lowest", "tutor", "rules")


def ladder_study(
    seeds: int = SEEDS[LADDER],
    engineers: Sequence[str | EngineerSpec] = LADDER_ENGINEERS,
    controls: Sequence[str] = (),
    *,
    method: str = "imitation",
    decoys: bool = True,
) -> StudySpec:
    """The ladder of engineers: each on the students of :func:`frozenlab.experiments.students.menu.ladder`, beside equal shares, which win
    nothing, and an oracle that knows what was lost.

    Args:
        controls: some of :data:`frozenlab.experiments.studies.arms.CONTROLS`, of the first engineer.
        method: one of LADDER_TRAINING.
        decoys: whether the config has cells that are hard by nature, too.

    Raises:
        StudyError: there is no such control.
        EngineerError: as :func:`engineer_of` does.
    """
    config = evenly(read_config(LADDER_CONFIG))
    if not decoys:
        config = evenly(config.with_cells({name: own for name, own in config.cells.items() if name not in DECOYS}))
    named = {one if isinstance(one, str) else one.kind for one in engineers}
    study = _on_students(
        f"The ladder of engineers, {'with' if decoys else 'without'} decoys",
        {f"{STUDENT}{name}": recipe.weak for name, recipe in ladder().items()},
        config, engineers if "equal" in named else (*engineers, "equal"), controls, seeds,
    )  # fmt: skip
    return study.changed(session=study.session.changed(training=LADDER_TRAINING[method]))
