"""What the lab needs of a family of generated tasks: knobs and outcomes as data, dialects, a judge, and a teacher.

The lake (:mod:`frozenlab.tasks.lake.family`) is one; :mod:`frozenlab.tasks.families` lists all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np

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


class TaskFamily(ABC, Generic[TaskT, AnswerT]):
    """A family of generated tasks with a judge: all that policies, training and the loop know about what is learned."""

    name: ClassVar[str]
    knobs: ClassVar[Mapping[str, Knob]]
    outcomes: ClassVar[Mapping[str, Outcome]]
    columns: ClassVar[Mapping[str, str]]
    """Of a table of judged answers: column -> pandas type. ROW_COLUMNS are among them."""
    plain: Dialect[TaskT, AnswerT]
    """For language models."""
    lab: LabDialect[TaskT, AnswerT] | None = None
    """For the lab model; None: it does not know these tasks."""
    teacher: Teacher[TaskT] | None = None
    """None: imitation is not offered."""

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

    @abstractmethod
    def realised(self, tasks: Sequence[TaskT]) -> Mapping[str, Any]:
        """What was really drawn, by cell."""

    def longest_prompt(self, config: Any) -> str:
        """About the longest prompt, in plain text, about a task of the config: language models need memory for it."""
        return max((self.plain.prompt(task) for task in self.draw(config, 100, seed=0)), key=len)

    @abstractmethod
    def judge(self, task: TaskT, answer: AnswerT) -> Judged: ...

    @abstractmethod
    def row(self, task: TaskT, answer: AnswerT, judged: Judged) -> dict[str, Any]:
        """The family's own columns of a row: what the task is and what became of the answer."""


Family = TaskFamily[Any, Any]
