"""The way of the recorded language model, in small: worked answers, adapters, proposals, GRPO, and what its answers are worth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from frozenlab.base import places
from frozenlab.engineer.engineers import tutor
from frozenlab.models.folders import ADAPTER
from frozenlab.session.session import Session, problems_of
from recipes import record_smollm2 as recipe
from recipes.low_rank import factors
from recipes.tiny_qwen3 import build


def test_adapters_of_full_rank_change_what_training_changed_and_of_less_the_most_of_it() -> None:
    torch.manual_seed(0)
    changed, read = torch.randn(5, 4), torch.randn(100, 4) * torch.tensor([10.0, 1.0, 1.0, 0.1])
    left = [(read @ (changed - out @ into).T).norm() for into, out in (factors(changed, read.T @ read, rank) for rank in (1, 2, 4))]
    assert left[2] < 1e-3 * left[0] and left[1] < left[0]
    by_weights = torch.linalg.svd(changed)
    plain = by_weights.U[:, :1] * by_weights.S[0] @ by_weights.Vh[:1]
    assert left[0] < (read @ (changed - plain).T).norm(), "it minds what a layer reads"


def test_the_engineers_lessons_and_the_measures_of_what_it_learnt() -> None:
    for context, config in recipe.contexts(20, 0):
        proposal = tutor.propose(context, config, recipe.usual)
        said = json.loads(recipe.answer(context, proposal))
        assert sum(own["share_percent"] for own in said["cells"].values()) in (99, 100, 101)
        assert ("% valid" in said["rationale"]) == any(context.rated(cell) is not None for cell in context.names)
    for context, config, weak in recipe.in_one_cell(6, 0):
        shares = {name: own.share for name, own in tutor.propose(context, config, recipe.usual).config.cells.items()}
        assert max(shares, key=shares.__getitem__) == weak and {own.share for own in config.cells.values()} == {0.5}
    for one, other, _, weak in recipe.pairs(3, 0):
        lines = [{line.id: line.text for line in context.lines if line.cell is None} for context in (one, other)]
        assert lines[0] == lines[1]
        rates = [context.rated(weak).numbers["valid"] for context in (one, other)]  # type: ignore[union-attr]
        assert rates == [pytest.approx(recipe.USUAL[weak] - 0.4), pytest.approx(recipe.USUAL[weak])]


@pytest.mark.long
def test_it_learns_from_worked_answers_then_by_grpo_and_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = [recipe.render_request(context) for context, _ in recipe.contexts(20, 0)]
    compact = recipe.LAKE.asked("compact")
    for task in recipe.generate(recipe.CONFIG, 100, seed=0):
        shown = compact.demonstrate(task)
        assert shown is not None
        texts += [compact.prompt(task), f"{shown.reasoning}{shown.answer}"]
    build(tmp_path / "base", recipe.CONFIG, texts)
    monkeypatch.setattr(recipe, "BASE", str(tmp_path / "base"))
    monkeypatch.setattr(recipe, "PLANNER", str(tmp_path / "shipped"))
    monkeypatch.setattr(recipe, "CALIBRATION", 4)
    monkeypatch.setattr(places, "SESSIONS", tmp_path / "recorded")
    few = ["--boards", "32", "--repeated", "8", "--proposals", "8", "--stages", "1", "--steps", "1", "--boards-per-step", "1"]
    recipe.main([str(tmp_path), *few, "--held-out", "4", "--asked", "2"])
    light = {"adapter_config.json", ADAPTER, "question.json"}
    assert {path.name for path in (tmp_path / "shipped").iterdir()} == light
    session, twin = (Session(tmp_path / "recorded" / name) for name in ("example-smollm2", "example-smollm2-fixed"))
    assert session.state().status == "done" and not problems_of(session), "what it ships with is sealed"
    assert twin.spec.but("title", "engineer") == session.spec.but("title", "engineer") and twin.state().status == "done"
    assert {path.name for path in (session.stage_dir(0) / "policy").iterdir()} == {*light, "seal.json"}
    found = json.loads((tmp_path / "measured.json").read_text())
    assert set(found["plans"]) == {"warm", "adapters", str(tmp_path / "shipped"), "stage 1"}
    assert found["plans"]["warm"]["all"]["n"] <= 8 and found["engineer"]["last"]["usable"][1] == 2
