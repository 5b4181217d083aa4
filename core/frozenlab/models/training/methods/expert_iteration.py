"""Expert iteration (Anthony et al. 2017; for language models STaR, Zelikman et al. 2022): the policy imitates the best of its own plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frozenlab.models.training.methods.method import Method

if TYPE_CHECKING:
    from frozenlab.models.policy import Policy
    from frozenlab.models.training.stage_run import StageRun


class ExpertIteration(Method):
    name = "expert-iteration"
    title = "expert iteration"
    label = "learns the best of its own plans"
    learned = "trained by imitating the best of its own plans (expert iteration)"
    step = "it imitates the best, as the rules of the lake choose."
    learning_rate = 5e-5

    def run_type(self, policy: Policy) -> type[StageRun]:
        from frozenlab.models.training.runs.expert_iteration import ExpertIterationRun

        return ExpertIterationRun
