"""Expert iteration (Anthony et al. 2017; for language models STaR, Zelikman et al. 2022): the policy imitates the best of its own plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from frozenlab.training.methods.method import Method

if TYPE_CHECKING:
    from frozenlab.policy.policy import Policy
    from frozenlab.training.stage_run import StageRun
    from frozenlab.training.stage_settings import StageSettings


class ExpertIteration(Method):
    name: ClassVar[str] = "expert-iteration"
    title: ClassVar[str] = "expert iteration"
    label: ClassVar[str] = "learns the best of its own plans"
    learned: ClassVar[str] = "trained by imitating the best of its own plans (expert iteration)"
    step: ClassVar[str] = "it imitates the best, as the rules of the lake choose."
    learning_rate: ClassVar[float] = 5e-5

    def run(self, policy: Policy, settings: StageSettings, *, stages: int, seed: int) -> StageRun:
        from frozenlab.training.runs.expert_iteration import ExpertIterationRun

        return ExpertIterationRun(policy, settings, stages=stages, seed=seed)
