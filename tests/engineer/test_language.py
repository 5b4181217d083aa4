"""The engineer in plain language: what it is told, and that whatever it answers becomes a proposal or an error that says what is wrong."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.engineer.dialects.lab import ProposalError
from frozenlab.engineer.dialects.plain import answer_schema, example, parse_answer, render_request
from frozenlab.engineer.sections import USUAL
from frozenlab.lake.config import LAYOUTS, EnvironmentConfig
from frozenlab.tasks.lake.lab_model.proposals import draw_context

CONTEXT = draw_context(np.random.default_rng(4))
CONFIG = EnvironmentConfig.uniform(CONTEXT.sizes, CONTEXT.agents)


def answer(**changes: Any) -> str:
    return json.dumps(example(CONTEXT) | changes)


def test_the_request_tells_all_evidence_that_is_on_and_nothing_else() -> None:
    asked = render_request(CONTEXT)
    for lines in CONTEXT.sections.values():
        for line in lines:
            assert f"[{line.id}] {line.text}" in asked
    blind = render_request(CONTEXT.model_copy(update={"sections": {}}), guidance=False)
    assert "##" not in blind and "lessons" not in blind
    assert "lessons" in asked and set(CONTEXT.sections) <= set(USUAL)


def test_layouts_are_told_only_where_they_may_be_used() -> None:
    assert "layouts" not in render_request(CONTEXT)
    free = CONTEXT.model_copy(update={"layouts": LAYOUTS})
    assert f"You may use {', '.join(LAYOUTS)}" in render_request(free)
    assert "layouts" in json.dumps(answer_schema(free)) and "layouts" not in json.dumps(answer_schema(CONTEXT))


def test_an_answer_becomes_a_proposal() -> None:
    size = CONTEXT.sizes[0]
    proposal = parse_answer(CONTEXT, CONFIG, f"<think>hm {{}}</think> Here:\n```json\n{answer(rationale=' More holes. ')}\n```")
    assert proposal.summary == "More holes."
    assert sum(cell.share for cell in proposal.config.sizes.values()) == pytest.approx(1)
    (claim,) = proposal.claims
    assert (claim.size, claim.knob, claim.after, claim.expected) == (size, "hole_ratio", 0.2, 0.5)
    assert claim.text.startswith(f"Size {size}: ")


def test_layouts_are_scaled_to_whole_boards() -> None:
    sizes = example(CONTEXT)["sizes"]
    sizes[str(CONTEXT.sizes[0])]["layouts"] = {"scatter": 30, "maze": 90, "rooms": 0} if "rooms" in LAYOUTS else {"scatter": 30, "maze": 90}
    read = parse_answer(CONTEXT, CONFIG, answer(sizes=sizes)).config.sizes[CONTEXT.sizes[0]].layouts
    assert read == {"scatter": 0.25, "maze": 0.75}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "no complete JSON object"),
        ("I would add more holes.", "no complete JSON object"),
        (answer()[:-1], "no complete JSON object"),
        (answer(rationale=7), "rationale"),
        (answer(sizes={}), "leaves out"),
        (answer(sizes={"77": {"share_percent": 1, "hole_percent": 1, "wait_percent": 1}}), "there is no map size 77"),
        (answer(preserved=[77]), "there is no map size 77"),
        (answer(sizes={str(n): {"share_percent": 0, "hole_percent": 1, "wait_percent": 1} for n in CONTEXT.sizes}), "all shares are 0"),
        (answer(sizes={str(n): {"share_percent": 10, "hole_percent": 101, "wait_percent": 1} for n in CONTEXT.sizes}), "hole_percent"),
        (answer(claims=[{"size": CONTEXT.sizes[0], "knob": None, "evidence": ["Z9"], "expected_valid_percent": 5}]), "cites Z9"),
        (answer(surprise=1), "surprise"),
    ],
)
def test_what_cannot_be_used_is_said(text: str, wrong: str) -> None:
    with pytest.raises(ProposalError, match=wrong):
        parse_answer(CONTEXT, CONFIG, text)


@given(
    st.one_of(st.text(max_size=80), st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists, max_leaves=9).map(json.dumps))
)
def test_no_answer_is_too_strange(text: str) -> None:
    with pytest.raises(ProposalError):
        parse_answer(CONTEXT, CONFIG, "{" + text)


def test_the_schema_allows_the_example_and_bounds_everything() -> None:
    schema = answer_schema(CONTEXT)
    assert list(schema["properties"]) == ["rationale", "claims", "preserved", "sizes"] == list(example(CONTEXT))

    def check(part: dict[str, Any]) -> None:
        match part.get("type"):
            case "object":
                assert part["additionalProperties"] is False and part["required"] == list(part["properties"])
                for inner in part["properties"].values():
                    check(inner)
            case "array":
                assert "maxItems" in part
            case "integer":
                assert (part["minimum"], part["maximum"]) == (0, 100)
            case "string":
                assert "maxLength" in part
            case _:
                assert "enum" in part

    check(schema)
