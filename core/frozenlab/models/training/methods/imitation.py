"""Imitation (DAgger, Ross et al. 2011): the exact solver corrects the policy's own plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frozenlab.models.training.methods.method import Method

if TYPE_CHECKING:
    from frozenlab.models.policy import Policy
    from frozenlab.models.training.stage_run import StageRun


class Imitation(Method):
    name = "imitation"
    title = "imitation"
    label = "learns how the exact solver corrects its plans"
    learned = "trained by imitating an exact solver"
    step = "the exact solver shows how those that fail should go on."
    learning_rate = 5e-4

    def run_type(self, policy: Policy) -> type[StageRun]:
        from frozenlab.models.training.runs.imitation import ImitationRun

        return ImitationRun
