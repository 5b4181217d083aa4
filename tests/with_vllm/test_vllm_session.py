"""Whole sessions in which vLLM itself writes the plans and the proposals, in the training process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from trl.generation.vllm_generation import VLLMGeneration

from frozenlab.loop import loop
from frozenlab.loop.session import Session
from frozenlab.loop.store import SessionStore
from frozenlab.policy.language.writers import VllmWriter
from frozenlab.policy.settings import Vllm
from frozenlab.training.runs.language_grpo import LanguageGRPORun
from tests.language_sessions import LORA, tiny_spec, trained_weights
from tests.running import finish


class Watched(LanguageGRPORun):
    """The run of the session under test."""

    last: LanguageGRPORun

    def start_engine(self, *given: object) -> None:
        super().start_engine(*given)  # type: ignore[arg-type]
        Watched.last = self


@pytest.fixture(scope="module", params=LORA)
def session(request: pytest.FixtureRequest, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("frozenlab.training.runs.language_grpo.LanguageGRPORun", Watched)
        patched.setattr(loop, "LanguageGRPORun", Watched)
        folder = SessionStore(tmp_path_factory.mktemp("vllm"))
        session = folder.create(tiny_spec(tiny_model, request.param, vllm=Vllm(sleep=False)), request.param)
        assert finish(session) == 0, session.state().error
        yield session


def test_it_goes_from_stage_to_validation_to_proposal_to_stage(session: Session) -> None:
    for stage in range(2):
        assert (session.metrics(stage)["grad_norm"] > 0).any()
        validation, record = session.validation(stage), session.proposal(stage)
        assert validation is not None and validation["completion"].str.startswith("Agent 0:").all()
        assert record is not None and record.kept_because is None, record
        assert set(json.loads(record.attempts[0].raw)["cells"]) == {"3", "4"}
    assert any(not torch.equal(trained_weights(session, 0)[name], tensor) for name, tensor in trained_weights(session, 1).items())


def test_what_it_samples_from_is_what_is_trained(session: Session) -> None:
    """Stale weights show here first: the difference grew to 0.036 in six steps, the ratio left 0.7..1.5. The engine computes in bfloat16,
    the trainer in float32, which is what is left of it."""
    metrics = [session.metrics(stage) for stage in range(2)]
    for table in metrics:
        assert table["sampling_ratio"].between(0.97, 1.03).all(), table
        assert (table["sampling_difference"] < 0.01).all(), table


def test_after_the_session_engine_and_model_have_the_same_weights(session: Session) -> None:
    policy = Watched.last.policy
    assert isinstance(policy.writer, VllmWriter)
    policy.writer.write([policy.prompt_ids([{"role": "user", "content": "?"}])], limit=2, temperature=0.0, seed=0)
    merged = {name: weight.clone() for name, weight in weights_for(policy.writer.engine)}
    held = dict(policy.writer.engine.llm.llm_engine.model_executor.driver_worker.model_runner.model.named_parameters())
    assert "model.embed_tokens.weight" in merged
    compared = [name for name in merged if name in held]
    assert len(compared) >= 9
    for name in compared:
        rounded = merged[name].to(held[name].dtype)
        assert torch.equal(held[name].data[: len(rounded)], rounded), name  # the vocabulary is padded in the engine
    q, k, v = (merged[f"model.layers.0.self_attn.{name}_proj.weight"] for name in "qkv")
    joined = held["model.layers.0.self_attn.qkv_proj.weight"].data
    assert torch.equal(joined, torch.cat([q, k, v]).to(joined.dtype))


def weights_for(engine: VLLMGeneration) -> Iterator[tuple[str, torch.Tensor]]:
    """What the trainer would give the engine now: the model's weights, adapters merged."""
    yield from engine._iter_named_params()


def test_stopped_and_resumed_it_ends_with_the_same_weights(session: Session, tiny_model: Path, tmp_path: Path) -> None:
    halted = SessionStore(tmp_path).create(session.spec, "halted")
    assert finish(halted, lambda event: event["kind"] == "step" and (event["stage"], event["step"]) == (1, 1)) == 3
    assert finish(halted) == 0, halted.state().error
    for stage in range(2):
        torch.testing.assert_close(trained_weights(halted, stage), trained_weights(session, stage), atol=1e-6, rtol=1e-5)
