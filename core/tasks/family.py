"""What the lab needs of a family of generated tasks: knobs and outcomes as data, dialects, a judge, and a teacher.

The lake (:mod:`frozenlab.tasks.lake.family`) is one; :mod:`frozenlab.tasks.families` lists all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict

from frozenlab.cells import Cell, in_order
from frozenlab.errors import LabError, one_line

if TYPE_CHECKING:
    import pandas as pd

# --- knobs and outcomes ----------------------------------------------------------------------------------------------


class Knob(NamedTuple):
    """A number of a config that an engineer may turn, for each of the config's cells."""

    name: str
    label: str
    """As people read it."""
    help: str
    low: float
    high: float
    grain: float
    """The smallest change that forms offer and dialects write."""
    harder: Literal[1, -1, 0]
    """Which way makes tasks harder; 0: neither."""


class Outcome(NamedTuple):
    """What can become of an answer, by the judge's name for it."""

    name: str
    label: str
    """As charts and lists say it."""
    sentence: str
    """As a sentence about one answer says it; ``{agents}`` stands for those at fault."""
    rule: str
    """The rule that a fault breaks; empty where none is broken."""
    color: str
    """A middle tone that keeps a contrast of 3:1 to the page, light and dark."""
    valid: bool


Named = TypeVar("Named", Knob, Outcome)


def by_name(*things: Named) -> dict[str, Named]:
    """Name -> thing, in this order."""
    return {thing.name: thing for thing in things}


# --- tasks and answers -----------------------------------------------------------------------------------------------


class Task(Protocol):
    """One generated task, of which the best answer is known. The lake's is a solved board."""

    @property
    def id(self) -> str: ...

    @property
    def cell(self) -> str:
        """The name of the cell that it counts for, in the config of its session; empty where there is none."""
        ...


@dataclass(frozen=True)
class Judged:
    """What a family's judge says about one answer."""

    outcome: str
    """The name of one of the family's outcomes."""
    valid: bool
    optimal: bool = False
    """Whether it is known to be as good as the best answer."""
    efficiency: float = 0.0
    """Of a valid answer, how near it is to the best: 1 for the best, less the more it costs; 0 if the best is not known."""
    credit: float = 0.0
    """What an invalid answer earns for being nearly valid, at most 0.1: it orders the answers of a group that all fail."""
    cost: tuple[float, ...] = ()
    """Of a valid answer, what it costs: of two, the smaller tuple is the better."""
    detail: Any = None
    """The judge's own report, for the family's rows and views."""

    @property
    def fault(self) -> str | None:
        """The outcome of an answer that is not valid."""
        return None if self.valid else self.outcome


TaskT = TypeVar("TaskT", bound=Task)
AnswerT = TypeVar("AnswerT")


class Dialect(ABC, Generic[TaskT, AnswerT]):
    """How a kind of model is asked about a task, and how its answer is read."""

    @abstractmethod
    def prompt(self, task: TaskT) -> str:
        """Raises a LabError for a task that the dialect has no words for."""

    @abstractmethod
    def read(self, task: TaskT, text: str, finished: bool) -> AnswerT:
        """The answer in what a model wrote; ``finished`` says whether it ended the text itself. Never raises: a text that cannot be read is
        an answer too, with its outcome."""


class LabDialect(Dialect[TaskT, AnswerT]):
    """A dialect in the words of the lab model, one token each."""

    @abstractmethod
    def limit(self, task: TaskT) -> int:
        """The most words that an answer may take, the end token included."""

    def obstacles(self, config: Any, engineer: bool) -> list[str]:
        """Why the lab model cannot be trained on a config, a sentence each; ``engineer``: or be the engineer too."""
        return []


class Teacher(ABC, Generic[TaskT]):
    """Shows the lab model how to mend its answers; imitation learns from it."""

    @abstractmethod
    def mend(self, attempts: Sequence[Attempt[TaskT]]) -> list[Mended | None]:
        """A good answer for each attempt, which keeps a part of what was written; None if there is none."""


@dataclass(frozen=True)
class Attempt(Generic[TaskT]):
    """An answer to be mended."""

    task: TaskT
    text: str
    """In the lab model's words, without the end token."""
    rng: np.random.Generator
    """Every draw of its mending comes from here."""


class Mended(NamedTuple):
    """A mended answer in the lab model's words."""

    kept: str
    """What the model wrote, up to some place before its first fault."""
    learned: str
    """How it should go on from there."""


ROW_COLUMNS = {
    "board_id": "str",
    "config_cell": "str",
    "completion": "str",
    "outcome": "str",
    "valid": "bool",
    "optimal": "bool",
    "fault": "str",
    "tokens": "int64",
}
"""Columns of every family's tables of judged answers: the task, its cell, what was written and how it was judged."""


# --- the family ------------------------------------------------------------------------------------------------------


class Drawn(BaseModel):
    """What was really drawn for one cell."""

    model_config = ConfigDict(frozen=True)

    boards: int
    share: float


class TaskFamily(ABC, Generic[TaskT, AnswerT]):
    """A family of generated tasks with a judge: all that policies, training and the loop know about what is learned."""

    name: ClassVar[str]
    knobs: ClassVar[Mapping[str, Knob]]
    outcomes: ClassVar[Mapping[str, Outcome]]
    columns: ClassVar[Mapping[str, str]]
    """Of a table of judged answers: column -> pandas type. ROW_COLUMNS are among them."""
    config_type: ClassVar[type[BaseModel]]
    """A :class:`frozenlab.cells.Config`. Those of other families than the lake have a field ``family`` with the family's name."""
    suite_type: ClassVar[type[BaseModel]]
    """Which held-out tasks to draw; with the same field ``family``."""
    realised_type: ClassVar[type[BaseModel]] = Drawn
    """What is kept about the tasks drawn for a cell."""
    aim: ClassVar[str] = ""
    """What the policy learns, in a sentence or two, for a language model as engineer."""
    suite_columns: ClassVar[tuple[str, ...]] = ("config_cell",)
    """Columns of a row that name the cell of the suite, which may tell more apart than a config."""
    parts: ClassVar[tuple[str, ...]] = ()
    """Names of what a cell may be mixed of besides its knobs, as the layouts of the lake."""
    plain: Dialect[TaskT, AnswerT]
    """For language models."""
    lab: LabDialect[TaskT, AnswerT] | None = None
    """For the lab model; None: it does not know these tasks."""
    teacher: Teacher[TaskT] | None = None
    """None: imitation is not offered."""

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

    def undrawable(self, config: Any, cell: str) -> str | None:
        """Why the tasks of a cell cannot be drawn, in one line; None if they can."""
        return None

    def realised(self, tasks: Sequence[TaskT]) -> Mapping[str, Any]:
        """What was really drawn, by cell: a ``realised_type`` each."""
        counts = Counter(task.cell for task in tasks)
        return {cell: Drawn(boards=counts[cell], share=counts[cell] / len(tasks)) for cell in in_order(counts)}

    def read_config(self, path: Path) -> Any:
        """The config in a file. Raises a LabError, or OSError if it can't be read."""
        try:
            return self.config_type.model_validate_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise LabError(f"{path}: {one_line(error)}") from None

    # --- answers ----------------------------------------------------------------------------------------------------------

    @abstractmethod
    def judge(self, task: TaskT, answer: AnswerT) -> Judged: ...

    @abstractmethod
    def row(self, task: TaskT, answer: AnswerT, judged: Judged) -> dict[str, Any]:
        """The family's own columns of a row: what the task is and what became of the answer."""

    def upgraded(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table of judged answers as it is written today, if an older version of the family wrote it."""
        return table

    def unsound(self, table: pd.DataFrame) -> str | None:
        """What a table of judged answers holds that the family cannot have written; None: nothing."""
        return None

    @property
    def faults(self) -> tuple[str, ...]:
        """The outcomes of answers that are not valid."""
        return tuple(name for name, outcome in self.outcomes.items() if not outcome.valid)

    # --- engineers --------------------------------------------------------------------------------------------------------

    @property
    def ratios(self) -> tuple[str, ...]:
        """The knobs of a cell besides its share."""
        return tuple(name for name in self.knobs if name != "share")

    def even(self, config: Any) -> Any:
        """The config with every cell as often, and the usual ratios if the family has any: the engineer ``uniform``."""
        return config.with_cells({name: own.model_copy(update={"share": 1 / len(config.cells)}) for name, own in config.cells.items()})

    def at_random(self, config: Any, rng: np.random.Generator, parts: Sequence[str] = ()) -> Any:
        """The config with shares and ratios at random, and a mix of these parts: the engineer ``random``."""
        cells = {}
        for (name, own), share in zip(config.cells.items(), rng.dirichlet(np.ones(len(config.cells))).tolist(), strict=True):
            ratios = {knob: rng.uniform(self.knobs[knob].low, self.knobs[knob].high) for knob in self.ratios}
            cells[name] = own.model_copy(update={**ratios, "share": share})
        return config.with_cells(cells)

    def mixed(self, new: Any, old: Any, allowed: Collection[str], max_step: float) -> tuple[Any, str]:
        """The cell ``new`` with parts that the session allows, moved at most ``max_step`` from ``old``, and the reason if they change."""
        return new, ""

    def brief(self, cells: Sequence[Cell], parts: Sequence[str] = ()) -> str:
        """The task of a language model as engineer: what the policy learns, which cells the config has, and what the knobs do."""
        knobs = "\n".join(f"- {name.removesuffix('_ratio')}_percent: {knob.help}" for name, knob in self.knobs.items())
        return (
            f"You design the environment in which a policy (a language model) learns by reinforcement learning. {self.aim} Training goes "
            "in stages. After each stage you read what happened and write the environment config of the next one.\n\n"
            f"The config has the cells {', '.join(cell.name for cell in cells)}. For each cell you set, in whole per cent:\n{knobs}"
        )

    def statistics(self, cell: Cell, own: Any, drawn: Any) -> tuple[str, dict[str, float]]:
        """The line of evidence about what a cell of the config asks for and what was drawn from it: a sentence, and its figures."""
        settings = ", ".join(f"{self.knobs[name].label} {value:.2f}" for name, value in own.settings().items() if name in self.knobs)
        return f"{cell.words}: config {settings}; drawn {drawn.boards} tasks.", {**own.settings(), "drawn_boards": drawn.boards}

    def case(self, row: Any) -> tuple[str, int]:
        """A failed answer as a worked case: what went wrong, as a phrase that ends a sentence, and at which step of the answer."""
        return f"task {row['board_id']}: {self.outcomes[row['outcome']].label}", 0

    # --- words and sizes for pages and forecasts --------------------------------------------------------------------------

    def scope(self, config: Any) -> str:
        """How much a config covers, in a few words."""
        return f"{len(config.cells)} cells"

    def title(self, config: Any) -> str:
        """What heads the list of a config's cells."""
        return "cell"

    def notes(self, config: Any) -> list[str]:
        """What else a config says that is not usual, a sentence each."""
        return []

    def part_help(self, part: str) -> str:
        return part

    def setting_label(self, name: str) -> str:
        """What charts and tables call a knob, or a part of a cell."""
        return self.knobs[name].label if name in self.knobs else name

    def suite_cells(self, config: Any) -> dict[str, Any]:
        """The fields of a suite of the cells of a config."""
        return {}

    def suite_size(self, suite: Any, config: Any) -> int:
        """Number of a suite's tasks, or about."""
        return suite.boards_per_cell * len(config.cells)

    def suite_scope(self, suite: Any) -> str:
        """How much a suite covers, in a few words."""
        return "every cell"

    def longest_prompt(self, config: Any) -> str:
        """About the longest prompt, in plain text, about a task of the config: language models need memory for it."""
        return max((self.plain.prompt(task) for task in self.draw(config, 100, seed=0)), key=len)


Family = TaskFamily[Any, Any]
