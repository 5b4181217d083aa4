"""The protocol of a policy. Light: the models themselves are in ``policy/lab`` and ``policy/language``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from frozenlab.errors import LabError
from frozenlab.lake.board import Board
from frozenlab.policy.answer import Answer


class PolicyError(LabError, ValueError):
    """A model cannot be loaded; the message says why."""


@dataclass(frozen=True)
class Completion:
    """The text that the model wrote after a prompt."""

    text: str
    """The text without the end token."""
    tokens: int
    """Tokens written, the end token included."""
    finished: bool
    """Whether the model ended the text itself (else the length limit did)."""


class Policy(Protocol):
    """A causal language model with its tokenizer, and the dialect in which it is asked about boards."""

    @property
    def model(self) -> Any: ...

    @property
    def tokenizer(self) -> Any: ...

    def prompt(self, board: Board) -> str:
        """The prompt about a board. Raises DialectError or BoardError for a board that the dialect has no words for."""
        ...

    def limit(self, board: Board) -> int:
        """The most tokens that its answer to a board may take, the end token included."""
        ...

    def completion(self, ids: Sequence[int]) -> Completion:
        """The text of token ids that it wrote."""
        ...

    def read(self, board: Board, completion: Completion) -> Answer:
        """The plan in its text, or the fault that makes it none."""
        ...

    def plan(
        self,
        boards: Sequence[Board],
        *,
        temperature: float = 0.0,
        completions: int = 1,
        seed: int = 0,
        batch_size: int | None = None,
        on_progress: Callable[[int], None] | None = None,
    ) -> list[list[Completion]]:
        """Plan each board ``completions`` times (temperature 0: greedily, all the same). ``on_progress`` is called with the number of
        boards done."""
        ...

    def take_weights(self, folder: Path) -> None:
        """Load the weights of a checkpoint from this policy's training."""
        ...

    def save(self, folder: Path) -> None:
        """Write a checkpoint folder."""
        ...
