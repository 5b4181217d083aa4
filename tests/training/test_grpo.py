"""The parts of a GRPO stage that are ours: packed scoring, group figures, and the samples' independence of TRL's batching."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from trl import GRPOTrainer

from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.models.lab.policy import LabPolicy, build_network, build_tokenizer
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.models.training.runs.grpo import GRPORun, PackedGRPOTrainer, group_figures
from frozenlab.models.training.stage_run import Stage


@pytest.fixture(scope="module")
def run() -> GRPORun:
    boards = generate(EnvironmentConfig.uniform((3, 6), agents=2), 8, seed=0)
    settings = TrainingSettings(steps=2, boards_per_step=4, completions_per_board=4)
    policy = LabPolicy(build_network(0), build_tokenizer())
    run = GRPORun(policy, settings, stages=1, seed=0)
    run.begin(Stage(boards))
    return run


def scored_step(trainer: PackedGRPOTrainer) -> dict[str, torch.Tensor]:
    """What TRL hands to its loss: padded groups of four in random order, two of which have no advantage."""
    draw = torch.Generator().manual_seed(0)
    prompt_ids, completion_ids = torch.zeros(16, 8, dtype=torch.long), torch.zeros(16, 9, dtype=torch.long)
    for group in range(4):
        prompt = torch.randint(2, 300, (2 + 2 * group,), generator=draw)
        for row in range(4 * group, 4 * group + 4):
            prompt_ids[row, 8 - len(prompt) :] = prompt
            n = int(torch.randint(1, 10, (1,), generator=draw))
            completion_ids[row, :n] = torch.randint(2, 300, (n,), generator=draw)
    advantages = torch.randn(16, generator=draw)
    advantages[4:12] = 0
    advantages[5] = 1e-7  # what rounding leaves of equal rewards
    shuffled = torch.randperm(16, generator=draw)
    parts = {"prompt_ids": prompt_ids, "prompt_mask": prompt_ids.gt(0).long()}
    parts |= {"completion_ids": completion_ids, "completion_mask": completion_ids.gt(0).long(), "advantages": advantages}
    return {name: part[shuffled] for name, part in parts.items()} | {"num_items_in_batch": completion_ids.gt(0).sum()}


@pytest.mark.parametrize(("longest", "batch"), [(256, 1024), (16, 40), (1, 1)])
def test_packed_scores_equal_trls_own(run: GRPORun, tmp_path: Path, longest: int, batch: int) -> None:
    trainer = run.trainer(tmp_path)
    trainer.LONGEST, trainer.BATCH = longest, batch
    step = scored_step(trainer)
    ids, mask = (torch.cat([step[f"prompt_{kind}"], step[f"completion_{kind}"]], 1) for kind in ("ids", "mask"))
    packed = trainer._get_per_token_logps_and_entropies(trainer.model, ids, mask, 9, compute_entropy=True)
    plain = GRPOTrainer._get_per_token_logps_and_entropies(trainer, trainer.model, ids, mask, 9, compute_entropy=True)
    for ours, theirs in zip(packed[:2], plain[:2], strict=True):
        torch.testing.assert_close(ours, theirs * step["completion_mask"], atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("loss_type", ["dapo", "grpo", "dr_grpo"])
def test_the_gradient_equals_trls_own(run: GRPORun, tmp_path: Path, loss_type: str) -> None:
    trainer = run.trainer(tmp_path)
    trainer.loss_type = loss_type
    trainer.current_gradient_accumulation_steps = 1

    def gradient(kind: type[GRPOTrainer]) -> torch.Tensor:
        trainer.__class__ = kind
        trainer.model.zero_grad()
        trainer._compute_loss(trainer.model, scored_step(trainer)).backward()
        return torch.cat([weight.grad.flatten() for weight in trainer.model.parameters()])

    plain = gradient(GRPOTrainer)
    assert plain.abs().max() > 1e-3
    torch.testing.assert_close(gradient(PackedGRPOTrainer), plain, atol=1e-6, rtol=1e-4)


def test_a_step_without_advantages_changes_nothing(run: GRPORun, tmp_path: Path) -> None:
    trainer = run.trainer(tmp_path)
    trainer.current_gradient_accumulation_steps = 1
    trainer.model.zero_grad()
    trainer._compute_loss(trainer.model, scored_step(trainer) | {"advantages": torch.zeros(16)}).backward()
    assert all(not weight.grad.any() for weight in trainer.model.parameters())


def test_samples_depend_on_seed_and_step_only(run: GRPORun, tmp_path: Path) -> None:
    trainer = run.trainer(tmp_path)
    prompts = [prompt for prompt in run.prompts[:2] for _ in range(4)]
    first = run.rollout(prompts, trainer)["completion_ids"]
    torch.manual_seed(99)
    assert run.rollout(prompts, trainer)["completion_ids"] == first
    trainer.state.global_step = 1
    assert run.rollout(prompts, trainer)["completion_ids"] != first


def test_group_figures_tell_mixed_groups_apart() -> None:
    assert group_figures(np.array([[1.0, 1.0], [0.0, 1.0]])) == {"reward_std": 0.25, "mixed": 0.5}
    small = np.array([[0.05, 0.01], [0.0, 1.0]])
    assert [group_figures(small, valid)["mixed"] for valid in (None, small == 1)] == [1.0, 0.5]
