"""The engineer's dialect: what the grammar allows parses, what it does not is named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.base.cells import Config
from frozenlab.engineer.dialects.lab import (
    ProposalError,
    ProposalGrammar,
    parse_proposal,
    render_context,
    render_proposal,
    words_of_sections,
)
from frozenlab.engineer.engineers import rules, tutor
from frozenlab.engineer.schema import Context
from frozenlab.engineer.sections import behaviour, failures
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import CellConfig
from frozenlab.models.lab.policy import MAX_POSITIONS
from frozenlab.tasks.vocabulary import WORDS, percent_value, percent_word
from recipes.lab_model.proposals import demonstrations, draw_context
from tests.engineer.builders import MIXED, context_of, mixed_cell

seeds = st.integers(0, 2**31 - 1)


def drawn(seed: int) -> tuple[Context, Config]:
    return draw_context(np.random.default_rng(seed))


drawn_contexts = st.builds(drawn, seeds)
"""Of one team, of several, and of any kinds of tasks; each with its config."""


def random_walk(context: Context, seed: int) -> str:
    """A completion that obeys the grammar and nothing else: what an untrained model writes under constrained decoding."""
    rng, grammar, words = np.random.default_rng(seed), ProposalGrammar(context), []
    while allowed := grammar.allowed(words):
        words.append(str(rng.choice(list(allowed))))
    return " ".join(words)


@given(drawn_contexts, seeds)
def test_whatever_the_grammar_allows_parses(context_and_config: tuple[Context, Config], walk_seed: int) -> None:
    context, config = context_and_config
    proposal = parse_proposal(context, config, random_walk(context, walk_seed))
    assert tuple(proposal.config.cells) == context.names
    assert {claim.cell for claim in proposal.claims} == set(context.names)
    assert all(set(claim.evidence) <= {line.id for line in context.lines} for claim in proposal.claims), "cites what was not shown"


@given(drawn_contexts)
def test_the_teachers_proposal_survives_the_dialect_up_to_rounding(context_and_config: tuple[Context, Config]) -> None:
    context, config = context_and_config
    taught = tutor.propose(context, config)
    read = parse_proposal(context, config, render_proposal(context, taught))
    for name, cell in taught.config.cells.items():
        # No share is written as less than 0.025, so ten small ones take up to a fifth of the boards.
        assert read.config.cells[name].share == pytest.approx(cell.share, abs=0.21)
        was, now = (own.cells[name].settings() for own in (config, read.config))
        assert {knob: now[knob] for knob in now if knob != "share"} == {knob: was[knob] for knob in was if knob != "share"}
    written = {claim.cell: claim for claim in read.claims}
    for claim in taught.claims:
        assert written[claim.cell].now == (None if claim.now is None else pytest.approx(claim.now, abs=0.0126))
        assert (written[claim.cell].cause, written[claim.cell].spread) == (claim.cause, claim.spread)


@given(drawn_contexts)
def test_rules_can_be_said_in_the_dialect_too(context_and_config: tuple[Context, Config]) -> None:
    context, config = context_and_config
    taught = rules.propose(context, config)
    read = parse_proposal(context, config, render_proposal(context, taught))
    for name, cell in taught.config.cells.items():
        for knob in context.tasks.ratios_of(cell):
            turned = any(claim.cell == name and claim.knob == knob for claim in taught.claims)
            wanted = cell.settings()[knob] if turned else config.cells[name].settings()[knob]
            assert read.config.cells[name].settings()[knob] == pytest.approx(wanted, abs=0.0126)


@given(drawn_contexts)
def test_every_word_is_in_the_vocabulary_and_all_of_them_fit(context_and_config: tuple[Context, Config]) -> None:
    context, config = context_and_config
    words = f"{render_context(context)} {render_proposal(context, tutor.propose(context, config))}".split()
    assert set(words) <= set(WORDS) and len(words) < MAX_POSITIONS


def test_values_written_as_the_old_ones_round_stay_exactly_as_they_are() -> None:
    before = EnvironmentConfig.uniform((3, 4, 5), hole_ratio=0.21, wait_ratio=0.19)
    context = context_of(before)
    read = " ".join(f"#{n} valid#{n} unknown usually unknown because unknown" for n in (1, 2, 3))
    config = " ".join(f"share#{n} 32.5% hole#{n} 20% wait#{n} keep expect unknown spread unknown" for n in (1, 2, 3))
    proposal = parse_proposal(context, before, f"{read} <config> {config}")
    assert proposal.config == before
    assert [claim.knob for claim in proposal.claims] == [None, None, None]


def test_what_the_dialect_has_no_words_for_stays() -> None:
    cells = [CellConfig(size=4, share=0.5), CellConfig(size=6, share=0.5, layouts={"maze": 0.75, "open": 0.25})]
    before = EnvironmentConfig.of(cells, wait_definition="sum_of_costs")
    context = context_of(before)
    after = parse_proposal(context, before, random_walk(context, 5)).config
    assert after != before
    assert after.with_layouts_of(before) == after


ONE = EnvironmentConfig.uniform((4,))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the proposal ends after word 0, expected #1"),
        ("#2", "word 1 is '#2', expected #1"),
        ("#1 F valid#1", "word 2 is 'F', expected valid#1"),
        ("#1 valid#1 41%", "word 3 is '41%', expected one of 0%, 2.5%, 5%, ..., unknown"),
        ("#1 valid#1 40% usually 50% because hole", "word 7 is 'hole', expected unknown"),
        ("#1 valid#1 40% usually 50% because unknown", "the proposal ends after word 7, expected <config>"),
    ],
)
def test_broken_completions_are_named(text: str, reason: str) -> None:
    with pytest.raises(ProposalError) as error:
        parse_proposal(context_of(ONE), ONE, text)
    assert str(error.value) == reason


def test_demonstrations_are_the_same_for_the_same_seed() -> None:
    assert list(demonstrations(5, seed=1)) == list(demonstrations(5, seed=1))
    assert list(demonstrations(5, seed=1)) != list(demonstrations(5, seed=2))


def test_no_hash_of_python_decides_which_cell_gets_which_share() -> None:
    _, config = drawn(7)
    assert [round(cell.share, 3) for cell in config.cells.values()] == [0.086, 0.206, 0.069, 0.123, 0.231, 0.233, 0.051]


@given(st.floats(0, 1))
def test_percent_words_are_within_half_a_step(rate: float) -> None:
    assert abs(percent_value(percent_word(rate)) - rate) <= 0.0125 + 1e-12


def mixed_context() -> Context:
    faults = {"vertex_conflict": 0.1, "hole": 0.3}
    return context_of(
        MIXED,
        behaviour.whole_line(0.5, 0.1, 0.1, 20),
        behaviour.cell_line(mixed_cell("3@6"), 0.5, 0.1, 0.4),
        failures.cell_line(mixed_cell("2@4"), 40, 0.6, 0.5, faults),
        failures.cell_line(mixed_cell("3@4"), 40, 0.9, 0.5, {"hole": 0.1}),
        failures.case_line(mixed_cell("3@4"), "a", "hole", 2, "", ""),
    )


def test_a_context_names_cells_by_their_place_and_the_commonest_fault_first() -> None:
    assert render_context(mixed_context()) == (
        "<engineer> #1 k2 size4 #2 k3 size4 #3 k3 size6 "
        "<behaviour> reward 50% entropy 10% length t20 sampled#3 50% delta + 10% optimal 40% "
        "<failures> valid#1 60% optimal 50% hole 30% vertex_conflict 10% valid#2 90% optimal 50% hole 10% case #2 hole t2 <rationale>"
    )


def test_a_proposal_is_read_cell_by_cell() -> None:
    text = (
        "#1 F valid#1 60% usually 90% because hole #2 F valid#2 90% usually 85% because hole "
        "#3 B valid#3 50% usually 80% because unknown "
        "<config> share#1 60% hole#1 keep wait#1 keep expect 77.5% spread 10% "
        "share#2 15% hole#2 keep wait#2 40% expect 90% spread 10% share#3 25% hole#3 30% wait#3 40% expect unknown spread unknown"
    )
    proposal = parse_proposal(mixed_context(), MIXED, text)
    assert {name: (round(cell.share, 3), cell.hole_ratio, cell.wait_ratio) for name, cell in proposal.config.cells.items()} == {
        "2@4": (0.6, 0.2, 0.2), "3@4": (0.15, 0.1, 0.4), "3@6": (0.25, 0.3, 0.4),
    }  # fmt: skip
    assert [(claim.cell, claim.knob, claim.evidence) for claim in proposal.claims] == [
        ("2@4", "share", ("F2@4",)), ("3@4", "share", ("F3@4",)), ("3@4", "wait_ratio", ("F3@4",)), ("3@6", None, ("B3@6",)),
    ]  # fmt: skip
    assert proposal.claims[0].text == (
        "Size 4 with 2 agents: raise the share from 0.50 to 0.60, because it is 60% valid (usually 90%; fault: walks into a hole); "
        "expect 78% ± 10 points [F2@4]."
    )
    assert proposal.summary == (
        "More often: size 4 with 2 agents; less often: size 4 with 3 agents; harder: size 4 with 3 agents; unchanged: size 6 with 3 agents."
    )
    assert render_proposal(mixed_context(), proposal) == text.replace("hole#3 30% wait#3 40%", "hole#3 keep wait#3 keep")


@given(drawn_contexts)
def test_the_words_of_a_prompt_are_counted_by_section(context_and_config: tuple[Context, Config]) -> None:
    context, _ = context_and_config
    counts = words_of_sections(render_context(context))
    assert set(counts) == set(context.sections)
    head = render_context(context.model_copy(update={"sections": {}})).split()
    assert sum(counts.values()) == len(render_context(context).split()) - len(head)
    assert words_of_sections("You design the environment") == {}
