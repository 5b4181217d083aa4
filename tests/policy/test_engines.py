"""What an engine is given: the weights that the model computes with, the model itself left alone. vLLM itself: tests/with_vllm."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from frozenlab.policy.language.engines import merged_weights, published
from frozenlab.policy.language.policy import HFPolicy
from frozenlab.policy.settings import LanguageSettings, Lora

pytestmark = [pytest.mark.training, pytest.mark.xdist_group("language")]


def adapted(tiny_model: Path, size: float) -> HFPolicy:
    """In bfloat16, with adapters of that size."""
    settings = LanguageSettings(dtype="bfloat16", device="cpu", lora=Lora(rank=4, alpha=8), vllm=None)
    policy = HFPolicy.load(str(tiny_model), settings, to_train=True)
    draw = torch.Generator().manual_seed(1)
    for name, weight in policy.model.named_parameters():
        if "lora_B" in name:
            weight.data = torch.randn(weight.shape, generator=draw) * size
    return policy


def test_300_synchronisations_leave_a_bfloat16_model_as_it_was(tiny_model: Path) -> None:
    model = adapted(tiny_model, 0.02).model
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    for _ in range(300):
        for _, weight in merged_weights(model):
            assert weight.dtype in (torch.bfloat16, torch.float32)
    assert all(torch.equal(weight, before[name]) for name, weight in model.named_parameters())


def test_what_is_sent_is_base_and_change_to_half_a_step(tiny_model: Path) -> None:
    model = adapted(tiny_model, 0.05).model
    sent = dict(merged_weights(model))
    changed = 0
    for name, layer in model.named_modules():
        if not hasattr(layer, "base_layer"):
            continue
        base, delta = layer.base_layer.weight.float(), layer.get_delta_weight("default").float()
        given = sent[f"{name.removeprefix('base_model.model.')}.weight"].float()
        step = torch.finfo(torch.bfloat16).eps * 2 ** torch.floor(torch.log2((base + delta).abs().clamp(min=1e-30)))
        assert ((given - (base + delta)).abs() <= step / 2 * 1.0001).all()
        changed += int((given != base).sum())
    assert changed > 1000
    assert "model.embed_tokens.weight" in sent and not any("lora" in name or "base_layer" in name for name in sent)


def test_a_revision_is_given_to_the_engine_as_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """vLLM would load the main branch's config, tokenizer and weights."""
    asked = []
    monkeypatch.setattr("frozenlab.policy.language.engines.snapshot_download", lambda name, **how: asked.append((name, how)) or "folder")
    assert published("Qwen/Qwen3-4B", "abc") == "folder"
    assert asked[0][0] == "Qwen/Qwen3-4B" and asked[0][1]["revision"] == "abc"
    assert published("Qwen/Qwen3-4B", None) == "Qwen/Qwen3-4B" and published(str(tmp_path), "abc") == str(tmp_path)
    assert len(asked) == 1


def test_a_whole_model_is_sent_as_it_is(tiny_model: Path) -> None:
    settings = LanguageSettings(dtype="float32", device="cpu", lora=None, vllm=None)
    model = HFPolicy.load(str(tiny_model), settings, to_train=True).model
    assert all(torch.equal(sent, weight) for (_, sent), weight in zip(merged_weights(model), model.parameters(), strict=True))
