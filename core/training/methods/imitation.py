"""Imitation (DAgger, Ross et al. 2011): the exact solver corrects the policy's own plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from frozenlab.training.methods.method import Method

if TYPE_CHECKING:
    from frozenlab.policy.policy import Policy
    from frozenlab.training.stage_run import StageRun
    from frozenlab.training.stage_settings import StageSettings


class Imitation(Method):
    name: ClassVar[str] = "imitation"
    title: ClassVar[str] = "imitation"
    label: ClassVar[str] = "learns how the exact solver corrects its plans"
    learned: ClassVar[str] = "trained by imitating an exact solver"
    step: ClassVar[str] = "the exact solver shows how those that fail should go on."
    learning_rate: ClassVar[float] = 5e-4

    def run(self, policy: Policy, settings: StageSettings, *, stages: int, seed: int) -> StageRun:
        from frozenlab.training.runs.imitation import ImitationRun

        return ImitationRun(policy, settings, stages=stages, seed=seed)
