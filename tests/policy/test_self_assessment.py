"""Self-assessment: the lab model says how likely it is to solve a task, and learns it in the stages of a session."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.models.lab.policy import LabPolicy, build_network, build_tokenizer
from frozenlab.models.lab.self_assessment import assess, loss, question
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.models.training.runs.grpo import GRPORun
from frozenlab.models.training.stage_run import Stage
from frozenlab.session.presets import preset_spec

BOARDS = generate(EnvironmentConfig.uniform((3, 6), agents=2), 16, seed=0)


def policy() -> LabPolicy:
    return LabPolicy(build_network(hidden=64, layers=2, intermediate=64), build_tokenizer())


def test_an_answer_does_not_depend_on_the_questions_beside_it() -> None:
    own = policy()
    together, alone = assess(own, BOARDS), np.concatenate([assess(own, [board]) for board in BOARDS])
    assert together == pytest.approx(alone, abs=1e-5) and ((together > 0) & (together < 1)).all()


def test_it_learns_which_boards_it_solves() -> None:
    own = policy()
    rates = [float(instance.board.size == 3) for instance in BOARDS]
    asked = [own.tokenizer(question(own.prompt(instance)))["input_ids"] for instance in BOARDS]
    optimizer = torch.optim.AdamW(own.model.parameters(), lr=3e-3)
    for _ in range(40):
        loss(own.model, asked, rates).backward()
        optimizer.step()
        optimizer.zero_grad()
    said = assess(own, BOARDS)
    assert min(said[i] for i, rate in enumerate(rates) if rate) > max(said[i] for i, rate in enumerate(rates) if not rate)


def test_a_step_of_grpo_teaches_it_if_the_spec_says_so(tmp_path: Path) -> None:
    def losses(weight: float) -> float:
        settings = TrainingSettings(steps=1, boards_per_step=4, completions_per_board=4, self_assessment=weight)
        run = GRPORun(policy(), settings, stages=1, seed=0)
        run.begin(Stage(BOARDS[:4]))
        trainer = run.trainer(tmp_path)
        assert (trainer.second_loss is None) == (weight == 0)
        run.solved = {0: 0.25, 3: 1.0}
        return 0.0 if trainer.second_loss is None else float(trainer.second_loss())

    assert losses(0.0) == 0
    assert losses(2.0) == pytest.approx(2 * losses(1.0), rel=1e-5) and losses(1.0) > 1


def test_only_a_lab_model_that_trains_by_grpo_can_be_taught() -> None:
    spec = preset_spec("quick")
    assert spec.changed(training=spec.training.model_dump() | {"self_assessment": 0.1}).training.self_assessment == 0.1
    with pytest.raises(ValueError, match="self-assessment is taught to a lab model that trains by GRPO"):
        spec.changed(training={"method": "imitation", "self_assessment": 0.1})
