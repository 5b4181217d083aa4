"""A task: how models are asked about it, how their answers are read and judged, and the teachers who mend them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np


class Task(Protocol):
    """One generated task, of which the best answer is known. The lake's is a solved board."""

    @property
    def id(self) -> str: ...

    @property
    def cell(self) -> str:
        """The name of the cell that it counts for, in the config of its session; empty where there is none."""
        ...


TaskT = TypeVar("TaskT", bound=Task)
AnswerT = TypeVar("AnswerT")


class SeenAs(NamedTuple, Generic[TaskT, AnswerT]):
    """A task in another guise: it looks otherwise, and is as hard."""

    task: TaskT
    back: Callable[[AnswerT], AnswerT]
    """An answer to it -> the same as an answer to the task itself, which is as good."""


class Demonstration(NamedTuple):
    """A right answer, and how one comes to it."""

    reasoning: str
    """Empty where the answer holds it."""
    answer: str


class Dialect(ABC, Generic[TaskT, AnswerT]):
    """How a kind of model is asked about a task, and how its answer is read."""

    system: ClassVar[str] = ""
    """What a language model reads before each prompt, as the turn of the system; empty: nothing."""

    @abstractmethod
    def prompt(self, task: TaskT) -> str:
        """Raises a LabError for a task that the dialect has no words for."""

    @abstractmethod
    def read(self, task: TaskT, text: str, finished: bool) -> AnswerT:
        """The answer in what a model wrote; ``finished`` says whether it ended the text itself. Never raises: a text that cannot be read is
        an answer too, with its outcome."""

    def demonstrate(self, task: TaskT) -> Demonstration | None:
        """What a model may learn to write about a task before it learns from rewards; None: there is nothing to show."""
        return None


class LabDialect(Dialect[TaskT, AnswerT]):
    """A dialect in the words of the lab model, one token each."""

    @abstractmethod
    def limit(self, task: TaskT) -> int:
        """The most words that an answer may take, the end token included."""

    def obstacles(self, config: Any, engineer: bool) -> list[str]:
        """Why the lab model cannot be trained on a config, a sentence each; ``engineer``: or be the engineer too."""
        return []


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

    def reward(self, optimality: float) -> float:
        """What a stage pays for the answer, 0..1: the best earns 1, a valid one at least ``1 - optimality``, an invalid one its credit.

        Args:
            optimality: the part of a valid answer's reward that depends on its efficiency; one half of it shrinks with the efficiency, the
                other is for the optimum alone.
        """
        if not self.valid:
            return self.credit
        return 1 - optimality * (1 - (self.efficiency + self.optimal) / 2)


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


class Teacher(ABC, Generic[TaskT]):
    """Shows the lab model how to mend its answers, from which imitation learns, and whole answers, from which practice learns."""

    @abstractmethod
    def mend(self, attempts: Sequence[Attempt[TaskT]]) -> list[Mended | None]:
        """A good answer for each attempt, which keeps a part of what was written; None if there is none."""

    def answers(self, attempts: Sequence[Attempt[TaskT]]) -> list[Mended | None]:
        """A whole good answer to the task of each attempt, which may have no text yet. A teacher that knows the answer need not search."""
        return self.mend(attempts)

    def wrong_answers(self, attempts: Sequence[Attempt[TaskT]]) -> list[Mended | None] | None:
        """A whole answer to the task of each attempt that overlooks what makes the task hard. None: this teacher knows no wrong answers."""
        return None


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
