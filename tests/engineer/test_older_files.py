"""Files of version 1, whose sessions had one team and named cells by their map size, read as cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from frozenlab.base.cells import KnobChange
from frozenlab.engineer.schema import Claim, Context, Evidence, ProposalRecord, Repair
from frozenlab.lake.config import EnvironmentConfig

STAGE = Path(__file__).parents[2] / "sessions" / "example-long" / "stages" / "00"
CONFIG = {"agents": 3, "sizes": {"4": {"share": 0.5, "hole_ratio": 0.2, "wait_ratio": 0.3}, "10": {"share": 0.5}}}
LINE = {"id": "F10", "section": "failures", "size": 10, "text": "Size 10: 50% valid.", "numbers": {"valid": 0.5}, "boards": ["b1"]}
WHOLE = {"id": "B", "section": "behaviour", "size": None, "text": "Training.", "numbers": {}, "boards": []}
CONTEXT = {
    "schema_version": 1, "stage": 0, "agents": 3, "sizes": [4, 10], "layouts": [], "sections": {"behaviour": [WHOLE], "failures": [LINE]},
    "prompt": None,
}  # fmt: skip
CLAIM = {"size": 10, "knob": "hole_ratio", "before": 0.2, "after": 0.3, "evidence": ["F10"], "now": 0.5, "expected": 0.6, "text": "More."}
CHANGE = {"size": 10, "knob": "hole_ratio", "before": 0.2, "after": 0.3}
RECORD = {
    "schema_version": 1, "stage": 0, "engineer": "rules", "attempts": [],
    "proposal": {"summary": "Harder.", "claims": [CLAIM], "preserved": [4], "config": CONFIG},
    "guard": {"repairs": [{"size": 4, "knob": "wait_ratio", "proposed": 0.9, "used": 0.5, "reason": "a leap"}], "rejected": None},
    "config_before": CONFIG, "config_after": CONFIG, "changes": [CHANGE], "kept_because": None,
}  # fmt: skip


def test_a_context() -> None:
    context = Context.model_validate_json(json.dumps(CONTEXT))
    assert context.cells == EnvironmentConfig.uniform((4, 10), agents=3).described()
    assert context.names == ("4", "10") and context.words == {"4": "size 4", "10": "size 10"}
    assert [line.cell for line in context.lines] == [None, "10"]
    assert context.evidence("failures", "10") == context.lines[1]
    assert Context.model_validate_json(context.model_dump_json()) == context


def test_a_proposal() -> None:
    record = ProposalRecord.model_validate_json(json.dumps(RECORD))
    assert record.proposal is not None
    assert [claim.cell for claim in record.proposal.claims] == ["10"] and record.proposal.preserved == ("4",)
    assert [repair.cell for repair in record.guard.repairs] == ["4"] and [change.cell for change in record.changes] == ["10"]
    assert record.config_after == EnvironmentConfig.model_validate(CONFIG)
    assert ProposalRecord.model_validate_json(record.model_dump_json()) == record


@pytest.mark.parametrize(
    ("kind", "older"), [(Evidence, LINE), (Claim, CLAIM), (KnobChange, CHANGE), (Repair, RECORD["guard"]["repairs"][0])]  # type: ignore[index]
)  # fmt: skip
def test_what_speaks_of_one_cell_is_written_with_its_name(kind: type[Any], older: dict[str, Any]) -> None:
    read = kind.model_validate(older)
    written = read.model_dump(mode="json")
    assert written["cell"] == str(older["size"]) and "size" not in written
    assert kind.model_validate(written) == read == kind.model_validate({**written, "cell": written["cell"]})


def test_a_recorded_stage() -> None:
    context = Context.model_validate_json((STAGE / "context.json").read_text(encoding="utf-8"))
    record = ProposalRecord.model_validate_json((STAGE / "proposal.json").read_text(encoding="utf-8"))
    assert json.loads((STAGE / "context.json").read_text(encoding="utf-8"))["schema_version"] == 1
    assert context.names == ("4", "5", "6", "7", "8", "9", "10") == tuple(record.config_after.cells)
    assert {cell.place["agents"] for cell in context.cells} == {4} and record.config_after.teams == (4,)
    assert context.prompt is not None and context.prompt.startswith("<engineer> k4 sizes"), "the words that the lab model was given"
    assert record.proposal is not None and {claim.cell for claim in record.proposal.claims} == set(context.names)
    ids = {line.id for line in context.lines}
    assert all(set(claim.evidence) <= ids for claim in record.proposal.claims)


@pytest.mark.parametrize(
    "wrong", [{"sizes": ["4"]}, {"sizes": 4}, {"sizes": []}, {"sizes": [4, 400]}, {"agents": "3"}, {"agents": None}, {"agents": 99}]
)
def test_a_damaged_context_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Context.model_validate(CONTEXT | wrong)


@pytest.mark.parametrize("size", ["../4", "4 ", True, 4.5, [4], {"a": 1}])
def test_a_cell_has_no_name_but_a_plain_one(size: Any) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(KnobChange).validate_python(CHANGE | {"size": size})
