"""Dr. GRPO: TRL's own settings for it reach the trainer."""

from __future__ import annotations

from pathlib import Path

from frozenlab.models.loading import load_policy
from frozenlab.models.training.methods import BY_NAME, NAMES, TrainingSettings
from frozenlab.session.presets import preset_spec


def test_advantages_are_not_divided_by_the_spread_nor_the_loss_by_lengths(tmp_path: Path) -> None:
    run = BY_NAME["dr-grpo"].run(load_policy("lab-model"), TrainingSettings(method="dr-grpo"), stages=1, seed=0)
    arguments = run.arguments(tmp_path)
    assert (arguments["loss_type"], arguments["scale_rewards"]) == ("dr_grpo", "none")


def test_every_preset_offers_it_with_the_numbers_of_grpo() -> None:
    for name in ("quick", "qwen3-0.6b"):
        by_grpo, spec = preset_spec(name).training, preset_spec(name, method="dr-grpo").training
        assert spec == by_grpo.model_copy(update={"method": "dr-grpo"})
    assert BY_NAME["dr-grpo"].rewards and NAMES[0] == "grpo"
