"""GRPO (Shao et al. 2024), the paper's method: a board's sampled plans are compared with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from frozenlab.training.methods.method import Method

if TYPE_CHECKING:
    from frozenlab.policy.policy import Policy
    from frozenlab.training.stage_run import StageRun
    from frozenlab.training.stage_settings import StageSettings


class GRPO(Method):
    name: ClassVar[str] = "grpo"
    title: ClassVar[str] = "GRPO"
    label: ClassVar[str] = "reinforcement learning, the paper's method"
    learned: ClassVar[str] = "trained by reinforcement learning (GRPO)"
    step: ClassVar[str] = "the rules of the lake reward them."
    learning_rate: ClassVar[float] = 2e-4
    rewards: ClassVar[bool] = True
    language: ClassVar[bool] = True

    def run(self, policy: Policy, settings: StageSettings, *, stages: int, seed: int) -> StageRun:
        from frozenlab.policy.language.policy import HFPolicy
        from frozenlab.training.runs.grpo import GRPORun
        from frozenlab.training.runs.language_grpo import LanguageGRPORun

        if isinstance(policy, HFPolicy):
            return LanguageGRPORun(policy, settings, stages=stages, seed=seed)
        return GRPORun(policy, settings, stages=stages, seed=seed)
