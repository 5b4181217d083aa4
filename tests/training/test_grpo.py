"""The parts of a GRPO stage that are ours: trimmed scoring, step figures, and the samples' independence of TRL's batching."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import torch

from core.lake.config import EnvironmentConfig
from core.lake.generator import generate
from core.policy.lab_model import build_network, build_tokenizer
from core.policy.policy import Policy
from core.training.grpo import StageRun, step_figures
from core.training.settings import TrainingSettings

pytestmark = [pytest.mark.training, pytest.mark.xdist_group("training")]


@pytest.fixture(scope="module")
def run() -> StageRun:
    boards = generate(EnvironmentConfig.uniform((3, 6), agents=2), 8, seed=0)
    settings = TrainingSettings(steps=2, boards_per_step=4, completions_per_board=4)
    policy = Policy(build_network(0), build_tokenizer())
    return StageRun(policy, boards, settings, seed=0, first_step=0, report=lambda *_: None, stopping=lambda: False)


def test_trimmed_scoring_equals_trls_own(run: StageRun, tmp_path: Path) -> None:
    trainer = run.trainer(tmp_path, max_steps=2)
    trainer.ROWS = 3
    lengths = torch.randint(1, 9, (10, 2), generator=torch.Generator().manual_seed(0))
    mask = torch.zeros(10, 16, dtype=torch.long)
    for row, (prompt, completion) in enumerate(lengths.tolist()):
        mask[row, 8 - prompt : 8 + completion] = 1
    ids = torch.randint(1, 200, (10, 16), generator=torch.Generator().manual_seed(1)) * mask
    trimmed, trimmed_entropy, _ = trainer._get_per_token_logps_and_entropies(trainer.model, ids, mask, 8, compute_entropy=True)
    whole, whole_entropy, _ = super(type(trainer), trainer)._get_per_token_logps_and_entropies(
        trainer.model, ids, mask, 8, compute_entropy=True
    )
    kept = mask[:, 8:].bool()
    torch.testing.assert_close(trimmed[kept], whole[kept], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(trimmed_entropy[kept], whole_entropy[kept], atol=1e-5, rtol=1e-4)


def test_samples_depend_on_seed_and_step_only(run: StageRun, tmp_path: Path) -> None:
    trainer = run.trainer(tmp_path, max_steps=2)
    prompts = [prompt for prompt in run.prompts[:2] for _ in range(4)]
    first = run.roll_out(prompts, trainer)["completion_ids"]
    torch.manual_seed(99)
    assert run.roll_out(prompts, trainer)["completion_ids"] == first
    trainer.state.global_step = 1
    assert run.roll_out(prompts, trainer)["completion_ids"] != first


def test_step_figures_tell_mixed_groups_and_sizes_apart() -> None:
    judged = pd.DataFrame(
        {"size": [3, 3, 6, 6], "reward": [1.0, 1.0, 0.0, 1.0], "valid": [True, True, False, True], "optimal": [True, False, False, True]}
    )
    figures = step_figures(judged, group=2)
    assert figures["mixed"] == 0.5
    assert (figures["valid_3"], figures["valid_6"], figures["optimal_3"]) == (1.0, 0.5, 0.5)
