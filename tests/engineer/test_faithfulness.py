"""Whether the cited evidence says what a claim says, and the config does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from frozenlab.engineer.ask import ask
from frozenlab.engineer.engineers import engineer_of
from frozenlab.engineer.faithfulness import Checked, check, in_words
from frozenlab.engineer.guard import GuardSettings
from frozenlab.engineer.protocol import Models
from frozenlab.engineer.schema import Claim, GuardReport, Proposal, ProposalRecord
from frozenlab.engineer.sections import failures
from frozenlab.lake.config import EnvironmentConfig
from recipes.lab_model import tutor
from recipes.lab_model.proposals import draw_context
from tests.engineer.builders import context_of, of_sizes

CONFIG = EnvironmentConfig.uniform((4, 6))
SIX = CONFIG.described()[1]
CONTEXT = context_of(CONFIG, failures.cell_line(SIX, 40, 0.62, 0.5, {"hole": 0.3, "edge_conflict": 0.08}))
TRUE: dict[str, Any] = {"cell": "6", "knob": "share", "before": 0.4, "after": 0.5, "evidence": ("F6",), "now": 0.625, "cause": "hole"}


def record_of(*claims: Claim, config: EnvironmentConfig = CONFIG) -> ProposalRecord:
    proposal = Proposal(summary="", claims=claims, config=config)
    return ProposalRecord(
        stage=0, engineer="policy", attempts=(), proposal=proposal, guard=GuardReport(), config_before=CONFIG, config_after=config,
        changes=(),
    )  # fmt: skip


def test_a_claim_that_its_line_and_its_config_bear_out_is_faithful() -> None:
    record = record_of(Claim(**TRUE))
    assert check(record, CONTEXT) == Checked(1, 1)
    assert in_words(record, CONTEXT) == "The claim is faithful: the cited lines say what is said, and the config does it."


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"now": 0.8}, "Size 6: it reads 80% valid, but F6 says 62%."),
        ({"evidence": ()}, "Size 6: it reads 62% valid, and cites no line that states a valid rate."),
        ({"cause": "vertex_conflict"}, "no line that it cites names the fault"),
        ({"after": 0.7}, "Size 6: it announces a share of 0.70, but its config has 0.50."),
        ({"cell": "9"}, "9: it announces a share of 0.50, but its config has no such cell."),
    ],
)
def test_what_is_not_so_is_said(wrong: dict[str, Any], sentence: str) -> None:
    record = record_of(Claim(**TRUE | wrong), Claim(**TRUE))
    assert check(record, CONTEXT) == Checked(1, 2)
    assert in_words(record, CONTEXT).startswith("1 of 2 claims is faithful. ") and sentence in in_words(record, CONTEXT)


def test_a_claim_that_says_nothing_is_not_counted() -> None:
    nothing = record_of(Claim(cell="6", knob=None, before=None, after=None))
    unusable = record_of().model_copy(update={"proposal": None})
    assert check(nothing, CONTEXT) == check(unusable, CONTEXT) == Checked(0, 0)
    assert in_words(nothing, CONTEXT) == ""


@pytest.mark.parametrize("engineer", ["rules", "learnability", "uniform", "fixed"])
def test_scripted_engineers_are_faithful(engineer: str) -> None:
    for seed in range(20):
        context, config = of_sizes(seed)
        record = ask(engineer_of(engineer).build(Models("")), context, config, GuardSettings(max_step=1.0), seed=seed)
        checked = check(record, context)
        assert checked.faithful == checked.claims, in_words(record, context)


def test_the_tutor_is_faithful() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        context, config = draw_context(rng)
        record = record_of().model_copy(update={"proposal": tutor.propose(context, config)})
        checked = check(record, context)
        assert checked.faithful == checked.claims, in_words(record, context)
