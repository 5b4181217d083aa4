"""The engineer's dialect: what the grammar allows parses, what it does not is named."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.engineer.dialects.lab import ProposalError, ProposalGrammar, parse_proposal, render_context, render_proposal
from frozenlab.engineer.engineers import rules
from frozenlab.engineer.schema import Context
from frozenlab.engineer.sections import behaviour, failures
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import CellConfig
from frozenlab.tasks.lake.dialects.vocabulary import CONFIG, DIRECTIONS, WORDS, percent_value, percent_word
from frozenlab.tasks.lake.lab_model.proposals import demonstrations, draw_context, even_config
from tests.engineer.builders import MIXED, context_of, mixed_cell

seeds = st.integers(0, 2**31 - 1)


def drawn_context(seed: int, mixed: float) -> Context:
    return draw_context(np.random.default_rng(seed), mixed)


contexts = st.builds(drawn_context, seeds, st.sampled_from([0.0, 1.0]))
"""Of one team and of several."""


def random_walk(context: Context, seed: int) -> str:
    """A completion that obeys the grammar and nothing else: what an untrained model writes under constrained decoding."""
    rng, grammar, words = np.random.default_rng(seed), ProposalGrammar(context), []
    while allowed := grammar.allowed(words):
        words.append(str(rng.choice(list(allowed))))
    return " ".join(words)


@given(contexts, seeds)
def test_whatever_the_grammar_allows_parses(context: Context, walk_seed: int) -> None:
    proposal = parse_proposal(context, even_config(context), random_walk(context, walk_seed))
    assert tuple(proposal.config.cells) == context.names
    assert {claim.cell for claim in proposal.claims} == set(context.names)
    seen = {line.id for lines in context.sections.values() for line in lines}
    assert all(set(claim.evidence) <= seen for claim in proposal.claims), "a claim cites evidence that was not shown"


@given(contexts)
def test_the_teachers_proposal_survives_the_dialect_up_to_rounding(context: Context) -> None:
    taught = rules.propose(context, even_config(context))
    read = parse_proposal(context, even_config(context), render_proposal(context, taught))
    for name, cell in taught.config.cells.items():
        assert read.config.cells[name].hole_ratio == pytest.approx(cell.hole_ratio, abs=0.0126)
        assert read.config.cells[name].wait_ratio == pytest.approx(cell.wait_ratio, abs=0.0126)
        assert read.config.cells[name].share == pytest.approx(cell.share, abs=0.11)  # up to twelve shares, each 0.0125 off


@given(contexts)
def test_every_word_is_in_the_vocabulary(context: Context) -> None:
    text = render_context(context) + " " + render_proposal(context, rules.propose(context, even_config(context)))
    assert set(text.split()) <= set(WORDS)


def test_values_written_as_the_old_ones_round_stay_exactly_as_they_are() -> None:
    before = EnvironmentConfig.uniform((3, 4, 5), hole_ratio=0.21, wait_ratio=0.19)
    context = context_of(before)
    kept = " ".join(f"size{n} valid{n} unknown hole_ratio keep wait_ratio keep expect unknown" for n in (3, 4, 5))
    config = " ".join(f"share{n} 32.5% hole{n} 20% wait{n} 20%" for n in (3, 4, 5))
    assert parse_proposal(context, before, f"{kept} <config> {config}").config == before


def test_what_the_dialect_has_no_words_for_stays() -> None:
    cells = [CellConfig(size=4, share=0.5), CellConfig(size=6, share=0.5, layouts={"maze": 0.75, "open": 0.25})]
    before = EnvironmentConfig.of(cells, wait_definition="sum_of_costs")
    context = context_of(before)
    after = parse_proposal(context, before, random_walk(context, 5)).config
    assert after != before
    assert after.with_layouts_of(before) == after


def test_a_config_that_contradicts_its_rationale_is_told() -> None:
    context = context_of(EnvironmentConfig.uniform((4,)))
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
    context = context_of(EnvironmentConfig.uniform((4,)))
    with pytest.raises(ProposalError) as error:
        parse_proposal(context, EnvironmentConfig.uniform((4,)), text)
    assert str(error.value) == reason


def test_demonstrations_are_the_same_for_the_same_seed() -> None:
    assert list(demonstrations(5, seed=1)) == list(demonstrations(5, seed=1))
    assert list(demonstrations(5, seed=1)) != list(demonstrations(5, seed=2))


@given(st.floats(0, 1))
def test_percent_words_are_within_half_a_step(rate: float) -> None:
    assert abs(percent_value(percent_word(rate)) - rate) <= 0.0125 + 1e-12


PROMPT = """\
<engineer> k4 sizes size3 size5
<behaviour> reward 52.5% entropy 50% length t33 sampled3 65% delta - 2.5% optimal 40% sampled5 20% delta + 0% optimal 17.5%
<failures> valid3 67.5% optimal 47.5% out_of_bounds 2.5% hole 2.5% vertex_conflict 10% edge_conflict 17.5% case size3 edge_conflict t2
valid5 22.5% optimal 17.5% parse_error 5% missing_agent 5% hole 12.5% vertex_conflict 52.5% edge_conflict 2.5% goal_not_reached 2.5%
<statistics> share3 35% hole3 30% wait3 70% drawn 70% makespan t6 share5 65% hole5 10% wait5 90% drawn 90% makespan t6
<preserved> preserved3 67.5%
<history> history3 hole_ratio + 10% delta + 12.5% history5 hole_ratio - 10% delta + 2.5% <rationale>"""
ANSWER = """\
size3 B F S P H valid3 67.5% hole_ratio keep wait_ratio keep expect 72.5% size5 B F S H valid5 22.5% hole_ratio keep wait_ratio keep
expect 27.5% <config> share3 60% hole3 30% wait3 70% share5 40% hole5 10% wait5 90%"""


def test_with_one_team_prompts_and_answers_are_those_that_the_shipped_lab_model_learnt() -> None:
    context = drawn_context(335, mixed=0.0)
    assert render_context(context).split() == PROMPT.split()
    assert render_proposal(context, rules.propose(context, even_config(context))).split() == ANSWER.split()
    learnt = "\n".join(f"{prompt}\n{answer}" for prompt, answer in demonstrations(100, seed=1))
    assert hashlib.sha256(learnt.encode()).hexdigest() == "1aa5f73ee3aa390ab41530d3c83a8d8d7c7e9382afd7981e0d5e79567a2a8d35"


def mixed_context() -> Context:
    faults = {"hole": 0.3, "vertex_conflict": 0.1}
    return context_of(
        MIXED,
        behaviour.whole_line(0.5, 0.1, 0.1, 20),
        behaviour.cell_line(mixed_cell("3@6"), 0.5, 0.1, 0.4),
        failures.cell_line(mixed_cell("2@4"), 40, 0.6, 0.5, faults),
        failures.cell_line(mixed_cell("3@4"), 40, 0.9, 0.5, faults),
        failures.case_line(mixed_cell("3@4"), "a", "hole", 2, "", ""),
    )


def test_with_several_teams_the_team_stands_before_all_that_is_said_of_a_cell() -> None:
    assert render_context(mixed_context()) == (
        "<engineer> k2 sizes size4 k3 sizes size4 size6 "
        "<behaviour> reward 50% entropy 10% length t20 k3 sampled6 50% delta + 10% optimal 40% "
        "<failures> k2 valid4 60% optimal 50% hole 30% vertex_conflict 10% k3 valid4 90% optimal 50% hole 30% vertex_conflict 10% "
        "k3 case size4 hole t2 <rationale>"
    )


def test_a_proposal_for_several_teams_is_read_cell_by_cell() -> None:
    text = (
        "k2 size4 F valid4 60% hole_ratio keep wait_ratio keep expect 67.5% "
        "k3 size4 F valid4 90% hole_ratio up wait_ratio keep expect 92.5% "
        "k3 size6 B valid6 50% hole_ratio keep wait_ratio up expect 57.5% "
        "<config> k2 share4 25% hole4 20% wait4 20% k3 share4 25% hole4 20% wait4 30% k3 share6 50% hole6 30% wait6 50%"
    )
    proposal = parse_proposal(mixed_context(), MIXED, text)
    assert {name: (cell.share, cell.hole_ratio, cell.wait_ratio) for name, cell in proposal.config.cells.items()} == {
        "2@4": (0.25, 0.2, 0.2), "3@4": (0.25, 0.2, 0.3), "3@6": (0.5, 0.3, 0.5),
    }  # fmt: skip
    assert [(claim.cell, claim.knob, claim.evidence) for claim in proposal.claims] == [
        ("2@4", None, ("F2@4",)), ("3@4", "hole_ratio", ("F3@4",)), ("3@6", "wait_ratio", ("B3@6",)),
    ]  # fmt: skip
    assert proposal.claims[1].text == (
        "Size 4 with 3 agents: raise the hole ratio from 0.10 to 0.20, because it is 90% valid; expect 92% [F3@4]."
    )
    assert proposal.summary == "Harder: size 4 with 3 agents, 6 with 3 agents; unchanged: size 4 with 2 agents."
    with pytest.raises(ProposalError, match="word 12 is 'size4', expected k3"):
        parse_proposal(mixed_context(), MIXED, text.replace("k3 size4", "size4"))


def rationale(text: str) -> list[str]:
    """The words before the config but for the directions, which are told from what the config does."""
    return [word for word in text.partition(CONFIG)[0].split() if word not in DIRECTIONS]


@given(contexts)
def test_what_was_read_is_written_in_the_same_words(context: Context) -> None:
    before = even_config(context)
    text = render_proposal(context, rules.propose(context, before))
    assert rationale(render_proposal(context, parse_proposal(context, before, text))) == rationale(text)
