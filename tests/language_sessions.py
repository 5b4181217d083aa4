"""Sessions of a small language model, for tests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from frozenlab.engineer.engineers import PolicyEngineer, engineer_of
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.suites import SuiteSpec
from frozenlab.models.folders import policy_folder, weights_file
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.settings import LanguageSettings, Lora
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.session.session import Session
from frozenlab.session.spec import SessionSpec

STEPS = 3
REAL = Path(os.environ.get("FROZENLAB_SMOLLM2") or policy_folder("smollm2"))
needs_real_model = pytest.mark.skipif(
    not (REAL / "model.safetensors").is_file(), reason="frozenlab fetch-model smollm2, or FROZENLAB_SMOLLM2"
)
LORA = {"full": None, "lora": Lora(rank=4, alpha=8)}


def tiny_settings(**fields: Any) -> LanguageSettings:
    """How a model of :mod:`tests.tiny_models` is asked: all its weights, on the CPU, by the transformers library."""
    small = {"dtype": "float32", "device": "cpu", "lora": None, "rows": 8, "max_tokens": 40, "context": 8000, "vllm": None}
    return LanguageSettings.model_validate(small | fields)


def tiny_policy(model: Path, *, to_train: bool = False, **fields: Any) -> HFPolicy:
    return HFPolicy.load(str(model), tiny_settings(**fields), to_train=to_train)


def adapted(model: Path, size: float = 0.3, *, to_train: bool = False, **fields: Any) -> HFPolicy:
    """The model with adapters, moved by draws of this size as training would move them."""
    policy = tiny_policy(model, to_train=to_train, lora=LORA["lora"], **fields)
    draw = torch.Generator().manual_seed(1)
    for name, weight in policy.model.named_parameters():
        if "lora_B" in name:
            weight.data = torch.randn(weight.shape, generator=draw) * size
    return policy


def tiny_spec(model: Path, kind: str, engineer: str = "policy", **language: Any) -> SessionSpec:
    """Two stages of STEPS steps, on the CPU; ``kind`` is one of LORA, or ``bfloat16``: all weights, in that format."""
    return SessionSpec(
        title="tiny",
        policy=str(model),
        language=tiny_settings(**{"lora": LORA.get(kind), "dtype": "bfloat16" if kind == "bfloat16" else "float32"} | language),
        engineer=engineer_of(engineer, PolicyEngineer(max_tokens=3000)),
        stages=2,
        initial_config=EnvironmentConfig.uniform((3, 4), agents=2),
        training=TrainingSettings(steps=STEPS, boards_per_step=4, completions_per_board=4, learning_rate=1e-3, temperature=1.0),
        suite=SuiteSpec(agents=(2,), sizes=(3, 4), boards_per_cell=5, seed=1),
        seed=3,
    )


def trained_weights(session: Session, stage: int) -> dict[str, torch.Tensor]:
    return load_file(weights_file(session.stage_dir(stage) / "policy"))
