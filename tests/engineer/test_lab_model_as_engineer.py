"""The shipped lab model writes 200 proposals on 200 varied contexts, each of them parses, and most say what its teacher says."""

from __future__ import annotations

import numpy as np
import pytest

from frozenlab.engineer.ask import ask
from frozenlab.engineer.dialects.lab import LabEngineer
from frozenlab.engineer.engineers import tutor
from frozenlab.engineer.guard import USUAL
from frozenlab.models.loading import load_policy
from recipes.lab_model.proposals import draw_context

pytestmark = pytest.mark.long


def test_two_hundred_of_two_hundred_proposals_parse_and_most_say_what_the_teacher_says() -> None:
    rng = np.random.default_rng(2026)
    policy = load_policy("lab-model")
    engineer = LabEngineer(lambda prompt, grammar, seed: policy.complete_constrained(prompt, grammar, temperature=0.5, seed=seed))
    section_sets, read, blamed, said = set(), 0, 0, 0
    for i in range(200):
        context, config = draw_context(rng)
        section_sets.add(frozenset(context.sections))
        record = ask(engineer, context, config, USUAL, seed=i)
        assert record.kept_because is None, record.kept_because
        assert record.attempts[0].error is None
        written = {claim.cell: claim for claim in record.proposal.claims}
        for claim in tutor.propose(context, config).claims:
            own = written[claim.cell]
            read += own.now == claim.now or (own.now is not None and claim.now is not None and abs(own.now - claim.now) < 0.013)
            blamed += own.cause == claim.cause
            said += 1
    assert len(section_sets) > 20
    assert read / said > 0.95, "the model no longer reads the rates that its teacher reads"
    assert blamed / said > 0.5, "the model no longer blames the faults that its teacher blames"
