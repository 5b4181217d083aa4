"""The training methods, and the settings of a training stage with a method's usual values.

To add a method, write its class here and give it a place in METHODS.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import AfterValidator, Field

from frozenlab.models.training.stage_settings import StageSettings

if TYPE_CHECKING:
    from frozenlab.models.policy import Policy
    from frozenlab.models.training.stage_run import StageRun


class Method(ABC):
    """A way to train the policy in a stage: its name and words, its usual learning rate, and the run that trains by it."""

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
    teacher: ClassVar[bool] = False
    """Whether it needs the teacher of a task family."""

    @abstractmethod
    def run_type(self, policy: Policy) -> type[StageRun]:
        """The class of the runs that train this policy by it. Imports torch."""

    def settings(self, settings: StageSettings) -> StageSettings:
        """The settings of a session, with what is part of the method itself."""
        return settings

    def run(self, policy: Policy, settings: StageSettings, *, stages: int, seed: int) -> StageRun:
        """What trains ``policy`` in place, over all ``stages`` of the session. Imports torch."""
        return self.run_type(policy)(policy, self.settings(settings), stages=stages, seed=seed)


class GRPO(Method):
    """Group-relative policy optimization (Shao et al. 2024), the paper's method: a board's sampled plans are compared with each other."""

    name = "grpo"
    title = "GRPO"
    label = "reinforcement learning, the paper's method"
    learned = "trained by reinforcement learning (GRPO)"
    step = "the rules of the lake reward them."
    learning_rate = 2e-4
    rewards = True
    language = True

    def run_type(self, policy: Policy) -> type[StageRun]:
        from frozenlab.models.language.policy import HFPolicy
        from frozenlab.models.training.runs.grpo import GRPORun
        from frozenlab.models.training.runs.language_grpo import LanguageGRPORun

        return LanguageGRPORun if isinstance(policy, HFPolicy) else GRPORun


class DrGRPO(GRPO):
    """Dr. GRPO ("GRPO done right", Liu et al. 2025): GRPO without its two biases.

    GRPO divides a group's advantages by the standard deviation of its rewards, which gives boards that are nearly always or never solved
    more weight, and the loss of a completion by its length, which makes long wrong answers cheap. Dr. GRPO does neither: advantages are
    rewards less the group's mean, and each token counts the same against the greatest length.
    """

    name = "dr-grpo"
    title = "Dr. GRPO"
    label = "GRPO without dividing by a group's spread or an answer's length"
    learned = "trained by reinforcement learning (Dr. GRPO)"
    like = "grpo"

    def settings(self, settings: StageSettings) -> StageSettings:
        return settings.model_copy(update={"loss_type": "dr_grpo", "scale_rewards": "none"})


class ShownGRPO(GRPO):
    """GRPO with demonstrations: in each group plans of the exact solver take the places of a quarter of the policy's own (LUFFY, Yan et al.
    2025, without its shaping). A group that the policy never solves teaches nothing by GRPO; with a plan that works in it, it does."""

    name = "shown-grpo"
    title = "GRPO with demonstrations"
    label = "GRPO in whose groups a quarter of the plans are the exact solver's"
    learned = "trained by reinforcement learning (GRPO) with plans of an exact solver in each group"
    like = "grpo"
    language = False
    teacher = True

    def run_type(self, policy: Policy) -> type[StageRun]:
        from frozenlab.models.training.runs.grpo import ShownGRPORun

        return ShownGRPORun


class Imitation(Method):
    """DAgger (Ross et al. 2011): the exact solver corrects the policy's own plans."""

    name = "imitation"
    title = "imitation"
    label = "learns how the exact solver corrects its plans"
    learned = "trained by imitating an exact solver"
    step = "the exact solver shows how those that fail should go on."
    learning_rate = 5e-4
    teacher = True

    def run_type(self, policy: Policy) -> type[StageRun]:
        from frozenlab.models.training.runs.sft import ImitationRun

        return ImitationRun


class ExpertIteration(Method):
    """The policy imitates the best of its own plans (Anthony et al. 2017; for language models STaR, Zelikman et al. 2022)."""

    name = "expert-iteration"
    title = "expert iteration"
    label = "learns the best of its own plans"
    learned = "trained by imitating the best of its own plans (expert iteration)"
    step = "it imitates the best, as the rules of the lake choose."
    learning_rate = 5e-5

    def run_type(self, policy: Policy) -> type[StageRun]:
        from frozenlab.models.training.runs.sft import ExpertIterationRun

        return ExpertIterationRun


METHODS: tuple[Method, ...] = (GRPO(), DrGRPO(), ShownGRPO(), Imitation(), ExpertIteration())
"""Every method, in the order in which people are shown them."""
BY_NAME: dict[str, Method] = {method.name: method for method in METHODS}
NAMES: tuple[str, ...] = tuple(BY_NAME)


def title_of(name: str) -> str:
    """What people call a method; one from a newer version of the lab by its name."""
    return BY_NAME[name].title if name in BY_NAME else name


def titled(name: str) -> str:
    """The method's line in a list: ``GRPO · reinforcement learning, the paper's method``."""
    return f"{BY_NAME[name].title} · {BY_NAME[name].label}"


def _known(name: str) -> str:
    if name not in BY_NAME:
        raise ValueError(f"there is no method {name[:60]!r}; there are {', '.join(NAMES)}")
    return name


class TrainingSettings(StageSettings):
    """One training stage. The defaults are the ones measured to work for the lab model on two cores."""

    method: Annotated[str, AfterValidator(_known), Field(examples=list(NAMES))] = NAMES[0]
    learning_rate: Annotated[float, Field(gt=0, le=1e-2)] = Field(
        default_factory=lambda given: BY_NAME[given.get("method", NAMES[0])].learning_rate
    )
