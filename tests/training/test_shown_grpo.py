"""GRPO with demonstrations: a policy that solves nothing learns from plans that work, and no figure counts them as its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.models.lab.policy import LabPolicy, build_network, build_tokenizer
from frozenlab.models.training.methods import BY_NAME, TrainingSettings
from frozenlab.models.training.runs.grpo import ShownGRPORun
from frozenlab.models.training.stage_run import Stage
from tests.builders import short_spec

GROUP = 8


@pytest.fixture
def run() -> ShownGRPORun:
    settings = TrainingSettings(method="shown-grpo", steps=2, boards_per_step=4, completions_per_board=GROUP)
    run = ShownGRPORun(LabPolicy(build_network(0), build_tokenizer()), settings, stages=1, seed=0)
    run.begin(Stage(generate(EnvironmentConfig.uniform((4, 5), agents=2), 8, seed=0)))
    return run


def test_plans_of_the_solver_take_the_last_quarter_of_a_group(run: ShownGRPORun, tmp_path: Path) -> None:
    prompts = [prompt for prompt in run.prompts[:4] for _ in range(GROUP)]
    written = run.rollout(prompts, run.trainer(tmp_path))["completion_ids"]
    rewards = run.reward_func(prompts, [], written, [place // GROUP for place in range(len(prompts))])
    assert [place for place, reward in enumerate(rewards) if reward == 1] == [place for place in range(4 * GROUP) if place % GROUP >= 6]
    assert max(rewards[place] for place in range(4 * GROUP) if place % GROUP < 6) < 0.5, "an untrained network solves nothing"
    assert (run.figures["valid"], run.figures["optimal"], run.figures["mixed"]) == (0, 0, 1)
    assert len(run.rows) == 4 * GROUP and not any(row["valid"] for row in run.rows), "what people see is what the policy wrote"


def test_it_is_offered_where_the_family_has_a_teacher() -> None:
    spec = short_spec("rules")
    training = spec.training.model_dump() | {"method": "shown-grpo"}
    assert spec.changed(training=training).training.method == "shown-grpo"
    with pytest.raises(ValidationError, match="GRPO with demonstrations needs the lab model"):
        spec.changed(training=training, policy="smollm2", language={})
    assert BY_NAME["shown-grpo"].rewards
