"""vLLM outside a session: the engine of a model that is only measured, and the GPU benchmark."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.gpu_stage import SHAPES, build_model, options_of, run_stage, spec_of
from frozenlab.jobs.machine import fast_bfloat16
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.instance import Instance
from frozenlab.models.language.engines import Engine, engine_for
from frozenlab.models.language.policy import HFPolicy, user
from frozenlab.models.language.writers import Begun, Text
from frozenlab.models.policy import Sampling
from frozenlab.models.settings import Lora, Vllm, WarmStart
from frozenlab.models.training.warm_start import warm_start
from tests.language_sessions import LORA, REAL, adapted, needs_real_model, tiny_settings
from tests.tiny_models import boards
from tests.with_vllm.test_vllm_session import probabilities


def test_a_model_that_is_only_measured_has_its_own_engine(tiny_model: Path) -> None:
    settings = tiny_settings(context=2000, vllm=Vllm())
    policy, tasks = HFPolicy.load(str(tiny_model), settings), [Instance.unsolved(board) for board in boards()[:8]]
    by_transformers = policy.answer(tasks)
    policy.writer = engine_for(policy.model, settings)
    by_vllm = policy.answer(tasks)
    for [ours], [theirs] in zip(by_transformers, by_vllm, strict=True):
        assert ours.finished and theirs.finished
        assert theirs.text.startswith("Agent 0:") and ours.text[:12] == theirs.text[:12]
    sampled = policy.answer(tasks[:2], Sampling(1.0, completions=6, seed=3))
    assert all(len({completion.text for completion in group}) > 1 for group in sampled)


def test_an_engine_with_merged_weights_gives_texts_the_probabilities_of_the_model(tiny_model: Path) -> None:
    settings = tiny_settings(context=2000, dtype="float32", lora=Lora(rank=4), vllm=Vllm(merged=True))
    policy = HFPolicy.load(str(tiny_model), settings, to_train=True)
    torch.manual_seed(0)
    for name, weight in policy.model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.05)  # else the adapters change nothing
    engine = engine_for(policy.model, settings)
    asked = [policy.prompt_ids([user(policy.prompt(Instance.unsolved(board)))]) for board in boards()[:4]]
    written = engine.write(asked, limit=20, sampling=Sampling(1.0, seed=4))
    by_engine = torch.cat([torch.tensor(text.logprobs) for text in written])
    assert (by_engine - probabilities(policy.model, asked, written)).abs().mean() < 1e-4
    with policy.model.disable_adapter():
        assert (by_engine - probabilities(policy.model, asked, written)).abs().mean() > 1e-2, "the adapters do change something"


def test_texts_that_go_on_have_the_probabilities_of_the_model_that_wrote_each_token(tiny_model: Path) -> None:
    policy = adapted(tiny_model, 0.05, to_train=True, context=2000, vllm=Vllm(done=0.8))
    engine = engine_for(policy.model, policy.settings)
    assert isinstance(engine, Engine)
    asked = [ids for board in boards()[:3] for ids in [policy.prompt_ids([user(policy.prompt(Instance.unsolved(board)))])] * 4]

    def begin(seed: int) -> list[Begun]:
        return engine.go_on(asked, [Begun([], [])] * 12, enough=1, group=4, limit=40, sampling=Sampling(1.0, seed=seed))

    seed = next(seed for seed in range(10) if not all(text.over for text in begin(seed)))  # the texts depend on the processor
    first = begin(seed)
    assert begin(seed) == first, "the seed decides"
    by_group = [[text.over for text in first[place : place + 4]] for place in (0, 4, 8)]
    assert any(map(all, by_group))
    before = probabilities(policy.model, asked, [Text(text.ids) for text in first])
    assert (torch.cat([torch.tensor(text.logprobs) for text in first]) - before).abs().mean() < 1e-4
    for name, weight in policy.model.named_parameters():
        weight.data += 0.05 * torch.randn_like(weight) if "lora_B" in name else 0
    engine.refresh()
    whole = engine.go_on(asked, first, enough=3, group=4, limit=40, sampling=Sampling(1.0, seed=seed))
    assert all(text.over and len(text.ids) <= 40 for text in whole)
    assert all(text.ids[-1] in policy.ends for text in whole if len(text.ids) < 40)
    after = probabilities(policy.model, asked, [Text(text.ids) for text in whole]).split([len(text.ids) for text in whole])
    for begun, text, now in zip(first, whole, after, strict=True):
        done, by_engine = len(begun.ids), torch.tensor(text.logprobs)
        assert text.ids[:done] == begun.ids and text.logprobs[:done] == begun.logprobs
        torch.testing.assert_close(by_engine[done:], now[done:], atol=1e-3, rtol=0)
        assert (by_engine[:done] - now[:done]).abs().max() > 1e-3, "what an older model wrote keeps its probabilities"


@needs_real_model
@pytest.mark.parametrize(
    ("kind", "dtype", "near"),
    [
        ("lora", "float32", 1e-4),
        pytest.param("full", "bfloat16", 0.1, marks=pytest.mark.skipif(not fast_bfloat16(), reason="too slow without its instructions")),
    ],
)
def test_engine_checkpoint_and_memory_give_texts_the_same_probabilities_with_the_real_model(
    kind: str, dtype: str, near: float, tmp_path: Path
) -> None:
    """The mean difference of a token's logarithm is 4e-6 in float32, and in bfloat16, where logits near 20 are multiples of 1/8, 0.05."""
    settings = tiny_settings(dtype=dtype, lora=LORA[kind], question="compact", max_tokens=100, context=1000, vllm=Vllm())
    policy = HFPolicy.load(str(REAL), settings, to_train=True)
    tasks = [*generate(EnvironmentConfig.uniform((3,), agents=1, wait_ratio=0), 50, seed=1)]
    asked = [policy.asked_ids(policy.prompt(task)) for task in tasks[:4]]
    policy.writer = engine_for(policy.model, settings, tmp_path)

    def agreed(checkpoint: str) -> tuple[list[Text], torch.Tensor]:
        policy.save(tmp_path / checkpoint)
        saved = HFPolicy.load(str(tmp_path / checkpoint), settings)
        policy.writer.refresh()
        written = policy.writer.write(asked, limit=24, sampling=Sampling(1.0, seed=4))
        by_engine = torch.cat([torch.tensor(text.logprobs) for text in written])
        for model in (policy.model.eval(), saved.model):
            assert (by_engine - probabilities(model, asked, written)).abs().mean() < near
        return written, by_engine

    written, before = agreed("before")
    warm_start(policy, tasks, WarmStart(examples=50, batch=1, learning_rate=3e-4), seed=0)
    agreed("after")
    assert (before - probabilities(policy.model, asked, written)).abs().mean() > 3 * near, "50 steps change it by more"


@pytest.mark.parametrize("writer", ["vllm", "vllm-fifths"])
def test_the_benchmark_of_a_gpus_stage_runs_with_vllm(tmp_path: Path, writer: str) -> None:
    build_model(SHAPES["tiny"], tmp_path, "float32")
    options = options_of(
        ["--boards", "2", "--plans", "4", "--steps", "2", "--max-tokens", "16", "--rows", "4", "--memory", "0.3", "--mixed"]
    )
    figures = run_stage(spec_of(options, str(tmp_path), writer), options)
    assert figures["tokens/s written"] > 0 and figures["step, s"] > figures["writing, s"] > 0
    assert abs(figures["sampling KL of the last step"]) < 0.05
