"""A lab model that asks itself before it writes."""

from __future__ import annotations

import pytest

from frozenlab.base.cells import evenly
from frozenlab.engineer.ask import ask
from frozenlab.engineer.engineers import engineer_of
from frozenlab.engineer.engineers.own_model import PolicyEngineer, beliefs, with_beliefs
from frozenlab.engineer.guard import GuardSettings
from frozenlab.engineer.protocol import Models
from frozenlab.engineer.schema import Context
from frozenlab.engineer.sections.behaviour import cell_line
from frozenlab.experiments.students.menu import usual_config
from frozenlab.models.loading import load_policy
from frozenlab.session.presets import preset_spec
from frozenlab.tasks.families import family_of

CONFIG = evenly(usual_config())
CELLS = CONFIG.described()
NOTHING = Context(family=CONFIG.family, stage=0, cells=CELLS, sections={"statistics": ()})


def test_it_reads_a_line_for_each_cell_that_has_none() -> None:
    sampled = cell_line(CELLS[1], 0.9, 0.1, 0.5)
    context = NOTHING.model_copy(update={"sections": {"statistics": (), "behaviour": (sampled,)}})
    seen = with_beliefs(context, {cell.name: 0.25 for cell in CELLS})
    assert list(seen.sections) == ["behaviour", "statistics"], "in the order of the prompt"
    assert [line.numbers["valid"] for line in seen.sections["behaviour"]] == [0.25, 0.9, 0.25, 0.25, 0.25]
    assert seen.sections["behaviour"][1] == sampled and context.sections["behaviour"] == (sampled,)


def test_the_lab_model_says_what_it_believes_and_cites_only_what_the_context_holds() -> None:
    model = load_policy("lab-model", family=family_of(CONFIG.family))
    believed = beliefs(model, CONFIG, 4)
    assert set(believed) == set(CONFIG.cells) and all(0 < chance < 1 for chance in believed.values())
    assert believed == beliefs(model, CONFIG, 4)
    engineer = PolicyEngineer(asks_itself=4).build(Models("lab-model", None, model, CONFIG))
    assert "<behaviour> sampled#1" in (engineer.prompt(NOTHING) or "")
    record = ask(engineer, NOTHING, CONFIG, GuardSettings(max_step=1.0), seed=1)
    assert record.engineer == "policy" and record.proposal is not None
    assert record.proposal.summary.startswith("(It says of itself that it would solve ")
    assert all(not claim.evidence and "[" not in claim.text for claim in record.proposal.claims)
    assert {claim.now for claim in record.proposal.claims} != {None}, "it reads its own answers"


def test_a_spec_without_it_is_written_as_before() -> None:
    assert "asks_itself" not in engineer_of("policy").model_dump()
    assert PolicyEngineer(asks_itself=40).model_dump()["asks_itself"] == 40


def test_a_language_model_cannot_be_asked() -> None:
    spec = preset_spec("qwen3-0.6b")
    with pytest.raises(ValueError, match="is for a lab model, which has words"):
        spec.changed(engineer=PolicyEngineer(asks_itself=40, max_tokens=spec.engineer.max_tokens))  # type: ignore[attr-defined]
