"""What a ready-made session is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from frozenlab.base.errors import LabError
from frozenlab.models.training.methods import BY_NAME, NAMES

if TYPE_CHECKING:
    from frozenlab.base.cells import Config


class PresetError(LabError, ValueError):
    """A preset does not support a training method; the message lists those it supports."""


class Boards(NamedTuple):
    """What a session draws its tasks from, of one family."""

    config: Config
    """The config of the first stage."""
    suite: Any
    """The validation tasks, which the engineer reads."""
    test: Any
    """The test tasks, of the same cells."""


@dataclass(frozen=True)
class Preset:
    """A ready-made session for any training method and any engineer."""

    title: str
    words: str
    """What the preset is for, and how long it takes on two cores."""
    stages: int
    boards: Callable[[], Boards]
    """Makes the config and the suites; a function, because these load much that a list of presets does not need."""
    training: dict[str, dict[str, Any]]
    """Training settings of a stage by method, where they differ from the defaults of TrainingSettings. All take about the same time."""
    policy: str = "lab-model"
    language: dict[str, Any] | None = None
    """``LanguageSettings`` of a Hugging Face model; such a preset needs a GPU."""
    proposal_tokens: int | None = None
    """The longest proposal of such a model as engineer; None: the usual one."""

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that it has numbers for, of their own or of a method that they are like."""
        return tuple(name for name in NAMES if {name, BY_NAME[name].like} & set(self.training))

    def numbers(self, method: str) -> dict[str, Any]:
        """How one stage trains by one of its methods."""
        like = BY_NAME[method].like
        return self.training[method if method in self.training or like is None else like]
