"""Teachers, who mend answers of the lab model so that it can learn from them by imitation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple

import numpy as np

from frozenlab.tasks.task import TaskT


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
