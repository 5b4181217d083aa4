"""TRL's trainer and the lean one learn the same, from less."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.lean_trainer import Made, compare, run
from frozenlab.models.training.runs.lean_grpo import in_passes

pytestmark = pytest.mark.slow


def step(advantages: list[float], lengths: list[int], width: int = 6) -> dict:
    """Completions as TRL hands them over: prompts of two to four tokens padded on the left, completions on the right."""
    rows = len(advantages)
    prompts = torch.tensor([2 + row % 3 for row in range(rows)])
    return {
        "advantages": torch.tensor(advantages),
        "prompt_ids": torch.arange(rows)[:, None].expand(rows, 4),
        "prompt_mask": (torch.arange(4)[None] >= 4 - prompts[:, None]).long(),
        "completion_ids": torch.arange(width)[None].expand(rows, width),
        "completion_mask": (torch.arange(width)[None] < torch.tensor(lengths)[:, None]).long(),
        "num_items_in_batch": torch.tensor(sum(lengths)),
    }


def test_completions_that_teach_pass_by_length_without_padding_and_the_rest_is_idle() -> None:
    passes = list(in_passes(step([1.0, 0.0, -1.0, 0.0, 0.5, 0.0], [6, 6, 2, 3, 4, 1]), 3))
    assert [each["idle"] for each in passes] == [False, False, True]
    assert [each["completion_mask"].sum(1).tolist() for each in passes[:2]] == [[2, 4], [6]]
    assert [each["completion_ids"].shape[1] for each in passes] == [4, 6, 1]
    assert [each["prompt_ids"].shape[1] for each in passes] == [4, 2, 1]
    assert [each["share"] for each in passes[:2]] == [1.0, 0.5]
    assert all(each["num_items_in_batch"] == 22 for each in passes), "of the whole step"


def test_where_nothing_teaches_one_pass_is_left_for_the_figures() -> None:
    passes = list(in_passes(step([0.0, 0.0, 0.0, 0.0], [6, 6, 2, 3]), 2))
    assert [each["idle"] for each in passes] == [False, True]
    assert passes[0]["advantages"].tolist() == [0.0]


def test_completions_that_are_masked_do_not_pass() -> None:
    passes = list(in_passes(step([1.0, -1.0, -1.0, 0.5], [6, 0, 4, 0]), 2))
    assert [each["idle"] for each in passes] == [False, True]
    assert passes[0]["completion_mask"].sum(1).tolist() == [4, 6] and passes[0]["advantages"].tolist() == [-1.0, 1.0]
    assert passes[1]["completion_ids"].shape[1] == 1


def test_where_all_are_masked_one_token_is_left_for_the_figures() -> None:
    first, second = in_passes(step([1.0, -1.0, -1.0, 0.5], [0, 0, 0, 0]), 2)
    assert [first["idle"], second["idle"]] == [False, True]
    assert first["completion_mask"].tolist() == [[1]] and first["advantages"].tolist() == [0.0]


@pytest.mark.parametrize("loss", ["dapo", "grpo", "dr_grpo"])
def test_it_learns_what_trls_trainer_learns_from_fewer_tokens(tmp_path: Path, loss: str) -> None:
    made = Made(boards=4, plans=4, steps=3, longest=24, loss=loss)
    trl, lean = (run(which, made, tmp_path / which) for which in ("trl", "lean"))
    assert compare(trl, lean) < 1e-6
    assert lean.tokens < 0.6 * trl.tokens


def test_the_ratio_of_a_long_answer_is_cut_token_by_token(tmp_path: Path) -> None:
    """Log-probabilities that are 1 too low at every third token: each of those counts twice, the others once, whatever the length."""
    plain, wrong = (run("lean", Made(steps=1, off=off), tmp_path / str(off)) for off in (0.0, -1.0))
    assert plain.figures["importance_sampling_ratio"] == pytest.approx(1, abs=1e-4)
    assert wrong.figures["importance_sampling_ratio"] == pytest.approx((2 + torch.e) / 3, abs=0.15)
    assert 0.5 < wrong.figures["grad_norm"] / plain.figures["grad_norm"] < 2.1
