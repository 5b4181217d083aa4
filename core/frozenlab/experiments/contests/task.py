"""What a contest is about: the student, the short stage that every side trains, and the boards that score it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from frozenlab.base.cells import CellName
from frozenlab.base.errors import LabError, one_line
from frozenlab.base.schemas import Strict
from frozenlab.engineer.engineers import PolicyEngineer
from frozenlab.experiments.students.menu import recipes, usual_config
from frozenlab.experiments.students.recipe import Recipe
from frozenlab.experiments.students.store import id_of
from frozenlab.experiments.studies.presets import short_stage
from frozenlab.models.folders import STUDENT
from frozenlab.session.spec import SessionSpec
from frozenlab.tasks.families import AnyConfig

SEED = 1
"""Of everything that a contest draws."""
TEST = 120
"""Boards of each cell that score a contest: twice as many as in a study, because here a single stage has to tell."""


class ContestError(LabError, ValueError):
    """A contest cannot be held, read or entered; the message says why."""


class ContestTask(Strict):
    """``task.json``: written once, so that every side trains and is scored alike."""

    schema_version: Literal[1] = 1
    title: Annotated[str, Field(min_length=1, max_length=120)]
    """What people call the student. It does not tell the weakness."""
    session: SessionSpec
    """The session of the engineer's side. Those of the others differ in who writes the config, and in nothing else."""
    weak: tuple[CellName, ...] = ()
    """The planted weakness, which only the oracle knows; empty in old contests about the lab model, which had none and no oracle."""
    recipe: Recipe | None = None
    """Of a student that is made first if it is not there."""


class Entry(Strict):
    """``entries/<number>.json``: a config, and who wrote it."""

    name: Annotated[str, Field(min_length=1, max_length=40)]
    kind: Literal["person", "engineer", "oracle"] = "person"
    config: AnyConfig | None = None
    """None: the engineer writes it when its turn comes."""
    why: Annotated[str, Field(max_length=300)] = ""
    guess: CellName | None = None
    """The kind of task that a person thought the student was taught wrong, before they saw any rates; None: they were not asked."""
    number: Annotated[int, Field(exclude=True)] = 0
    """Its place in the queue, from 1: the name of its file."""
    by: Annotated[str, Field(max_length=64)] = ""
    """The browser of the visitor who made it; empty: it was made on a server that does not only look."""


def can_gain(recipe: Recipe) -> bool:
    """Whether a choice of tasks is known to help such a student: one misled about a single kind of task (docs/instrument.md)."""
    return recipe.misled == recipe.weak and len(recipe.weak) == 1


def teachable() -> dict[str, Recipe]:
    """The ready-made students to teach: id -> recipe, one for each kind of task that a copy of the lab model was misled about."""
    return {id_of(recipe.title): recipe for recipe in recipes(usual_config()) if can_gain(recipe)}


def task_against(recipe: Recipe, student_id: str, title: str = "A student", **changes: object) -> ContestTask:
    """A contest about a student.

    Args:
        student_id: of the student, made or to be made.
        changes: other fields of the :class:`SessionSpec`, such as ``training``.

    Raises:
        ContestError: a field is not valid, or the student's tasks have no words in the lab model, whose engineer could not be asked.
    """
    config = recipe.config
    try:
        stage = short_stage(config)
        policy = f"{STUDENT}{student_id}"
        test = stage.suite.model_copy(update={"boards_per_cell": TEST})
        session = stage.changed(**{"policy": policy, "engineer": PolicyEngineer(), "seed": SEED, "test": test} | changes)
    except ValueError as error:
        raise ContestError(one_line(error)) from None
    tasks = session.tasks
    if tasks.lab is None or (wrong := tasks.lab.obstacles(config, True)):
        raise ContestError(f"the engineer cannot be asked: {wrong[0] if tasks.lab else 'the lab model has no words for these tasks'}")
    return ContestTask(title=title, session=session, weak=recipe.weak, recipe=recipe)
