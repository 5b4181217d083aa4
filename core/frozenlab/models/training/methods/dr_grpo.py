"""Dr. GRPO ("GRPO done right", Liu et al. 2025): GRPO without its two biases.

GRPO divides a group's advantages by the standard deviation of its rewards, which gives boards that are nearly always or never solved more
weight, and the loss of a completion by its length, which makes long wrong answers cheap. Dr. GRPO does neither: advantages are rewards less
the group's mean, and each token counts the same against the greatest length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from frozenlab.models.training.methods.grpo import GRPO

if TYPE_CHECKING:
    from frozenlab.models.training.stage_settings import StageSettings


class DrGRPO(GRPO):
    name = "dr-grpo"
    title = "Dr. GRPO"
    label = "GRPO without dividing by a group's spread or an answer's length"
    learned = "trained by reinforcement learning (Dr. GRPO)"
    like = "grpo"

    def settings(self, settings: StageSettings) -> StageSettings:
        return settings.model_copy(update={"loss_type": "dr_grpo", "scale_rewards": "none"})
