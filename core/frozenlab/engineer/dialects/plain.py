"""The engineer's task in plain language: the prompt of a language model, and how its JSON becomes a proposal.

The answer has the rationale first and the config last, so that a model that writes under the schema has thought before it decides. Rates
are whole per cents: under a schema every number has to have an end.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, create_model

from frozenlab.base.cells import CellName, Config
from frozenlab.base.errors import cut, one_line
from frozenlab.base.files import json_values
from frozenlab.base.schemas import Strict
from frozenlab.base.spoken import after_thinking
from frozenlab.engineer.dialects.lab import ProposalError
from frozenlab.engineer.schema import Attempt, Claim, Context, Evidence, Proposal, Written
from frozenlab.engineer.sections import SECTIONS
from frozenlab.engineer.sentences import claim_on
from frozenlab.models.language.room import about_tokens
from frozenlab.tasks.family import Family

LONGEST_RATIONALE = 2000
"""Characters."""
CHARACTERS_A_TOKEN = 2
"""Of JSON, whose marks and figures are short tokens."""
MOST_SHOWN = 4_000
"""Tokens of boards and plans below the evidence, about; later cases have only their line."""

GUIDANCE = """\
Two lessons of earlier work (Chen et al. 2026):
- Use the failure evidence: aim at the cells and conditions in which the policy fails in a way that it can learn from.
- Preserve what works: leave a cell alone where the policy still learns well, and change few things at a time, for reasons you can cite."""

FORM = """\
Answer with one JSON object and nothing else, in this order:
{form}
"rationale" is your reasoning in a few sentences. Each claim says why a knob ({knobs}, or null to keep the cell)
of one cell is set as it is, cites evidence by id, and says which share of valid plans you expect on this cell after the next stage.
"preserved" lists the cells whose ratios you leave alone on purpose. "cells" holds every cell."""

Message = dict[str, str]
"""A chat message: ``role`` and ``content``."""
NUMBER = "<0-100>"
KEYS = {"rationale", "claims", "preserved", "cells"}
"""Of the answer."""

Percent = Annotated[int, Field(ge=0, le=100)]


def percent_key(knob: str) -> str:
    """The name of a knob in the answer.

    >>> percent_key("share"), percent_key("hole_ratio")
    ('share_percent', 'hole_percent')
    """
    return f"{knob.removesuffix('_ratio')}_percent"


@cache
def answer_of(family: Family) -> Any:
    """The pydantic model of what a language model writes about cells with the family's knobs, which may be mixed of its parts."""
    knobs, parts = tuple(family.knobs), family.parts
    fields: dict[str, Any] = {percent_key(knob): (Percent, ...) for knob in knobs}
    if parts:
        fields["layouts"] = (dict[Literal[parts], Percent] | None, None)  # type: ignore[valid-type]
    cell = create_model("CellAnswer", __base__=Strict, **fields)
    about: dict[str, Any] = {"cell": (CellName, ...), "knob": (Literal[knobs] | None, ...), "evidence": (tuple[str, ...], ...)}
    claim = create_model("ClaimAnswer", __base__=Strict, **about, expected_valid_percent=(Percent, ...))
    whole: dict[str, Any] = {"rationale": (str, ...), "claims": (tuple[claim, ...], ...), "preserved": (tuple[CellName, ...], ...)}  # type: ignore[valid-type]
    return create_model("ProposalAnswer", __base__=Strict, **whole, cells=(dict[CellName, cell], ...))  # type: ignore[valid-type]


def render_request(context: Context, *, guidance: bool = False, most_shown: int = MOST_SHOWN) -> str:
    """The whole prompt: the task, the knobs, the evidence that is switched on with its ids, and the form of the answer; of boards and plans
    of worked cases no more than about ``most_shown`` tokens."""
    parts = [context.tasks.brief(context.cells, context.layouts)]
    room = most_shown
    for section in SECTIONS:
        shown = []
        for line in context.sections.get(section.name, ()):
            room -= about_tokens(line.shown)
            shown.append(f"[{line.id}] {line.text}" + (f"\n{line.shown}" if line.shown and room >= 0 else ""))
        if shown:
            parts.append("\n".join([f"## {section.heading}", *shown]))
    if guidance:
        parts.append(GUIDANCE)
    knobs = ", ".join(f'"{knob}"' for knob in context.tasks.knobs)
    return "\n\n".join([*parts, FORM.format(knobs=knobs, form=form(context))])


def conversation(request: str, failed: Attempt | None = None) -> list[Message]:
    """The request as a chat message; after an answer that could not be used, that answer too, and what was wrong with it."""
    messages = [{"role": "user", "content": request}]
    if failed is not None and failed.raw:
        wrong = f"This cannot be used: {failed.error}. Answer anew, with the JSON object alone."
        messages += [{"role": "assistant", "content": failed.raw}, {"role": "user", "content": wrong}]
    return messages


def form(context: Context) -> str:
    """The form of the answer for this context's cells. It holds no number: a small model would copy it."""
    ids = [line.id for line in context.lines if line.cell is not None]
    values = dict.fromkeys((percent_key(knob) for knob in context.tasks.knobs), NUMBER)
    claim = {"cell": context.names[0], "knob": context.tasks.ratios[0], "evidence": ids[:1], "expected_valid_percent": NUMBER}
    answer = {"rationale": "...", "claims": [claim], "preserved": [], "cells": dict.fromkeys(context.names, values)}
    return json.dumps(answer).replace(f'"{NUMBER}"', NUMBER)


@dataclass(frozen=True)
class Bounds:
    """What the schema bounds besides."""

    least_share: int = 1
    """Of a cell, in per cent: a model that gives all cells 0 proposes nothing."""
    rationale: int = LONGEST_RATIONALE
    """The most characters of the rationale."""

    @classmethod
    def within(cls, max_tokens: int) -> Bounds:
        """Those of an answer of so many tokens: the rationale takes at most a third of them, and has room for some hundred words."""
        return cls(rationale=min(LONGEST_RATIONALE, CHARACTERS_A_TOKEN * max_tokens) // 3)


UNTIL_VERSION_2 = Bounds(least_share=0)


def answer_schema(context: Context, bounds: Bounds = Bounds()) -> dict[str, Any]:
    """JSON schema of the answer to ``context``: its cells and evidence ids only, every list, text and number bounded."""
    percent = {"type": "integer", "minimum": 0, "maximum": 100}
    names = list(context.names)
    ids = [line.id for line in context.lines]
    cited: dict[str, Any] = {"type": "array", "maxItems": 4 if ids else 0, "items": one_of(ids) if ids else {"type": "string"}}
    knobs = {"type": ["string", "null"], "enum": [*context.tasks.knobs, None]}
    claim = closed({"cell": one_of(names), "knob": knobs, "evidence": cited, "expected_valid_percent": percent})
    cell = closed(
        {percent_key(knob): percent for knob in context.tasks.knobs} | {"share_percent": percent | {"minimum": bounds.least_share}}
    )
    mixing = closed({**cell["properties"], "layouts": closed(dict.fromkeys(context.layouts, percent))}) if context.layouts else cell
    return closed(
        {
            "rationale": {"type": "string", "maxLength": bounds.rationale},
            "claims": {"type": "array", "maxItems": 2 * len(names), "items": claim},
            "preserved": {"type": "array", "maxItems": len(names), "items": one_of(names)},
            "cells": closed({own.name: cell if "layout" in own.place else mixing for own in context.cells}),
        }
    )


def least_budget(config: Config, family: Family, layouts: tuple[str, ...] = ()) -> int:
    """The fewest tokens in which a language model can write the longest proposal that the schema allows for the cells of ``config``."""
    cells = tuple(config.described())
    longest = max((cell.name for cell in cells), key=len)
    cited = [Evidence(id=f"F{longest}a", section="failures", cell=longest, text="")]
    context = Context(stage=0, family=family.name, cells=cells, layouts=layouts, sections={"failures": tuple(cited)})
    besides = math.ceil(most_characters(answer_schema(context, Bounds(rationale=0))) / CHARACTERS_A_TOKEN)
    return besides + min(math.ceil(besides / 2), LONGEST_RATIONALE // 3 // CHARACTERS_A_TOKEN)  # the rationale: Bounds.within


def most_characters(schema: dict[str, Any]) -> int:
    """Of the longest JSON text under a schema, its separators as short as Python writes them.

    Example:
        >>> most_characters(closed({"share": {"type": "integer", "minimum": 1, "maximum": 100}})), len('{"share": 100}')
        (14, 14)
    """
    if "enum" in schema:
        return max(len(json.dumps(value)) for value in schema["enum"])
    match schema["type"]:
        case "object":
            inner = [len(json.dumps(name)) + 2 + most_characters(value) for name, value in schema["properties"].items()]
        case "array":
            inner = [most_characters(schema["items"])] * schema["maxItems"]
        case "string":
            return 2 + int(schema["maxLength"])
        case _:
            return len(str(schema["maximum"]))
    return 2 + sum(inner) + 2 * max(0, len(inner) - 1)


def one_of(names: list[str]) -> dict[str, Any]:
    return {"type": "string", "enum": names}


BOUNDS = {"minimum": "at least {}", "maximum": "at most {}", "maxLength": "at most {} characters", "maxItems": "at most {} of them"}
"""Keywords that not every server with schemas knows -> the same in words."""


def without_bounds(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema for servers, with its bounds as descriptions: what is out of bounds is refused when the answer is read.

    Example:
        >>> without_bounds({"type": "integer", "minimum": 0, "maximum": 100})
        {'type': 'integer', 'description': 'at least 0, at most 100'}
    """
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            plain[key] = {name: without_bounds(inner) for name, inner in value.items()}
        elif key == "items":
            plain[key] = without_bounds(value)
        elif key not in BOUNDS:
            plain[key] = value
    bounds = ", ".join(words.format(schema[key]) for key, words in BOUNDS.items() if key in schema)
    return plain | ({"description": bounds} if bounds else {})


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object with these properties, all of them and no others, in this order."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def parse_answer(context: Context, before: Config, text: str) -> Proposal:
    """Reads what the model wrote: the last JSON object in it, whatever is around it.

    Raises:
        ProposalError: there is none, a value is out of range, or a claim is about a cell or cites evidence that the context does not have.
    """
    try:
        said = answer_of(context.tasks).model_validate(last_object(text))
    except ValidationError as error:
        raise ProposalError(one_line(error)) from None
    ids = {line.id for line in context.lines}
    for claim in said.claims:
        if unknown := [cited for cited in claim.evidence if cited not in ids]:
            raise ProposalError(f"a claim on {cut(claim.cell, 60)} cites {cut(unknown[0], 60)}, which is no evidence here")
    for named in ([claim.cell for claim in said.claims], said.preserved, said.cells):
        if foreign := [name for name in named if name not in before.cells]:
            raise ProposalError(f"there is no cell {foreign[0]}; the cells are {', '.join(context.names)}")
    config = new_config(before, said.cells, context.tasks)
    claims = tuple(as_claim(claim, before, config, context.words[claim.cell]) for claim in said.claims)
    return Proposal(summary=said.rationale.strip(), claims=claims, preserved=said.preserved, config=config)


def new_config(before: Config, said: dict[str, Any], family: Family) -> Config:
    """``before`` with what was answered about each cell. Raises ProposalError if a cell is left out, or no share is above 0."""
    missing = [name for name in before.cells if name not in said]
    if missing:
        raise ProposalError(f'"cells" leaves out {", ".join(missing)}')
    total = sum(answer.share_percent for answer in said.values())
    if not total:
        raise ProposalError("all shares are 0")
    cells = {}
    for name, old in before.cells.items():
        answer = said[name].model_dump()
        update: dict[str, Any] = {"share": answer["share_percent"] / total}
        update |= {knob: answer[percent_key(knob)] / 100 for knob in family.ratios}
        mix = answer.get("layouts") if {*old.settings()} & {*family.parts} else None
        if mix and (whole := sum(mix.values())):
            update["layouts"] = {part: share / whole for part, share in mix.items() if share}
        cells[name] = old.model_copy(update=update)
    return before.with_cells(cells)


def as_claim(said: Any, before: Config, after: Config, cell: str) -> Claim:
    """The claim on the ``cell`` (in words) with what the config really does."""
    settings = before.cells[said.cell].settings(), after.cells[said.cell].settings()
    return claim_on(said.cell, cell, said.knob, *settings, evidence=said.evidence, expected=said.expected_valid_percent / 100)


def last_object(text: str) -> Any:
    """The last JSON object of the text that has a key of the form; one within an object that is broken off has none. Raises ProposalError
    where there is no such object."""
    found = None
    for value, _ in json_values(after_thinking(text), "{"):
        found = value if set(value) & KEYS else found
    if found is None:
        raise ProposalError("the answer holds no complete JSON object of the form asked for")
    return found


@dataclass(frozen=True)
class LanguageEngineer:
    """A language model that reads plain language and writes JSON."""

    reply: Callable[[list[Message], dict[str, Any], int], Written]
    """(conversation, JSON schema, seed) -> answer under the schema."""
    kind: str = "policy"
    guidance: bool = False
    """Whether the paper's two lessons are part of the prompt."""
    fits: Callable[[list[Message]], bool] = lambda messages: True
    """Whether a conversation leaves the model room for an answer; of a model whose context is not known, any does."""
    bounds: Bounds = Bounds()

    def prompt(self, context: Context) -> str:
        """The prompt with as many worked cases as leave room for an answer; if even the one without any does not fit, that one."""
        most_shown = MOST_SHOWN
        request = render_request(context, guidance=self.guidance)
        while most_shown and not self.fits(conversation(request)):
            most_shown //= 2
            request = render_request(context, guidance=self.guidance, most_shown=most_shown)
        return request

    def answer(self, context: Context, seed: int, failed: Attempt | None = None) -> Written:
        """The model's answer; after one that could not be used, the model is shown that answer and its error, if there is room for them."""
        request = self.prompt(context)
        corrected = conversation(request, failed)
        return self.reply(corrected if self.fits(corrected) else conversation(request), answer_schema(context, self.bounds), seed)

    def read(self, context: Context, config: Config, raw: str, seed: int) -> Proposal:
        return parse_answer(context, config, raw)
