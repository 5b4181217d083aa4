"""The shipped lab model writes 200 proposals on 200 varied contexts, and each of them parses (sections on and off)."""

from __future__ import annotations

import numpy as np
import pytest

from frozenlab.engineer.ask import ask
from frozenlab.engineer.engineers.rules import propose
from frozenlab.engineer.guard import USUAL
from frozenlab.engineer.voices import LabEngineer
from frozenlab.policy.loading import load_policy
from frozenlab.tasks.lake.lab_model.proposals import draw_context, even_config

pytestmark = [pytest.mark.training, pytest.mark.xdist_group("lab-engineer")]


def test_two_hundred_of_two_hundred_proposals_parse_and_most_say_what_the_teacher_says() -> None:
    rng = np.random.default_rng(2026)
    policy = load_policy("lab-model")
    engineer = LabEngineer(lambda prompt, grammar, seed: policy.complete_constrained(prompt, grammar, temperature=0.5, seed=seed))
    section_sets, agreed, said = set(), 0, 0
    for i in range(200):
        context = draw_context(rng)
        section_sets.add(frozenset(context.sections))
        config = even_config(context)
        record = ask(engineer, context, config, USUAL, seed=i)
        assert record.kept_because is None, record.kept_because
        assert record.attempts[0].error is None
        assert record.proposal is not None
        taught = {(claim.cell, claim.knob) for claim in propose(context, config).claims}
        agreed += len(taught & {(claim.cell, claim.knob) for claim in record.proposal.claims})
        said += len(taught)
    assert len(section_sets) > 20
    assert agreed / said > 0.5, "the model no longer turns the knobs that its teacher turns"
