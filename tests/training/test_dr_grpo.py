"""Dr. GRPO: TRL's own settings for it reach the trainer, and a session runs by it."""

from __future__ import annotations

from pathlib import Path

from frozenlab.models.loading import load_policy
from frozenlab.models.training.methods import BY_NAME, NAMES
from frozenlab.models.training.settings import TrainingSettings
from frozenlab.session.presets import preset_spec
from frozenlab.session.store import SessionStore
from tests.builders import short_spec
from tests.running import finish


def test_advantages_are_not_divided_by_the_spread_nor_the_loss_by_lengths(tmp_path: Path) -> None:
    run = BY_NAME["dr-grpo"].run(load_policy("lab-model"), TrainingSettings(method="dr-grpo"), stages=1, seed=0)
    arguments = run.arguments(tmp_path)
    assert (arguments["loss_type"], arguments["scale_rewards"]) == ("dr_grpo", "none")


def test_every_preset_offers_it_with_the_numbers_of_grpo() -> None:
    for name in ("quick", "qwen3-0.6b"):
        by_grpo, spec = preset_spec(name).training, preset_spec(name, method="dr-grpo").training
        assert spec == by_grpo.model_copy(update={"method": "dr-grpo"})
    assert BY_NAME["dr-grpo"].rewards and NAMES[0] == "grpo"


def test_a_session_trains_by_it(tmp_path: Path) -> None:
    spec = short_spec("rules").changed(stages=1)
    training = TrainingSettings.model_validate(spec.training.model_dump() | {"method": "dr-grpo"})
    session = SessionStore(tmp_path).create(spec.changed(training=training), "dr")
    assert finish(session) == 0
    figures = session.metrics(0)
    assert len(figures) == 3 and figures["reward_std"].notna().all()
    behaviour = session.context(0).sections["behaviour"][0].text  # type: ignore[union-attr]
    assert behaviour.startswith("Training: mean reward")
