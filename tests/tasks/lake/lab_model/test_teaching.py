"""What is learnt from a table of outcomes: whose proposals count how much, and which configs are taken to help."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from frozenlab.engineer.dialects.lab import parse_proposal, render_proposal
from frozenlab.engineer.engineers.rules import propose
from frozenlab.engineer.guard import USUAL
from frozenlab.engineer.schema import Context
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import BoardKind
from frozenlab.lake.presets import random_config
from frozenlab.tasks.lake.lab_model.proposals import draw_context, even_config
from frozenlab.tasks.lake.lab_model.teaching import OutcomeModel, TeachSettings, answer, features, fit, told_config, weights, worded

SIZES = (3, 4, 5)
FEW = TeachSettings(candidates=24)


def outcomes(evidences: int, noise: float, seed: int = 0, replicates: int = 1) -> pd.DataFrame:
    """A table in which a config's mean hole ratio brings half a point a point, and nothing else brings anything."""
    rng = np.random.default_rng(seed)
    rows = []
    for evidence in range(evidences):
        for number in range(6):
            config = random_config([BoardKind(2, size) for size in SIZES], rng)
            truth = 0.5 * features(config, dict.fromkeys(config.cells, 0.5))[0] + evidence
            for replicate in range(replicates):
                rows.append(
                    {"evidence": evidence, "author": "random", "number": number, "replicate": replicate, "after": config.model_dump_json()}
                    | {"sizes": json.dumps([3, 3, 4, 4, 5, 5]), "answers_before": "101010", "gain": truth + rng.normal(0, noise)}
                )
    return pd.DataFrame(rows)


def test_better_proposals_are_taught_more_often_and_every_evidence_as_often() -> None:
    table = pd.DataFrame(
        {"evidence": [0, 0, 0, 1], "author": "random", "number": [0, 1, 1, 0], "replicate": [0, 0, 1, 0], "gain": [0.03, 0.01, 0.01, 0.9]}
    )
    table.loc[3, "gain"] = 0.9
    table = pd.concat([table, table.iloc[[0]].assign(replicate=1)], ignore_index=True)
    taught = weights(table, 0.02)
    assert taught.sum() == pytest.approx(1)
    assert taught[3] == pytest.approx(0.5), "a lone proposal has all the weight of its evidence, however large its gain"
    assert (taught[0] + taught[4]) / (taught[1] + taught[2]) == pytest.approx(np.e)


def test_the_outcome_model_finds_what_brings_gains_and_knows_when_nothing_does() -> None:
    model = fit(outcomes(8, noise=0.005))
    assert model.slopes[0] == pytest.approx(0.5, abs=0.1) and np.abs(model.slopes[1:3]).max() < 0.1
    assert model.skill > 0.9
    lost = fit(outcomes(8, noise=1.0))
    assert lost.skill < 0.5 and lost.penalty > model.penalty


def test_one_evidence_is_not_enough_to_judge_a_model_by() -> None:
    with pytest.raises(ValueError, match="two evidences"):
        fit(outcomes(1, noise=0.1))


def told(rng: np.random.Generator) -> Context:
    """An invented context that tells everything."""
    return next(context for context in iter(lambda: draw_context(rng), None) if len(context.sections) == 5 and len(context.cells) > 2)


def test_the_answer_follows_the_outcomes_within_the_guard() -> None:
    rng = np.random.default_rng(1)
    harder = OutcomeModel(np.array([1.0, 0, 0, 0, 0]), 1.0, 1.0)
    easier = replace(harder, slopes=-harder.slopes)
    for _ in range(5):
        context = told(rng)
        before = told_config(context)
        assert before is not None
        valid = {name: context.evidence("failures", name).numbers["valid"] for name in context.names}  # type: ignore[union-attr]
        high, low = (parse_proposal(context, before, answer(context, model, FEW, rng)).config for model in (harder, easier))
        assert features(high, valid)[0] > features(low, valid)[0]
        assert features(high, valid)[0] > features(before, valid)[0] - 0.0125, "but for rounding, keeping is always a candidate"
        for name, cell in high.cells.items():
            assert abs(cell.hole_ratio - before.cells[name].hole_ratio) <= USUAL.max_step + 0.025


def test_without_the_evidence_that_it_needs_the_rules_answer() -> None:
    rng = np.random.default_rng(2)
    context = told(rng)
    blind = context.model_copy(update={"sections": {name: lines for name, lines in context.sections.items() if name != "statistics"}})
    model = OutcomeModel(np.ones(5), 1.0, 1.0)
    assert answer(blind, model, FEW, rng) == render_proposal(blind, propose(blind, even_config(blind)))


def test_a_kept_config_is_worded_so_that_it_is_read_as_kept() -> None:
    context = told(np.random.default_rng(3))
    config = told_config(context)
    assert isinstance(config, EnvironmentConfig)
    proposal = parse_proposal(context, config, worded(context, config, config))
    assert proposal.config == config and all(claim.knob is None for claim in proposal.claims)
