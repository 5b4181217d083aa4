"""What a training method is: its name and words, its usual learning rate, and the run that trains by it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from frozenlab.models.policy import Policy
    from frozenlab.models.training.stage_run import StageRun
    from frozenlab.models.training.stage_settings import StageSettings


class Method(ABC):
    """A way to train the policy in a stage."""

    name: ClassVar[str]
    title: ClassVar[str]
    """What people call it: ``GRPO``."""
    label: ClassVar[str]
    """What it does in a few words, behind its title in a list."""
    learned: ClassVar[str]
    """How its policy was trained, after "It was": ``trained by imitating an exact solver``."""
    step: ClassVar[str]
    """What becomes of a step's sampled plans, after "plans sampled in 50 steps;"."""
    learning_rate: ClassVar[float]
    """The usual one, measured to work for the lab model."""
    like: ClassVar[str | None] = None
    """The method whose numbers it takes in the presets that have none for it."""
    rewards: ClassVar[bool] = False
    """Whether it learns from rewards; if not, the same measure of its sampled plans is called their score."""
    language: ClassVar[bool] = False
    """Whether it trains Hugging Face language models too, not only the lab model."""

    @abstractmethod
    def run_type(self, policy: Policy) -> type[StageRun]:
        """The class of the runs that train this policy by it. Imports torch."""

    def settings(self, settings: StageSettings) -> StageSettings:
        """The settings of a session, with what is part of the method itself."""
        return settings

    def run(self, policy: Policy, settings: StageSettings, *, stages: int, seed: int) -> StageRun:
        """What trains ``policy`` in place, over all ``stages`` of the session. Imports torch."""
        return self.run_type(policy)(policy, self.settings(settings), stages=stages, seed=seed)
