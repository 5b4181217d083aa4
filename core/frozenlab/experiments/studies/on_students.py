"""The study students: engineers on students, each with a planted weakness. One short stage shows who wins most of it back.

The setting is the one in which configs matter (``docs/instrument.md``): few tasks, cells with skills of their own, the engineer asked
before the stage, no limit to a step, boards by seed, and a test that no engineer sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from frozenlab.base.cells import Config, evenly
from frozenlab.engineer.engineers import engineer_of
from frozenlab.engineer.guard import USUAL, GuardSettings
from frozenlab.engineer.protocol import EngineerSpec
from frozenlab.experiments.students.recipe import Recipe
from frozenlab.experiments.studies.arms import control_arms, engineer_arms
from frozenlab.experiments.studies.grid import Arm, StudyError
from frozenlab.experiments.studies.spec import StudySpec
from frozenlab.models.training.settings import TrainingSettings
from frozenlab.session.spec import SessionSpec
from frozenlab.tasks.families import family_of

KIND = "students"
"""Its name among the ready-made studies."""
ENGINEERS: tuple[str, ...] = ("policy", "rules", "learnability", "uniform")
SEEDS = 6
SMALLEST_EFFECT = 0.02
TRAINING = TrainingSettings(
    method="imitation", steps=24, boards_per_step=16, completions_per_board=4, learning_rate=3e-3, schedule="per-stage", temperature=0.7
)
VALIDATION, TEST = 40, 60
"""Held-out tasks of each cell."""


def short_stage(config: Config) -> SessionSpec:
    """The session of each cell of such a study."""
    family = family_of(config.family)

    def suite(boards: int) -> Any:
        return family.suite_type.model_validate({**family.suite_cells(config), "boards_per_cell": boards})

    return SessionSpec(
        stages=1, initial_config=evenly(config), training=TRAINING, ask_first=True, sections=("failures", "statistics"),
        suite=suite(VALIDATION), test=suite(TEST), guard=GuardSettings(max_step=1.0),
    )  # fmt: skip


def best_for(config: Config, weak: Sequence[str]) -> Config:
    """The oracle's config: as many tasks as the guard allows from the weak cells."""
    rest = USUAL.min_share
    share = rest + (1 - rest * len(config.cells)) / len(weak)
    return config.with_cells(
        {name: own.model_copy(update={"share": share if name in weak else rest}) for name, own in config.cells.items()}
    )


def oracle_arm(config: Config, weak: Mapping[str, Sequence[str]]) -> Arm:
    """Student -> its weak cells, as an arm that knows them."""
    return Arm(name="oracle", configs={student: best_for(config, cells) for student, cells in weak.items()})


def students_study(
    seeds: int = SEEDS,
    *,
    recipes: Mapping[str, Recipe],
    engineers: Sequence[str | EngineerSpec] = ENGINEERS,
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
        raise StudyError("the study students needs two students or more: nobody can be best for all if there is one")
    if any(config != configs[0] for config in configs):
        raise StudyError("these students were made for different configs; choose students of the same one")
    own = [engineer_of(one) if isinstance(one, str) else one for one in engineers]
    session = short_stage(configs[0])
    arms = engineer_arms(own)
    return StudySpec(
        title="Who finds and mends what a student lacks?",
        session=session.changed(engineer=own[0]),
        arms=(
            *arms,
            *control_arms(controls, own[0], arms[0].name, session.sections),
            oracle_arm(configs[0], {student: recipe.weak for student, recipe in recipes.items()}),
        ),
        students=tuple(recipes),
        seeds=tuple(range(1, seeds + 1)),
        suite_by_seed=True,
        smallest_effect=SMALLEST_EFFECT,
    )
