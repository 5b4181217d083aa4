"""Asking for a config: one retry, then the previous config is kept and the record says so."""

from __future__ import annotations

import numpy as np
import pytest

from core.engineer.demonstrations import draw_context
from core.engineer.engineers import SCRIPTED, Engineer, ModelEngineer, ask
from core.engineer.proposal_dialect import ProposalGrammar, render_proposal
from core.engineer.rules import propose
from core.engineer.schema import ENGINEERS, ProposalRecord
from core.lake.config import EnvironmentConfig

CONTEXT = draw_context(np.random.default_rng(4))
CONFIG = EnvironmentConfig.uniform(CONTEXT.sizes, CONTEXT.agents)
GOOD = render_proposal(CONTEXT, propose(CONTEXT))


def asked(*answers: str) -> ProposalRecord:
    """The record of an engineer whose model gives these answers, one after the other."""
    left = list(answers)

    def write(prompt: str, grammar: ProposalGrammar, seed: int) -> str:
        assert prompt.startswith("<engineer>")
        return left.pop(0)

    return ask(ModelEngineer(write), CONTEXT, CONFIG, max_step=0.2, min_share=0.02, seed=1)


def test_a_good_answer_is_used_at_once() -> None:
    record = asked(GOOD)
    assert record.kept_because is None
    assert [attempt.error for attempt in record.attempts] == [None]
    assert record.proposal is not None
    assert record.config_after != CONFIG


def test_a_broken_answer_is_asked_for_again() -> None:
    record = asked("size99 nonsense", GOOD)
    assert record.attempts[0].error is not None
    assert record.attempts[0].raw == "size99 nonsense"
    assert record.kept_because is None
    assert record.config_after == asked(GOOD).config_after


def test_two_broken_answers_keep_the_config_and_say_why() -> None:
    record = asked("", "size99")
    assert record.proposal is None
    assert record.config_after == CONFIG
    assert record.changes == ()
    assert record.kept_because is not None
    assert record.kept_because.startswith("no answer could be used after 2 attempts: word 1 is 'size99', expected size")


def test_a_model_that_finds_no_end_keeps_the_config_too() -> None:
    def write(prompt: str, grammar: ProposalGrammar, seed: int) -> str:
        raise ValueError("the text did not end within the 1024 tokens the model can hold")

    record = ask(ModelEngineer(write), CONTEXT, CONFIG, max_step=0.2, min_share=0.02, seed=1)
    assert record.config_after == CONFIG
    assert record.kept_because is not None and "did not end" in record.kept_because


@pytest.mark.parametrize("engineer", SCRIPTED.values(), ids=lambda engineer: engineer.name)
def test_every_scripted_engineer_gives_a_config_that_survives_the_guard(engineer: Engineer) -> None:
    record = ask(engineer, CONTEXT, CONFIG, max_step=0.2, min_share=0.02, seed=1)
    assert record.engineer == engineer.name
    assert record.proposal is not None
    assert tuple(record.config_after.sizes) == CONTEXT.sizes


def test_fixed_changes_nothing_and_random_depends_on_the_seed() -> None:
    def after(name: str, seed: int) -> EnvironmentConfig:
        return ask(SCRIPTED[name], CONTEXT, CONFIG, max_step=1, min_share=0, seed=seed).config_after  # type: ignore[index]

    assert after("fixed", 1) == CONFIG
    assert after("random", 1) == after("random", 1)
    assert after("random", 1) != after("random", 2)


def test_no_engineer_of_the_spec_is_missing() -> None:
    assert {*SCRIPTED, "policy", "base"} == set(ENGINEERS)
