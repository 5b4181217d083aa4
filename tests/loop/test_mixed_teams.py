"""A session that mixes teams of 2, 3 and 4 agents: trained, validated, described, engineered and kept, in both languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from frozenlab.engineer.dialects.lab import render_context
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.suites import SuiteSpec
from frozenlab.models.training.methods import TrainingSettings
from frozenlab.session.ledger import predictions
from frozenlab.session.session import Session
from frozenlab.session.store import SessionStore
from tests.builders import short_spec
from tests.language_sessions import tiny_spec
from tests.running import finished

MIXED = EnvironmentConfig.uniform((4, 5), agents=(2, 3, 4))
CELLS = ["2@4", "2@5", "3@4", "3@5", "4@4", "4@5"]
SUITE = SuiteSpec(agents=(2, 3, 4), sizes=(4, 5), boards_per_cell=4, seed=1)


def check(session: Session) -> None:
    """Every part of the loop knows the six cells, from the boards that are drawn to the prediction ledger."""
    for stage in range(session.spec.stages):
        drawn, context, record = session.environment(stage), session.context(stage), session.proposal(stage)
        assert list(drawn.config.cells) == CELLS and set(drawn.realised) <= set(CELLS)
        validation, completions = session.validation(stage), session.completions(stage)
        assert validation is not None and validation.groupby("config_cell").size().to_dict() == dict.fromkeys(CELLS, 4)
        assert (validation["config_cell"] == validation["agents"].astype(str) + "@" + validation["size"].astype(str)).all()
        assert completions is not None and set(completions["config_cell"]) <= set(CELLS)
        trained = {name.removeprefix("valid_") for name in session.metrics(stage).columns if name.startswith("valid_")}
        assert trained <= set(CELLS) and len({name[0] for name in trained}) > 1, "a short stage need not draw boards of every team"
        assert [line.id for line in context.sections["statistics"]] == [f"S{cell}" for cell in drawn.realised]
        assert {f"F{cell}" for cell in CELLS} <= {line.id for line in context.sections["failures"]}
        assert record.kept_because is None and list(record.config_after.cells) == CELLS


def test_the_lab_model_trains_on_several_teams_and_engineers_them(tmp_path: Path) -> None:
    spec = short_spec(initial_config=MIXED, suite=SUITE, training=TrainingSettings(steps=3, boards_per_step=12, completions_per_board=2))
    session = finished(SessionStore(tmp_path).create(spec, "mixed"))
    check(session)
    context, record = session.context(0), session.proposal(0)
    assert context.prompt == render_context(context)
    assert context.prompt.startswith("<engineer> #1 k2 size4 #2 k2 size5 #3 k3 size4")
    assert {claim.cell for claim in record.proposal.claims} == set(CELLS)
    assert "usually" in record.attempts[-1].raw and "share#3" in record.attempts[-1].raw
    assert "with 3 agents" in " ".join(claim.text for claim in record.proposal.claims)
    tested = predictions(session)
    assert set(tested["cell"]) <= set(CELLS) and (tested["n"] == 4).all()


@pytest.mark.long
def test_a_language_model_trains_on_several_teams_and_engineers_them(tiny_model: Path, tmp_path: Path) -> None:
    spec = tiny_spec(tiny_model, "lora").changed(initial_config=MIXED.model_dump(), suite=SUITE.model_dump())
    session = finished(SessionStore(tmp_path).create(spec, "mixed"))
    check(session)
    prompt, record = session.context(0).prompt, session.proposal(0)  # type: ignore[union-attr]
    assert "2, 3 or 4 agents move at once" in prompt and "3@5 (size 5 with 3 agents)" in prompt and "Size 5 with 3 agents:" in prompt
    assert '"3@5": {"share_percent"' in record.attempts[-1].raw.replace('"3@5":{', '"3@5": {')
