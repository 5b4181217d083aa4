from __future__ import annotations

import pytest

from core.lake.generator import undrawable
from core.sessions.presets import PRESETS, preset_spec
from core.training.settings import LEARNING_RATES, METHODS, Method, TrainingSettings


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_session_that_can_run_by_each_method(name: str, method: Method) -> None:
    spec = preset_spec(name, method=method, engineer="rules", seed=4)
    assert (spec.training.method, spec.engineer, spec.seed) == (method, "rules", 4)
    assert not [reason for size in spec.initial_config.sizes if (reason := undrawable(spec.initial_config, size))]
    assert spec.suite.cells


def test_each_method_has_a_learning_rate_of_its_own() -> None:
    for method in METHODS:
        assert TrainingSettings(method=method).learning_rate == LEARNING_RATES[method]
        assert TrainingSettings(method=method, learning_rate=2e-5).learning_rate == 2e-5


def test_a_session_that_names_no_method_was_trained_by_grpo() -> None:
    """As sessions recorded before there were others."""
    assert TrainingSettings.model_validate_json('{"steps": 40, "learning_rate": 0.0001}').method == "grpo"
