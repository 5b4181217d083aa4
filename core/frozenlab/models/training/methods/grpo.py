"""GRPO (Shao et al. 2024), the paper's method: a board's sampled plans are compared with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frozenlab.models.training.methods.method import Method

if TYPE_CHECKING:
    from frozenlab.models.policy import Policy
    from frozenlab.models.training.stage_run import StageRun


class GRPO(Method):
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
