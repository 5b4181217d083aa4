"""vLLM outside a session: the engine of a model that is only measured, and the GPU benchmark."""

from __future__ import annotations

from pathlib import Path

from benchmarks.gpu_stage import SHAPES, build_model, options_of, run_stage, spec_of
from frozenlab.lake.instance import Instance
from frozenlab.models.language.engines import engine_for
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.policy import Sampling
from frozenlab.models.settings import Vllm
from tests.language_sessions import tiny_settings
from tests.tiny_models import boards


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


def test_the_benchmark_of_a_gpus_stage_runs_with_vllm(tmp_path: Path) -> None:
    build_model(SHAPES["tiny"], tmp_path, "float32")
    options = options_of(
        ["--boards", "2", "--plans", "4", "--steps", "2", "--max-tokens", "16", "--rows", "4", "--memory", "0.3", "--mixed"]
    )
    figures = run_stage(spec_of(options, str(tmp_path), "vllm"), options)
    assert figures["tokens/s written"] > 0 and figures["step, s"] > figures["writing, s"] > 0
    assert 0.9 < figures["sampling ratio of the last step"] < 1.1
