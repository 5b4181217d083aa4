"""What the settings of a language model ask of TRL's trainer."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.settings import Vllm
from frozenlab.models.training.runs.language_grpo import LanguageGRPORun
from tests.language_sessions import tiny_spec


def run_of(tiny_model: Path, kind: str = "lora", **language: Any) -> LanguageGRPORun:
    spec = tiny_spec(tiny_model, kind, **language)
    assert spec.language is not None
    return LanguageGRPORun(HFPolicy.load(str(tiny_model), spec.language, to_train=True), spec.training, stages=1, seed=0)


@pytest.mark.parametrize(("dtype", "asked"), [("bfloat16", (True, False)), ("float16", (False, True)), ("float32", (False, False))])
def test_the_number_format_reaches_the_trainer(tiny_model: Path, tmp_path: Path, dtype: str, asked: tuple[bool, bool]) -> None:
    run = run_of(tiny_model, dtype=dtype)
    arguments = run.arguments(tmp_path)
    assert (arguments["bf16"], arguments["fp16"]) == asked
    trained = {weight.dtype for weight in run.policy.model.parameters() if weight.requires_grad}
    assert [str(kind) for kind in trained] == ["torch.float32"], "adapters are float32 in every format"


@pytest.mark.parametrize(
    ("vllm", "weight"), [(Vllm(), 2.0), (Vllm(largest_weight=None), None), (Vllm(largest_weight=3), 3.0), (None, None)]
)
def test_the_largest_weight_of_a_token_reaches_the_trainer(
    tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vllm: Vllm | None, weight: float | None
) -> None:
    run = run_of(tiny_model, vllm=vllm)
    trainer = SimpleNamespace(args=SimpleNamespace(device=torch.device("cpu")))
    monkeypatch.setattr(run, "TRAINER", lambda **_: trainer)
    for name, stand_in in (("task", lambda folder: {}), ("attach", lambda made: made), ("dataset", list)):
        monkeypatch.setattr(run, name, stand_in)
    assert run.trainer(tmp_path).largest_weight == weight
