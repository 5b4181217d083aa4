"""What every policy is. Light: the models themselves are in ``models/lab`` and ``models/language``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frozenlab.base.errors import LabError
from frozenlab.tasks.family import Family
from frozenlab.tasks.task import Dialect, Task


class PolicyError(LabError, ValueError):
    """A model cannot be loaded; the message says why."""


def not_finite(model: Any, *, learnt: bool = False) -> str | None:
    """The name of the first weight, of those that are ``learnt`` or of all, that holds NaN or infinite numbers; None: there is none."""
    weights = ((name, weight.detach()) for name, weight in model.named_parameters() if weight.requires_grad or not learnt)
    return next((name for name, weight in weights if not all(end.isfinite() for end in weight.aminmax())), None)


def check_finite(model: Any, name: str | Path) -> None:
    """Raises PolicyError if the weights of a model that was just loaded are not all finite."""
    if weight := not_finite(model):
        raise PolicyError(
            f"{name} holds weights that are not finite numbers (NaN or infinite), first in {weight}; take an older checkpoint"
        )


@dataclass(frozen=True)
class Completion:
    """The text that the model wrote after a prompt."""

    text: str
    """The text without the end token."""
    tokens: int
    """Tokens written, the end token included."""
    finished: bool
    """Whether the model ended the text itself (else the length limit did)."""


@dataclass(frozen=True)
class Sampling:
    """How answers are sampled. The default is the one greedy answer."""

    temperature: float = 0.0
    """0: greedily, all answers to a task are the same."""
    completions: int = 1
    """Answers to each task."""
    seed: int = 0
    top_p: float = 1.0
    """Of a language model: a token is drawn from the likeliest ones whose probabilities together reach this."""
    top_k: int = 0
    """Of a language model: a token is drawn from this many of the likeliest; 0: from all."""
    batch_size: int | None = None
    """Answers that are written at once; None: as many as the policy finds best."""


GREEDY = Sampling()
Progress = Callable[[int], None]


class Policy(ABC):
    """A causal language model with its tokenizer, which answers the tasks of one family in the family's dialect for such models."""

    model: Any
    tokenizer: Any
    family: Family

    @property
    @abstractmethod
    def dialect(self) -> Dialect[Any, Any]:
        """How it is asked about tasks."""

    def prompt(self, task: Task) -> str:
        """The prompt about a task. Raises a LabError for one that the dialect has no words for."""
        return self.dialect.prompt(task)

    @abstractmethod
    def limit(self, task: Task) -> int:
        """The most tokens that its answer to a task may take, the end token included."""

    @abstractmethod
    def sampling(self, seed: int) -> Sampling:
        """How it answers where it is measured; draws, if there are any, come from ``seed``."""

    @abstractmethod
    def completion(self, ids: Sequence[int]) -> Completion:
        """The text of token ids that it wrote."""

    def read(self, task: Task, completion: Completion) -> Any:
        """The family's answer in its text."""
        return self.dialect.read(task, completion.text, completion.finished)

    def answer(self, tasks: Sequence[Task], sampling: Sampling = GREEDY, on_progress: Progress | None = None) -> list[list[Completion]]:
        """Answer each task ``sampling.completions`` times. ``on_progress`` is called with the number of tasks done."""
        return self.complete([self.prompt(task) for task in tasks], [self.limit(task) for task in tasks], sampling, on_progress)

    @abstractmethod
    def complete(
        self, prompts: Sequence[str], limits: Sequence[int], sampling: Sampling = GREEDY, on_progress: Progress | None = None
    ) -> list[list[Completion]]:
        """The same for prompts as :meth:`prompt` gives them, with the most tokens that each answer may take."""

    @abstractmethod
    def take_weights(self, folder: Path) -> None:
        """Load the weights of a checkpoint from this policy's training."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write a checkpoint folder."""
