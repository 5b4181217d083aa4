"""What the lab needs of a family of generated tasks.

A family names its knobs, outcomes and columns, its config and suite, and a dialect for language models; it writes ``draw``, ``suite``,
``judge`` and ``row``. The rest has a usual form that a family replaces where it knows better.

The lake (:mod:`frozenlab.tasks.lake.family`) is one; :mod:`frozenlab.tasks.families` lists all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from frozenlab.base.cells import Cell, Settings, check_sum, evenly, in_order
from frozenlab.base.errors import LabError, one_line
from frozenlab.base.files import text_of
from frozenlab.base.schemas import Strict
from frozenlab.tasks.task import AnswerT, Dialect, Judged, LabDialect, SeenAs, TaskT, Teacher
from frozenlab.tasks.words import FamilyWords

if TYPE_CHECKING:
    import pandas as pd


class NoQuestionError(LabError, ValueError):
    """A family cannot be asked in the way of a language model's setting ``question``; the message says which way it can."""


class Drawn(BaseModel):
    """What was really drawn for one cell."""

    model_config = ConfigDict(frozen=True)

    boards: int
    share: float


@dataclass(frozen=True)
class Suite(Generic[TaskT]):
    """Tasks to measure a checkpoint on, with different names."""

    name: str
    spec: Any
    """A ``suite_type`` of the family; None unless it is a named suite."""
    tasks: Sequence[TaskT]


class TaskFamily(FamilyWords, ABC, Generic[TaskT, AnswerT]):
    """A family of generated tasks with a judge: all that policies, training and the loop know about what is learned."""

    name: ClassVar[str]
    columns: ClassVar[Mapping[str, str]]
    """Of a table of judged answers: column -> pandas type. ROW_COLUMNS are among them."""
    config_type: ClassVar[type[BaseModel]]
    """A :class:`frozenlab.base.cells.Config`. Those of other families than the lake have a field ``family`` with the family's name."""
    suite_type: ClassVar[type[BaseModel]]
    """Which held-out tasks to draw; with the same field ``family``."""
    realised_type: ClassVar[type[BaseModel]] = Drawn
    """What is kept about the tasks drawn for a cell."""
    task_columns: ClassVar[tuple[str, ...]] = ()
    """Columns of a row that hold the task itself. Suites name their tasks by place, so only these tell whether two rows are of one task."""
    suite_columns: ClassVar[tuple[str, ...]] = ("config_cell",)
    """Columns of a row that name the cell of the suite, which may tell more apart than a config."""
    parts: ClassVar[tuple[str, ...]] = ()
    """Names of what a cell may be mixed of besides its knobs, as the layouts of the lake."""
    plain: Dialect[TaskT, AnswerT]
    """For language models."""
    compact: Dialect[TaskT, AnswerT] | None = None
    """For language models that had a warm start, which know the rules; None: they are asked as all language models."""
    lab: LabDialect[TaskT, AnswerT] | None = None
    """For the lab model; None: it does not know these tasks."""
    teacher: Teacher[TaskT] | None = None
    """None: imitation is not offered."""
    guises: ClassVar[int] = 1
    """How many there are of each task, itself among them."""

    # --- drawing ----------------------------------------------------------------------------------------------------------

    @abstractmethod
    def draw(self, config: Any, n: int, seed: int, kept_out: Sequence[TaskT] = ()) -> list[TaskT]:
        """``n`` tasks to train on, mixed so that any part of the list looks like the whole; the same for the same seed everywhere.

        Args:
            kept_out: tasks that must not come out, nor others that are the same but for their look. Those of named suites never do.

        Raises:
            GenerationError: the config asks for tasks that cannot be drawn.
        """

    @abstractmethod
    def suite(self, spec: Any, config: Any, kept_out: Sequence[TaskT] = ()) -> list[TaskT]:
        """The tasks of a suite, which count for the cells of ``config``, without those of ``kept_out``: the next ones take their places."""

    def suite_cells(self, config: Any) -> dict[str, Any]:
        """The fields of a suite of the cells of a config."""
        return {}

    def undrawable(self, config: Any, cell: str, /) -> str | None:
        """Why the tasks of a cell cannot be drawn, in one line; None if they can."""
        return None

    def realised(self, tasks: Sequence[TaskT], /) -> Mapping[str, Any]:
        """What was really drawn, by cell: a ``realised_type`` each."""
        counts = Counter(task.cell for task in tasks)
        return {cell: Drawn(boards=counts[cell], share=counts[cell] / len(tasks)) for cell in in_order(counts)}

    def read_realised(self, config: Any, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """What was drawn from a config, as a file holds it."""
        return {cell: self.realised_type.model_validate(drawn) for cell, drawn in given.items()}

    def config_of(self, data: bytes, file_name: str) -> Any:
        """The config in a file. Raises a LabError."""
        try:
            return self.config_type.model_validate_json(text_of(data, file_name))
        except ValueError as error:
            raise LabError(one_line(error)) from None

    def ready_made(self) -> dict[str, Any]:
        """Configs by name, for people to begin with."""
        return {}

    # --- suites that checkpoints are measured on --------------------------------------------------------------------------

    def named_suites(self) -> Mapping[str, Any]:
        """Suites by name. No two families have a suite of the same name, but for one that mixes others."""
        return {self.name: self.suite_type()}

    def suite_label(self, name: str) -> str:
        """A named suite as people choose it: its name, and what is in it."""
        return name

    def suite_total(self, suite: Any) -> int:
        """The most tasks that a named suite can hold."""
        return self.suite_size(suite, self.config_type())

    def suite_source(self, name: str) -> str:
        """The name under which a measurement keeps a suite. Raises a LabError if there is no such suite."""
        return name

    def suite_online(self, name: str) -> bool:
        """Whether its tasks come from the network."""
        return False

    def open_suite(self, name: str, on_progress: Callable[[int, int], None]) -> Suite[TaskT]:
        """The tasks of a suite; ``on_progress`` is called with (tasks made, all of them). Raises a LabError, or OSError."""
        spec = self.named_suites()[name]
        return Suite(name, spec, self.suite(spec, self.config_type()))

    # --- answers ----------------------------------------------------------------------------------------------------------

    @abstractmethod
    def judge(self, task: TaskT, answer: AnswerT) -> Judged: ...

    def credit(self, task: TaskT, answer: AnswerT, judged: Judged) -> float:
        """What an invalid answer earns where it has to come nearer to a valid one for it, at most 0.1."""
        return judged.credit

    def seen_as(self, task: TaskT, n: int, seed: int, /) -> Sequence[SeenAs[TaskT, AnswerT]]:
        """A task in its first ``n`` guises, at most ``guises``; the first is the task as it is. Draws come from ``seed``."""
        return [SeenAs(task, lambda answer: answer)]

    @abstractmethod
    def row(self, task: TaskT, answer: AnswerT, judged: Judged) -> dict[str, Any]:
        """The family's own columns of a row: what the task is and what became of the answer."""

    def unsound(self, table: pd.DataFrame) -> str | None:
        """What a table of judged answers holds that the family cannot have written; None: nothing."""
        return None

    def asked(self, question: str) -> Dialect[TaskT, AnswerT]:
        """The dialect for a language model's setting ``question``. Raises NoQuestionError if the family has none."""
        if question == "full":
            return self.plain
        if self.compact is None:
            raise NoQuestionError(f'the family {self.name} has no compact question: take "question": "full"')
        return self.compact

    def longest_prompt(self, config: Any, question: str = "full") -> str:
        """About the longest prompt, in plain text, about a task of the config: language models need memory for it."""
        return max((self.asked(question).prompt(task) for task in self.draw(config, 100, seed=0)), key=len)

    @property
    def faults(self) -> tuple[str, ...]:
        """The outcomes of answers that are not valid."""
        return tuple(name for name, outcome in self.outcomes.items() if not outcome.valid)

    # --- engineers --------------------------------------------------------------------------------------------------------

    @property
    def ratios(self) -> tuple[str, ...]:
        """The knobs of cells besides the share."""
        return tuple(name for name in self.knobs if name != "share")

    def ratios_of(self, own: Settings) -> tuple[str, ...]:
        """The ratios that a cell has. Cells of one family have all of them; where families are mixed, a cell has those of its own."""
        settings = own.settings()
        return tuple(name for name in self.ratios if name in settings)

    def ratios_in(self, config: Any) -> dict[str, frozenset[float]]:
        """Ratio -> the values that it has in the cells of the config."""
        cells = list(config.cells.values())
        return {name: frozenset(own.settings()[name] for own in cells if name in self.ratios_of(own)) for name in self.ratios}

    def even(self, config: Any) -> Any:
        """The config with every cell as often, and the usual ratios if the family has any: the engineer ``uniform``."""
        return evenly(config)

    def at_random(self, config: Any, rng: np.random.Generator, parts: Sequence[str] = ()) -> Any:
        """The config with shares and ratios at random, and a mix of these parts: the engineer ``random``."""
        cells = {}
        for (name, own), share in zip(config.cells.items(), rng.dirichlet(np.ones(len(config.cells))).tolist(), strict=True):
            ratios = {knob: rng.uniform(self.knobs[knob].low, self.knobs[knob].high) for knob in self.ratios_of(own)}
            cells[name] = own.model_copy(update={**ratios, "share": share})
        return config.with_cells(cells)

    def mixed(self, new: Any, old: Any, allowed: Collection[str], max_step: float) -> tuple[Any, str]:
        """The cell ``new`` with parts that the session allows, moved at most ``max_step`` from ``old``, and the reason if they change."""
        return new, ""


Family = TaskFamily[Any, Any]


# --- config and suite of a family whose cells need nothing but a name; a family adds its knobs and its own name as fields ---

Ratio = Annotated[float, Field(ge=0, le=1)]


class PlainCell(Strict):
    """What is drawn of one cell. A subclass has a field for each knob."""

    share: Ratio
    """Part of all tasks that are of this cell."""

    def settings(self) -> dict[str, float]:
        """Knob -> value."""
        return self.model_dump()


class PlainConfig(Strict):
    """The cells that tasks are drawn from. A subclass has ``family: Literal["its-name"] = "its-name"`` and cells with its knobs."""

    cells: dict[str, Any]
    """Name -> :class:`PlainCell`. The shares sum to 1."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_sum((cell.share for cell in self.cells.values()), "the shares")
        return self

    def with_cells(self, cells: Mapping[str, Any]) -> Self:
        """The same config with other cells."""
        return self.model_copy(update={"cells": dict(cells)})

    def described(self) -> tuple[Cell, ...]:
        """How to speak of each cell."""
        return tuple(Cell(name=name, words=f"cell {name}", place={"name": name}) for name in self.cells)


class PlainSuite(Strict):
    """As many held-out tasks of each cell. A subclass has the same field ``family``."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    boards_per_cell: Annotated[int, Field(ge=1, le=10_000, title="Held-out tasks")] = 8
    """Tasks of each cell. More tasks give narrower intervals and a slower validation."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
