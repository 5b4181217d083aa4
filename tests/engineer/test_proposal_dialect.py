"""The engineer's dialect: what the grammar allows parses, what it does not is named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.engineer.dialects.lab import ProposalError, ProposalGrammar, parse_proposal, render_context, render_proposal
from frozenlab.engineer.engineers import rules
from frozenlab.engineer.schema import Context
from frozenlab.lake.config import EnvironmentConfig, SizeConfig
from frozenlab.tasks.lake.dialects.vocabulary import WORDS, percent_value, percent_word
from frozenlab.tasks.lake.lab_model.proposals import demonstrations, draw_context

seeds = st.integers(0, 2**31 - 1)


def context_of(seed: int) -> Context:
    return draw_context(np.random.default_rng(seed))


def config_of(context: Context) -> EnvironmentConfig:
    return EnvironmentConfig.uniform(context.sizes, context.agents)


def random_walk(context: Context, seed: int) -> str:
    """A completion that obeys the grammar and nothing else: what an untrained model writes under constrained decoding."""
    rng, grammar, words = np.random.default_rng(seed), ProposalGrammar(context), []
    while allowed := grammar.allowed(words):
        words.append(str(rng.choice(list(allowed))))
    return " ".join(words)


@given(seeds, seeds)
def test_whatever_the_grammar_allows_parses(context_seed: int, walk_seed: int) -> None:
    context = context_of(context_seed)
    proposal = parse_proposal(context, config_of(context), random_walk(context, walk_seed))
    assert tuple(proposal.config.sizes) == context.sizes
    assert {claim.size for claim in proposal.claims} == set(context.sizes)
    seen = {line.id for lines in context.sections.values() for line in lines}
    assert all(set(claim.evidence) <= seen for claim in proposal.claims), "a claim cites evidence that was not shown"


@given(seeds)
def test_the_teachers_proposal_survives_the_dialect_up_to_rounding(seed: int) -> None:
    context = context_of(seed)
    taught = rules.propose(context)
    read = parse_proposal(context, config_of(context), render_proposal(context, taught))
    for size, cell in taught.config.sizes.items():
        assert read.config.sizes[size].hole_ratio == pytest.approx(cell.hole_ratio, abs=0.0126)
        assert read.config.sizes[size].wait_ratio == pytest.approx(cell.wait_ratio, abs=0.0126)
        assert read.config.sizes[size].share == pytest.approx(cell.share, abs=0.11)  # up to eight shares, each 0.0125 off


@given(seeds)
def test_every_word_is_in_the_vocabulary(seed: int) -> None:
    context = context_of(seed)
    text = render_context(context) + " " + render_proposal(context, rules.propose(context))
    assert set(text.split()) <= set(WORDS)


def test_values_written_as_the_old_ones_round_stay_exactly_as_they_are() -> None:
    context = Context(stage=0, agents=2, sizes=(3, 4, 5), sections={})
    before = EnvironmentConfig.uniform((3, 4, 5), hole_ratio=0.21, wait_ratio=0.19)
    kept = " ".join(f"size{n} valid{n} unknown hole_ratio keep wait_ratio keep expect unknown" for n in (3, 4, 5))
    config = " ".join(f"share{n} 32.5% hole{n} 20% wait{n} 20%" for n in (3, 4, 5))
    assert parse_proposal(context, before, f"{kept} <config> {config}").config == before


def test_what_the_dialect_has_no_words_for_stays() -> None:
    context = Context(stage=0, agents=2, sizes=(4, 6), sections={})
    before = EnvironmentConfig(
        wait_definition="sum_of_costs", sizes={4: SizeConfig(share=0.5), 6: SizeConfig(share=0.5, layouts={"maze": 0.75, "open": 0.25})}
    )
    after = parse_proposal(context, before, random_walk(context, 5)).config
    assert after != before
    assert after.with_layouts_of(before) == after


def test_a_config_that_contradicts_its_rationale_is_told() -> None:
    context = Context(stage=0, agents=2, sizes=(4,), sections={})
    text = "size4 valid4 40% hole_ratio up wait_ratio keep expect 50% <config> share4 100% hole4 10% wait4 20%"
    claim = parse_proposal(context, EnvironmentConfig.uniform((4,)), text).claims[0]
    assert claim.text == "Size 4: lower the hole ratio from 0.20 to 0.10, because it is 40% valid; expect 50%. Yet it said up."


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the proposal ends after word 0, expected size4"),
        ("size5", "word 1 is 'size5', expected size4"),
        ("size4 F valid4", "word 2 is 'F', expected valid4"),
        ("size4 valid4 41%", "word 3 is '41%', expected one of 0%, 2.5%, 5%, ..., unknown"),
        ("size4 valid4 40% hole_ratio keep wait_ratio keep expect 50%", "the proposal ends after word 9, expected <config>"),
    ],
)
def test_broken_completions_are_named(text: str, reason: str) -> None:
    context = Context(stage=0, agents=2, sizes=(4,), sections={})
    with pytest.raises(ProposalError) as error:
        parse_proposal(context, EnvironmentConfig.uniform((4,)), text)
    assert str(error.value) == reason


def test_demonstrations_are_the_same_for_the_same_seed() -> None:
    assert list(demonstrations(5, seed=1)) == list(demonstrations(5, seed=1))
    assert list(demonstrations(5, seed=1)) != list(demonstrations(5, seed=2))


@given(st.floats(0, 1))
def test_percent_words_are_within_half_a_step(rate: float) -> None:
    assert abs(percent_value(percent_word(rate)) - rate) <= 0.0125 + 1e-12
