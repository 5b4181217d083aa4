"""Whether the cited evidence says what a claim says, and the proposed config does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from frozenlab.engineer.engineers import tutor
from frozenlab.engineer.faithfulness import Checked, check, in_words
from frozenlab.engineer.guard import GuardSettings
from frozenlab.engineer.schema import Claim, Proposal, ProposalRecord
from frozenlab.engineer.sections import failures
from frozenlab.lake.config import EnvironmentConfig
from recipes.lab_model.proposals import draw_context
from tests.engineer.builders import asked, context_of, of_sizes, record_of

CONFIG = EnvironmentConfig.uniform((4, 6))
SIX = CONFIG.described()[1]
CONTEXT = context_of(CONFIG, failures.cell_line(SIX, 40, 0.62, 0.5, {"hole": 0.3, "edge_conflict": 0.08}))
TRUE: dict[str, Any] = {"cell": "6", "knob": "share", "before": 0.4, "after": 0.5, "evidence": ("F6",), "now": 0.625, "cause": "hole"}


def claiming(*claims: Claim, config: EnvironmentConfig = CONFIG) -> ProposalRecord:
    return record_of(CONFIG, proposal=Proposal(summary="", claims=claims, config=config))


def test_a_claim_that_its_line_and_its_config_bear_out_is_faithful() -> None:
    record = claiming(Claim(**TRUE))
    assert check(record, CONTEXT) == Checked(1, 1)
    assert in_words(record, CONTEXT) == "The claim is faithful: the cited lines say what is said, and the proposed config does it."


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"now": 0.8}, "Size 6: it reads 80 % valid, but F6 says 62 %."),
        ({"evidence": ()}, "Size 6: it reads 63 % valid, and cites no line that states a valid rate."),
        ({"cause": "vertex_conflict"}, "no line that it cites names the fault"),
        ({"cause": "edge_conflict"}, 'Size 6: it blames "two agents swap cells" (8 %), but "walks into a hole" is commoner (30 %).'),
        ({"after": 0.7}, "Size 6: it announces a share of 0.70, but its config has 0.50."),
        ({"cell": "9"}, "9: it announces a share of 0.50, but its config has no such cell."),
    ],
)
def test_what_is_not_so_is_said(wrong: dict[str, Any], sentence: str) -> None:
    record = claiming(Claim(**TRUE | wrong), Claim(**TRUE))
    assert check(record, CONTEXT) == Checked(1, 2)
    assert in_words(record, CONTEXT).startswith("1 of 2 claims is faithful. ") and sentence in in_words(record, CONTEXT)


def test_what_the_guard_changed_and_what_cannot_be_checked_is_said_beside_the_faithful_claims() -> None:
    silent = Claim(cell="4", knob=None, before=None, after=None)
    kept = CONFIG.with_cells({**CONFIG.cells, "6": CONFIG.cells["6"].model_copy(update={"share": 0.4})})
    record = claiming(Claim(**TRUE), Claim(**TRUE), silent).model_copy(update={"config_after": kept})
    assert check(record, CONTEXT) == Checked(2, 2), "the engineer did what it announced"
    assert in_words(record, CONTEXT) == (
        "All 2 claims that can be checked are faithful: the cited lines say what is said, and the proposed config does it. 1 other says "
        "nothing that can be checked. The guard changed 1 setting of these: size 6 got a share of 0.40."
    )


def test_a_claim_that_says_nothing_is_not_counted() -> None:
    nothing = claiming(Claim(cell="6", knob=None, before=None, after=None))
    unusable = claiming().model_copy(update={"proposal": None})
    assert check(nothing, CONTEXT) == check(unusable, CONTEXT) == Checked(0, 0)
    assert in_words(nothing, CONTEXT) == ""


@pytest.mark.parametrize("engineer", ["rules", "learnability", "uniform", "fixed"])
def test_scripted_engineers_are_faithful(engineer: str) -> None:
    for seed in range(20):
        context, config = of_sizes(seed)
        record = asked(engineer, context, config, GuardSettings(max_step=1.0), seed)
        checked = check(record, context)
        assert checked.faithful == checked.claims, in_words(record, context)


def test_the_tutor_is_faithful() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        context, config = draw_context(rng)
        record = claiming().model_copy(update={"proposal": tutor.propose(context, config)})
        checked = check(record, context)
        assert checked.faithful == checked.claims, in_words(record, context)
