"""What the settings of a language model ask of TRL's trainer."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from frozenlab.models.folders import noted_question
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.language.writers import Text
from frozenlab.models.settings import Vllm
from frozenlab.models.training.checkpoints import SEAL, sealed_sums
from frozenlab.models.training.runs.language_grpo import LanguageGRPORun
from frozenlab.models.training.runs.lean_grpo import agreement
from frozenlab.session.health.rules import BOUNDS
from tests.language_sessions import tiny_spec


def run_of(tiny_model: Path, kind: str = "lora", **language: Any) -> LanguageGRPORun:
    spec = tiny_spec(tiny_model, kind, **language)
    assert spec.language is not None
    return LanguageGRPORun(HFPolicy.load(str(tiny_model), spec.language, to_train=True), spec.training, stages=1, seed=0)


def test_what_was_written_for_it_is_not_learnt(tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_of(tiny_model)
    written = [Text([5, 6, 7], None, [1, 0, 1]), Text([5], None)]
    monkeypatch.setattr(HFPolicy, "write", lambda *_, **__: written)
    trainer: Any = SimpleNamespace(state=SimpleNamespace(global_step=0))
    assert run.rollout(["a", "b"], trainer)["env_mask"] == [[1, 0, 1], [1]], "TRL's name for it"
    written[0] = Text([5, 6, 7], None)
    assert "env_mask" not in run.rollout(["a", "b"], trainer)


@pytest.mark.parametrize(("dtype", "asked"), [("bfloat16", (True, False)), ("float16", (False, True)), ("float32", (False, False))])
def test_the_number_format_reaches_the_trainer(
    tiny_model: Path, tmp_path: Path, dtype: str, asked: tuple[bool, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frozenlab.models.language.policy.fast_bfloat16", lambda: False)
    run = run_of(tiny_model, dtype=dtype)
    arguments = run.arguments(tmp_path)
    assert (arguments["bf16"], arguments["fp16"]) == asked
    trained = {weight.dtype for weight in run.policy.model.parameters() if weight.requires_grad}
    assert [str(kind) for kind in trained] == ["torch.float32"], "adapters are float32 in every format"


@pytest.mark.parametrize(("noise", "kl", "cut"), [(0.1, 0.003, 0.001), (0.6, 0.15, 0.065), (1.0, 0.45, 0.1)])
def test_an_engine_of_other_weights_shows_in_divergence_and_cut_tokens_and_hardly_in_the_mean_ratio(
    noise: float, kl: float, cut: float
) -> None:
    draws = torch.Generator().manual_seed(0)
    trainer = torch.randn(4000, 500, generator=draws)
    engine = (trainer + noise * torch.randn(4000, 500, generator=draws)).log_softmax(1)
    drawn = torch.multinomial(engine.exp(), 1, generator=draws)
    figures = agreement((trainer.log_softmax(1).gather(1, drawn) - engine.gather(1, drawn)).flatten(), 2.0)
    assert figures["importance_sampling_ratio/mean"] == pytest.approx(1, abs=0.05)
    assert (figures["kl"], figures["cut"]) == (pytest.approx(kl, rel=0.25, abs=0.005), pytest.approx(cut, rel=0.3, abs=0.002))
    by_rule = {rule.figure: rule.most for rule in BOUNDS}
    assert (figures["kl"] > by_rule["sampling_kl"]) == (figures["cut"] > by_rule["sampling_cut"]) == (noise > 0.3)


@pytest.mark.parametrize(
    ("overlong", "masks", "lost"),
    [("counted", False, [0, 0, 0, 0, 0]), ("masked", True, [0, 0, 0, 0, 0]), ("penalised", False, [0, 0, 0.25, 0.5, 1])],
)
def test_answers_that_are_too_long_are_counted_masked_or_penalised(
    tiny_model: Path, tmp_path: Path, overlong: Any, masks: bool, lost: list[float]
) -> None:
    run = run_of(tiny_model)  # answers of at most 40 tokens
    run.settings = run.settings.model_copy(update={"overlong": overlong})
    assert run.arguments(tmp_path)["mask_truncated_completions"] == masks
    assert [run.penalty(tokens) for tokens in (1, 32, 34, 36, 40)] == lost


def test_a_checkpoint_says_which_question_it_was_taught(tiny_model: Path, tmp_path: Path) -> None:
    (checkpoint := tmp_path / "checkpoint-3").mkdir()
    (checkpoint / "model.safetensors").touch()
    run: Any = run_of(tiny_model, question="compact")
    run.on_save(SimpleNamespace(output_dir=tmp_path), SimpleNamespace(global_step=3), None)
    assert noted_question(str(checkpoint)) == "compact" and "question.json" in sealed_sums(checkpoint / SEAL)


@pytest.mark.parametrize(
    ("vllm", "weight"), [(Vllm(), 2.0), (Vllm(largest_weight=None), None), (Vllm(largest_weight=3), 3.0), (None, None)]
)
def test_the_largest_weight_of_a_token_reaches_the_trainer(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vllm: Vllm | None, weight: float | None
) -> None:
    run = run_of(tiny_model, vllm=vllm)
    made = SimpleNamespace(param_groups=[])
    trainer = SimpleNamespace(args=SimpleNamespace(device=torch.device("cpu")), create_optimizer=lambda: made)
    monkeypatch.setattr(run, "TRAINER", lambda **_: trainer)
    for name, stand_in in (("task", lambda folder: {}), ("attach", lambda made: made), ("dataset", list)):
        monkeypatch.setattr(run, name, stand_in)
    assert run.trainer(tmp_path).largest_weight == weight
