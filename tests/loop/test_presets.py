from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from frozenlab.lake.draw.feasible import undrawable
from frozenlab.lake.draw.hashes import canonical_hashes
from frozenlab.lake.suites import held_out
from frozenlab.models.folders import PLANNER
from frozenlab.models.training.methods import NAMES as METHODS
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.session.loop import suites_of
from frozenlab.session.presets import PRESETS, preset_spec
from frozenlab.session.spec import SessionSpec

LAB = [name for name, preset in PRESETS.items() if preset.language is None]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", LAB)
def test_a_preset_is_a_session_that_can_run_by_each_method(name: str, method: str) -> None:
    spec = preset_spec(name, method=method, engineer="rules", seed=4)
    assert (spec.training.method, spec.engineer.kind, spec.seed) == (method, "rules", 4)
    assert not [reason for cell in spec.initial_config.cells if (reason := undrawable(spec.initial_config, cell))]
    assert spec.suite.cells


@pytest.mark.parametrize("name", [name for name in PRESETS if name not in LAB])
def test_a_preset_of_a_language_model_trains_by_grpo_alone(name: str) -> None:
    spec = preset_spec(name)
    assert spec.language is not None and (spec.policy.startswith("Qwen/") or spec.policy == PLANNER)
    assert spec.engineer.kind == ("rules" if name == "smollm2" else "policy"), "as its own engineer so small a model is noise"
    assert preset_spec(name, engineer="policy").engineer.kind == "policy"
    assert (spec.training.scale_rewards, spec.training.credit) == ("none", "nearer"), "a group that solves nothing weighs little"
    assert SessionSpec.model_validate_json(spec.model_dump_json()) == spec
    with pytest.raises(ValueError, match=f"the preset {name} trains by GRPO"):
        preset_spec(name, method="imitation")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policy": "lab-model"}, 'name it in "policy"'),
        ({"training": {"method": "imitation"}}, "imitation needs the lab model"),
        ({"training": {"boards_per_step": 7, "completions_per_board": 3}}, '"rows" has to divide 21'),
        ({"language": {"launcher": {"processes": 3}}}, "3 processes cannot share 16 boards a step evenly"),
        ({"language": {"max_tokens": 9000}}, "prompt and answer together only 8192"),
        ({"language": {"trust_remote_code": True}}, "Extra inputs are not permitted"),
    ],
)
def test_a_spec_that_cannot_work_is_refused(changes: dict[str, Any], message: str) -> None:
    spec = preset_spec("qwen3-0.6b").model_dump()
    for name, change in changes.items():
        spec[name] = spec[name] | change if isinstance(change, dict) else change
    with pytest.raises(ValidationError, match=message):
        SessionSpec.model_validate(spec)


@pytest.mark.parametrize(("name", "boards_per_cell"), [("quick", 100), ("smoke", 17), ("qwen3-0.6b", 20), ("smollm2", 50)])
def test_test_boards_of_a_preset_are_held_out_from_everything_and_from_its_engineer(name: str, boards_per_cell: int) -> None:
    spec = preset_spec(name)
    suite, test = ([instance.board for instance in boards] for boards in suites_of(spec))
    assert len(test) == boards_per_cell * len(spec.suite.cells)
    assert np.isin(canonical_hashes(test), held_out()).all(), "no warm start has seen them"
    assert not np.isin(canonical_hashes(test), canonical_hashes(suite)).any()


def test_a_spec_without_a_method_means_grpo() -> None:
    """As sessions recorded before there were others."""
    assert TrainingSettings.model_validate_json('{"steps": 40, "learning_rate": 0.0001}').method == "grpo"
