"""The engineer in plain language: what it reads, and that each answer becomes a proposal or an error that says what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frozenlab.engineer.dialects.lab import ProposalError
from frozenlab.engineer.dialects.plain import (
    CHARACTERS_A_TOKEN,
    Bounds,
    LanguageEngineer,
    answer_schema,
    least_budget,
    parse_answer,
    render_request,
    without_bounds,
)
from frozenlab.engineer.engineers import PolicyEngineer
from frozenlab.engineer.schema import Attempt, Written
from frozenlab.engineer.sections import USUAL, behaviour, failures
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import LAYOUTS, CellConfig
from frozenlab.models.settings import LanguageSettings
from frozenlab.session.presets import preset_spec
from frozenlab.tasks.lake.family import LAKE
from tests.engineer.builders import MIXED, answer_to, context_of, mixed_cell, of_sizes

CONTEXT, CONFIG = of_sizes(4)
TEAMS = context_of(MIXED, behaviour.cell_line(mixed_cell("3@6"), 0.5, 0.1, 0.4))


def answer(**changes: Any) -> str:
    return json.dumps(answer_to(CONTEXT) | changes)


def test_the_request_tells_all_evidence_that_is_on_and_nothing_else() -> None:
    asked = render_request(CONTEXT, guidance=True)
    assert all(f"[{line.id}] {line.text}" in asked for line in CONTEXT.lines)
    blind = render_request(CONTEXT.model_copy(update={"sections": {}}))
    assert "##" not in blind and "lessons" not in blind, "the lessons are for those who ask for them"
    assert "lessons" in asked and set(CONTEXT.sections) <= set(USUAL)


def test_the_form_holds_no_number_that_a_small_model_would_copy() -> None:
    form = render_request(CONTEXT).split("in this order:\n")[1].split("\n")[0]
    cited = next(line.id for line in CONTEXT.lines if line.cell)
    assert "<0-100>" in form
    without_names = form.replace("<0-100>", "").replace(f'"{cited}"', "")
    assert not re.search(r"\d", re.sub("|".join(f'"{name}"' for name in CONTEXT.names), "", without_names))
    assert list(json.loads(form.replace("<0-100>", "7"))) == list(answer_to(CONTEXT))


def test_worked_cases_are_shown_with_board_and_plan_as_far_as_there_is_room() -> None:
    board = "  S . H .\n" * 340  # 1,700 tokens
    cases = [failures.case_line(cell, "a", "hole", 2, f"Case {cell.name}.", "b", board) for cell in MIXED.described()]
    context = context_of(MIXED, *cases)
    asked = render_request(context)
    assert asked.count(board) == 2 and all(f"Case {cell.name}." in asked for cell in MIXED.described())

    def narrow(characters: int) -> LanguageEngineer:
        """A model with room for so many characters; its answer is the conversation."""

        def fits(messages: list[dict[str, str]]) -> bool:
            return sum(len(message["content"]) for message in messages) <= characters

        return LanguageEngineer(lambda messages, *_: Written(json.dumps(messages)), fits=fits)

    wide, one, bare = (narrow(len(asked) - less) for less in (0, 1, len(asked)))
    assert wide.prompt(context) == asked, "all that the budget allows"
    assert one.prompt(context).count(board) == 1, "a case less, where the answer would have had no room"
    assert bare.prompt(context) == render_request(context, most_shown=0), "there is nothing left to shed"
    assert "Case" in bare.prompt(context) and board not in bare.prompt(context)

    failed = Attempt(raw="{}", error="no cells", seconds=0.0)
    alone, shown = (json.loads(model.answer(context, 1, failed).text) for model in (wide, narrow(10**6)))
    assert alone == [{"role": "user", "content": asked}], "an answer that cannot be shown with its error is asked for anew"
    assert [message["role"] for message in shown] == ["user", "assistant", "user"]


def test_layouts_are_told_only_where_they_may_be_used() -> None:
    assert "layouts" not in render_request(CONTEXT)
    free = CONTEXT.model_copy(update={"layouts": LAYOUTS})
    assert f"You may use {', '.join(LAYOUTS)}" in render_request(free)
    assert "Layout doors: holes anywhere, and" in render_request(free) and "Layout" not in render_request(CONTEXT)
    assert "layouts" in json.dumps(answer_schema(free)) and "layouts" not in json.dumps(answer_schema(CONTEXT))


def test_an_answer_becomes_a_proposal() -> None:
    cell = CONTEXT.names[0]
    proposal = parse_answer(CONTEXT, CONFIG, f"<think>hm {{}}</think> Here:\n```json\n{answer(rationale=' More holes. ')}\n```")
    assert proposal.summary == "More holes."
    assert sum(settings.share for settings in proposal.config.cells.values()) == pytest.approx(1)
    (claim,) = proposal.claims
    assert (claim.cell, claim.knob, claim.after, claim.expected) == (cell, "hole_ratio", 0.2, 0.5)
    assert claim.text.startswith(f"Size {cell}: ")


def test_layouts_are_scaled_to_whole_boards() -> None:
    cells, first = answer_to(CONTEXT)["cells"], CONTEXT.names[0]
    cells[first]["layouts"] = {"scatter": 30, "maze": 90, "rooms": 0}
    read = parse_answer(CONTEXT, CONFIG, answer(cells=cells)).config.cells[first].layouts
    assert read == {"scatter": 0.25, "maze": 0.75}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "no complete JSON object"),
        ("I would add more holes.", "no complete JSON object"),
        (answer()[:-1], "no complete JSON object"),
        (f"<think>Perhaps {answer()}", "no complete JSON object"),
        (answer(rationale=7), "rationale"),
        (answer(cells={}), "leaves out"),
        (answer(cells={"77": {"share_percent": 1, "hole_percent": 1, "wait_percent": 1}}), "there is no cell 77"),
        (answer(preserved=[77]), "there is no cell 77"),
        (answer(cells={name: {"share_percent": 0, "hole_percent": 1, "wait_percent": 1} for name in CONTEXT.names}), "all shares are 0"),
        (answer(cells={name: {"share_percent": 10, "hole_percent": 101, "wait_percent": 1} for name in CONTEXT.names}), "hole_percent"),
        (answer(claims=[{"cell": CONTEXT.names[0], "knob": None, "evidence": ["Z9"], "expected_valid_percent": 5}]), "cites Z9"),
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
    assert list(schema["properties"]) == ["rationale", "claims", "preserved", "cells"] == list(answer_to(CONTEXT))

    def check(part: dict[str, Any]) -> None:
        match part.get("type"):
            case "object":
                assert part["additionalProperties"] is False and part["required"] == list(part["properties"])
                for inner in part["properties"].values():
                    check(inner)
            case "array":
                assert "maxItems" in part
            case "integer":
                assert part["minimum"] in (0, 1) and part["maximum"] == 100
            case "string":
                assert "maxLength" in part
            case _:
                assert "enum" in part

    check(schema)


@pytest.mark.parametrize(
    ("version", "max_tokens", "least", "longest"), [(3, 4096, 1, 666), (3, 750, 1, 500), (2, 4096, 0, 2000), (2, 750, 0, 2000)]
)
def test_no_cell_gets_a_share_of_0_and_a_short_answer_has_a_short_rationale_in_new_sessions(
    version: int, max_tokens: int, least: int, longest: int
) -> None:
    """All shares at 0 were half of a small model's answers; a sixth had no room for the config."""
    model: Any = SimpleNamespace(settings=LanguageSettings())
    engineer: Any = PolicyEngineer(max_tokens=max_tokens).in_plain_language(model, nullcontext, version)
    schema = answer_schema(CONTEXT, engineer.bounds)["properties"]
    for cell in schema["cells"]["properties"].values():
        assert (cell["properties"]["share_percent"]["minimum"], cell["properties"]["hole_percent"]["minimum"]) == (least, 0)
    assert schema["rationale"]["maxLength"] == longest


@pytest.mark.parametrize("sizes", [(4,), (4, 5, 6), (3, 4, 5, 6, 7, 8, 9, 10)])
def test_the_least_budget_has_room_for_the_longest_answer_of_the_schema(sizes: tuple[int, ...]) -> None:
    """The longest answer, written out: as many claims as there may be, each with four worked cases."""
    config = EnvironmentConfig.uniform(sizes, agents=2)
    names = list(config.cells)
    longest = max(names, key=len)
    claim = {"cell": longest, "knob": "hole_ratio", "evidence": [f"F{longest}a"] * 4, "expected_valid_percent": 100}
    cell = {"share_percent": 100, "hole_percent": 100, "wait_percent": 100}
    budget = least_budget(config, LAKE)
    rationale = "r" * Bounds.within(budget).rationale
    answer = {"rationale": rationale, "claims": [claim] * 2 * len(names), "preserved": [longest] * len(names)}
    written = json.dumps(answer | {"cells": dict.fromkeys(names, cell)})
    assert 0.93 < len(written) / CHARACTERS_A_TOKEN / budget <= 1
    spec = preset_spec("qwen3-0.6b").changed(initial_config=config)
    assert spec.changed(engineer=PolicyEngineer(max_tokens=budget)).engineer.author
    with pytest.raises(
        ValueError, match=rf"about {len(names)} cells? may take {budget} tokens: the engineer's max_tokens of {budget - 1} is"
    ):
        spec.changed(engineer=PolicyEngineer(max_tokens=budget - 1))
    assert spec.changed(engineer=PolicyEngineer(max_tokens=64), schema_version=2), "one that began before goes on"


def test_the_request_names_the_teams_and_the_cells() -> None:
    asked = render_request(TEAMS)
    assert "2 or 3 agents move at once" in asked
    assert "a cell for each map size and number of agents: 2@4 (size 4 with 2 agents), 3@4 (size 4 with 3 agents), 3@6 (size 6" in asked
    assert "[B3@6] Size 6 with 3 agents: 50% of sampled plans valid" in asked
    alone = render_request(context_of(EnvironmentConfig.uniform((4, 6), agents=3)))
    assert "3 agents move at once" in alone and "a cell for each map size: 4, 6." in alone
    of_a_layout = [CellConfig(size=6, layout=layout, share=0.5) for layout in ("scatter", "maze")]
    assert "a cell for each layout: scatter6 (size 6 in scatter boards), maze6 (size 6 in maze boards)." in render_request(
        context_of(EnvironmentConfig.of(of_a_layout))
    )


def mixed_answer(**changes: Any) -> str:
    percents = {"2@4": (20, 20, 20), "3@4": (20, 10, 30), "3@6": (60, 35, 40)}
    cells = {name: dict(zip(("share_percent", "hole_percent", "wait_percent"), of, strict=True)) for name, of in percents.items()}
    claim = {"cell": "3@6", "knob": "hole_ratio", "evidence": ["B3@6"], "expected_valid_percent": 45}
    return json.dumps({"rationale": "More holes.", "claims": [claim], "preserved": ["2@4"], "cells": cells} | changes)


def test_an_answer_for_several_teams_becomes_a_proposal() -> None:
    proposal = parse_answer(TEAMS, MIXED, mixed_answer())
    assert list(proposal.config.cells) == ["2@4", "3@4", "3@6"] and proposal.config.teams == (2, 3)
    assert (proposal.config.cells["3@6"].share, proposal.config.cells["3@6"].hole_ratio) == (0.6, 0.35)
    assert proposal.preserved == ("2@4",)
    (claim,) = proposal.claims
    assert claim.text == "Size 6 with 3 agents: raise the hole ratio from 0.30 to 0.35; expect 45% [B3@6]."
    for wrong, reason in (
        ({"preserved": ["6"]}, "there is no cell 6; the cells are 2@4, 3@4, 3@6"),
        ({"cells": {"3@6": {"share_percent": 1, "hole_percent": 1, "wait_percent": 1}}}, '"cells" leaves out 2@4, 3@4'),
        ({"cells": {"3 at 6": {"share_percent": 1, "hole_percent": 1, "wait_percent": 1}}}, "cells"),
    ):
        with pytest.raises(ProposalError, match=reason):
            parse_answer(TEAMS, MIXED, mixed_answer(**wrong))


def test_the_schema_names_the_cells() -> None:
    schema = answer_schema(TEAMS)["properties"]
    names = ["2@4", "3@4", "3@6"]
    assert schema["cells"]["required"] == names
    assert schema["claims"]["items"]["properties"]["cell"] == {"type": "string", "enum": names} == schema["preserved"]["items"]
    assert schema["claims"]["items"]["properties"]["evidence"]["items"] == {"type": "string", "enum": ["B3@6"]}


STRICT = {"type", "properties", "required", "additionalProperties", "items", "enum", "description"}
"""Keywords that OpenAI, Anthropic and Gemini all know where answers follow a schema strictly."""


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and all those in it."""
    yield schema
    for inner in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        yield from nodes(inner)


@pytest.mark.parametrize("context", [CONTEXT, CONTEXT.model_copy(update={"sections": {}}), CONTEXT.model_copy(update={"layouts": LAYOUTS})])
def test_what_servers_are_sent_keeps_to_the_strictest_rules(context: Any) -> None:
    schema = answer_schema(context)
    for node in nodes(without_bounds(schema)):
        assert "type" in node and set(node) <= STRICT, node
        if node["type"] == "object":
            assert node["additionalProperties"] is False and node["required"] == list(node["properties"])
        if node["type"] == "array":
            assert "items" in node
    sent = json.dumps(without_bounds(schema))
    assert "at least 0, at most 100" in sent and "characters" in sent
    assert {"maxLength", "maximum"} <= {key for node in nodes(schema) for key in node}, "our own writers keep the bounds"
