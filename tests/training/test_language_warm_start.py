"""The warm start of a language model: what it learns from, and that it learns."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from trl import SFTTrainer

from frozenlab.experiments.benchmark.task import checkpoint_of
from frozenlab.lake.board import Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.words import compact
from frozenlab.lake.words.answers import reasoning
from frozenlab.models.language.policy import HFPolicy
from frozenlab.models.loading import load_policy
from frozenlab.models.policy import PolicyError
from frozenlab.models.settings import Lora, WarmStart
from frozenlab.models.training import warm_start as trainers
from frozenlab.models.training.warm_start import WarmStartError, learnt, warm_start
from frozenlab.session.loop import warmed_up
from frozenlab.session.spec import SessionSpec
from frozenlab.session.store import SessionStore
from frozenlab.tasks.countdown.drawing import CountdownConfig
from frozenlab.tasks.countdown.family import COUNTDOWN
from frozenlab.tasks.family import NoQuestionError
from frozenlab.tasks.lake.family import LAKE
from frozenlab.tasks.mixed.family import MIXED
from tests.language_sessions import tiny_policy, tiny_settings, tiny_spec

CONFIG = EnvironmentConfig.uniform((3,), agents=2, hole_ratio=0.2, wait_ratio=0.3)


policy_of = partial(tiny_policy, to_train=True, max_tokens=400)


def test_every_worked_answer_is_an_optimal_plan_with_its_reasons() -> None:
    for task in generate(EnvironmentConfig.uniform((3, 5, 8), agents=3, wait_ratio=0.5), 60, seed=3):
        shown = LAKE.plain.demonstrate(task)
        text = f"{shown.reasoning}\n\n{shown.answer}"
        assert LAKE.judge(task, LAKE.plain.read(task, text, True)).outcome == "optimal"
        assert shown.reasoning.count("Step ") == task.solution.makespan
        for agent in task.board.agents:
            assert f"is on {agent.start} and has to reach {agent.goal}" in shown.reasoning


def test_a_wait_says_for_whom() -> None:
    board = Board.from_text("H g F\nS F G\nH s H")
    assert "agent 1 WAIT on (2, 1) for agent 0" in reasoning(board, ("RR", "WUU"))


@pytest.mark.parametrize("thinking", [True, False])
def test_the_question_is_read_and_the_answer_alone_is_learnt(tiny_model: Path, thinking: bool) -> None:
    policy = policy_of(tiny_model, thinking=thinking)
    [task] = generate(CONFIG, 1, seed=0)
    [row] = learnt(policy, [task])
    written = [token for token, own in zip(row["input_ids"], row["completion_mask"], strict=True) if own]
    assert row["input_ids"][: -len(written)] == policy.prompt_ids([{"role": "user", "content": policy.prompt(task)}])
    completion = policy.completion(written)
    assert completion.finished and completion.text.startswith("<think>\nAgent 0 is on" if thinking else "Agent 0 is on")
    assert LAKE.judge(task, policy.read(task, completion)).outcome == "optimal"


def test_a_model_that_was_taught_the_compact_question_is_asked_it_from_then_on(tiny_model: Path, tmp_path: Path) -> None:
    policy = policy_of(tiny_model, question="compact")
    [task] = generate(CONFIG, 1, seed=0)
    [row] = learnt(policy, [task])
    written = [token for token, own in zip(row["input_ids"], row["completion_mask"], strict=True) if own]
    read = policy.tokenizer.decode(row["input_ids"][: -len(written)])
    assert compact.SYSTEM in read and compact.question(task.board) in read and "hole" not in read, "no rules"
    completion = policy.completion(written)
    assert completion.text == compact.worked_answer(task.board, task.solution.plan or ())
    assert LAKE.judge(task, policy.read(task, completion)).outcome == "optimal"

    policy.save(tmp_path / "taught")
    with pytest.raises(
        PolicyError, match=r'^the model .*taught was taught the question "compact", and the settings ask it the question "full": set'
    ):
        policy_of(tmp_path / "taught")
    for left in (tmp_path / "taught", tmp_path / "whole"):
        language = checkpoint_of(str(left), SessionStore(tmp_path))["language"]
        assert language.question == "compact"
        policy.export(tmp_path / "whole")
    assert checkpoint_of(str(tiny_model), SessionStore(tmp_path))["language"].question == "full"


def test_what_cannot_be_asked_the_compact_question_says_so(tiny_model: Path) -> None:
    with pytest.raises(ValueError, match="answers in a form without thoughts"):
        tiny_settings(question="compact", thinking=True)
    for family in (COUNTDOWN, MIXED):
        with pytest.raises(NoQuestionError, match=f'the family {family.name} has no compact question: take "question": "full"'):
            load_policy(str(tiny_model), tiny_settings(question="compact"), family=family)
    spec = tiny_spec(tiny_model, "full", question="compact").model_dump()
    mixed = {"initial_config": MIXED.config_type(), "suite": MIXED.suite_type()}
    with pytest.raises(ValueError, match="the family mixed has no compact question"):
        SessionSpec.model_validate(spec | mixed)


def test_numbers_that_are_not_finite_end_it_with_a_sentence(tiny_model: Path) -> None:
    policy = policy_of(tiny_model)
    next(policy.model.parameters()).data[:] = float("nan")
    with pytest.raises(WarmStartError, match=r"after step 1 the loss is not finite .* lower learning rate"):
        warm_start(policy, generate(CONFIG, 2, seed=0), WarmStart(examples=2, batch=2), seed=0)


@pytest.mark.slow
@pytest.mark.parametrize(("lora", "rate"), [(None, 5e-3), (Lora(rank=4, alpha=8), 2e-2)], ids=["full", "lora"])
def test_it_learns_them(tiny_model: Path, lora: Lora | None, rate: float) -> None:
    policy = policy_of(tiny_model, lora=lora)
    tasks, losses = generate(CONFIG, 96, seed=1), []
    warm_start(policy, tasks, WarmStart(examples=96, batch=8, learning_rate=rate), 0, lambda done, of, loss: losses.append(loss))
    assert len(losses) == 12 and losses[-1] < 0.8 * losses[0]
    again = policy_of(tiny_model, lora=lora)
    warm_start(again, tasks, WarmStart(examples=96, batch=8, learning_rate=rate), 0)
    pairs = zip(policy.model.parameters(), again.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs), "the same seed, the same weights"


@pytest.mark.slow
def test_it_learns_what_trls_trainer_learns(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the plain gradient, as in :mod:`benchmarks.lean_trainer`; TRL's takes the rows of a step in any order."""
    monkeypatch.setattr(trainers, "MuonAndAdamW", lambda model, rate: torch.optim.SGD(model.parameters(), rate))

    def learnt_by(rows: int) -> HFPolicy:
        policy = policy_of(tiny_model, rows=rows)
        warm_start(policy, generate(CONFIG, 16, seed=1), WarmStart(examples=16, batch=8, learning_rate=0.1), 0)
        return policy

    ours = learnt_by(2)
    monkeypatch.setattr(trainers, "LeanSFTTrainer", SFTTrainer)
    monkeypatch.setattr(trainers, "by_length", lambda rows, step: rows)
    theirs, untaught = learnt_by(4), policy_of(tiny_model)
    one, other, start = (nn.utils.parameters_to_vector(policy.model.parameters()) for policy in (ours, theirs, untaught))
    assert (one - other).abs().max() < 1e-6 < 1e-3 < (one - start).abs().max()


@pytest.mark.slow
def test_on_a_processor_with_instructions_for_it_weights_are_held_in_bfloat16(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frozenlab.models.language.policy.fast_bfloat16", lambda: True)
    policy, losses = policy_of(tiny_model, dtype="bfloat16"), []
    settings = WarmStart(examples=96, batch=8, learning_rate=5e-3)
    warm_start(policy, generate(CONFIG, 96, seed=1), settings, 0, lambda done, of, loss: losses.append(loss))
    assert losses[-1] < 0.8 * losses[0] and {weight.dtype for weight in policy.model.parameters()} == {torch.bfloat16}


@pytest.mark.parametrize(
    ("dtype", "lora", "wide"),
    [("float32", None, 512), ("bfloat16", None, 512), ("bfloat16", None, 0), ("float32", Lora(rank=4, alpha=8), 512)],
    ids=["muon", "muon-bfloat16", "adamw-bfloat16", "lora"],
)
def test_stopped_and_resumed_it_ends_with_the_same_weights(
    dtype: str, lora: Lora | None, wide: int, tiny_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("frozenlab.models.language.policy.fast_bfloat16", lambda: True)
    monkeypatch.setattr(trainers, "WIDE", wide)
    monkeypatch.setattr(trainers, "KEEP_EVERY", 0)
    tasks, settings, seen = generate(CONFIG, 14, seed=1), WarmStart(examples=14, batch=4, learning_rate=5e-3), []

    def taught(folder: Path | None = None, halt: int | None = None) -> list[torch.Tensor]:
        def report(done: int, of: int, loss: float) -> None:
            seen.append((done, of, str(loss)))
            if done == halt:
                raise KeyboardInterrupt

        policy = policy_of(tiny_model, dtype=dtype, lora=lora, rows=2)
        warm_start(policy, tasks, settings, 0, report, folder)
        return list(policy.model.parameters())

    whole = taught()
    steps = seen.copy()
    with pytest.raises(KeyboardInterrupt):
        taught(tmp_path, halt=3)
    assert [path.name for path in tmp_path.glob("checkpoint-*")] == ["checkpoint-2"]
    seen.clear()
    resumed = taught(tmp_path)
    assert seen == [(2, 4, "nan"), *steps[2:]]
    assert all(torch.equal(one, other) for one, other in zip(whole, resumed, strict=True))


def test_an_answer_that_is_too_long_for_the_session_is_refused(tiny_model: Path) -> None:
    with pytest.raises(WarmStartError, match=r"the longest worked answer has [0-9]+ tokens, and an answer may have 20"):
        warm_start(policy_of(tiny_model, max_tokens=20), generate(CONFIG, 4, seed=1), WarmStart(), 0)


def test_a_family_without_worked_answers_is_refused(tiny_model: Path) -> None:
    policy = replace(policy_of(tiny_model), family=COUNTDOWN)
    with pytest.raises(WarmStartError, match="no worked answers"):
        warm_start(policy, COUNTDOWN.draw(CountdownConfig(), 2, 0), WarmStart(), 0)


def test_the_boards_that_a_session_measures_are_kept_out(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tiny_spec(tiny_model, "full")
    seen: list[Any] = []
    monkeypatch.setattr("frozenlab.session.loop.warm_start", lambda policy, tasks, *_: seen.extend(tasks))
    warmed_up(spec, WarmStart(examples=50))
    measured = {task.board for task in spec.tasks.suite(spec.suite, spec.initial_config)}
    assert len(seen) == 50 and not measured & {task.board for task in seen}
