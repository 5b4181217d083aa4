"""The engineer's task in plain language: what a language model is told, and how its JSON becomes a proposal.

The answer has the rationale first and the config last, so that a model that writes under the schema has thought before it decides. Rates
are whole per cents: under a schema every number has to have an end.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from frozenlab.cells import CellName
from frozenlab.engineer.dialects.lab import ProposalError
from frozenlab.engineer.schema import Attempt, Claim, Context, Proposal
from frozenlab.engineer.sections import SECTIONS
from frozenlab.engineer.sentences import claim_sentence
from frozenlab.errors import cut, one_line
from frozenlab.json_in_text import json_values
from frozenlab.lake.config import EnvironmentConfig, Knob, Layout

NAMES_OF_PLACES = {"size": "map size", "agents": "number of agents", "layout": "layout"}
LONGEST_RATIONALE = 2000
"""Characters."""

TASK = """\
You design the environment in which a policy (a language model) learns multi-agent path finding by reinforcement learning. On a frozen lake
map, {teams} move at once, one cell or WAIT in each time step; they must not enter holes, share a cell or swap cells, and all have
to reach their goals in as few time steps as possible. Training goes in stages. After each stage you read what happened and write the
environment config of the next one. The aim is the highest share of valid and optimal plans on held-out boards of all sizes in the end."""

KNOBS = """\
The config has a cell for each {what}: {cells}. For each cell you set, in whole per cent:
- share_percent: the part of the training boards that are of this cell. The shares are scaled to sum to 100.
- hole_percent: the part of a board that is holes. More holes, fewer ways and longer detours.
- wait_percent: the part of the cell's boards that cannot be solved optimally unless some agent waits: how often agents are in each other's
  way."""

LAYOUTS = """
- layouts: how the holes lie, as parts of the boards of a cell without a layout of its own, scaled to sum to 100. You may use {layouts}."""

GUIDANCE = """\
Two lessons of earlier work (Chen et al. 2026):
- Use the failure evidence: aim at the cells and conditions in which the policy fails in a way that it can learn from.
- Preserve what works: leave a cell alone where the policy still learns well, and change few things at a time, for reasons you can cite."""

FORM = """\
Answer with one JSON object and nothing else, in this order:
{example}
"rationale" is your reasoning in a few sentences. Each claim says why a knob ("share", "hole_ratio", "wait_ratio", or null to keep the cell)
of one cell is set as it is, cites evidence by id, and says which share of valid plans you expect on this cell after the next stage.
"preserved" lists the cells whose ratios you leave alone on purpose. "cells" holds every cell."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Percent = Annotated[int, Field(ge=0, le=100)]


class CellAnswer(Strict):
    share_percent: Percent
    hole_percent: Percent
    wait_percent: Percent
    layouts: dict[Layout, Percent] | None = None


class ClaimAnswer(Strict):
    cell: CellName
    knob: Knob | None
    evidence: tuple[str, ...]
    expected_valid_percent: Percent


class ProposalAnswer(Strict):
    """What the model writes."""

    rationale: str
    claims: tuple[ClaimAnswer, ...]
    preserved: tuple[CellName, ...]
    cells: dict[CellName, CellAnswer]


def render_request(context: Context, *, guidance: bool = True) -> str:
    """The whole prompt: the task, the knobs, the evidence that is switched on with its ids, and the form of the answer."""
    parts = [TASK.format(teams=teams_in_words(context)), KNOBS.format(what=what_cells_are(context), cells=cells_in_words(context))]
    if context.layouts:
        parts[-1] += "\n" + LAYOUTS.format(layouts=", ".join(context.layouts))
    for section in SECTIONS:
        if lines := context.sections.get(section.name):
            parts.append("\n".join([f"## {section.heading}", *(f"[{line.id}] {line.text}" for line in lines)]))
    if guidance:
        parts.append(GUIDANCE)
    return "\n\n".join([*parts, FORM.format(example=json.dumps(example(context)))])


def teams_in_words(context: Context) -> str:
    """``2 agents``; ``2, 3 or 4 agents``."""
    *fewer, most = sorted({int(cell.place["agents"]) for cell in context.cells})
    return f"{', '.join(map(str, fewer))} or {most} agents" if fewer else f"{most} agents"


def what_cells_are(context: Context) -> str:
    """``map size``; ``map size and number of agents``."""
    differing = [name for name in NAMES_OF_PLACES if len({cell.place.get(name) for cell in context.cells}) > 1]
    return " and ".join(NAMES_OF_PLACES[name] for name in differing or ["size"])


def cells_in_words(context: Context) -> str:
    """``4, 6``; ``3@4 (size 4 with 3 agents), ...``."""
    return ", ".join(cell.name if cell.name.isdigit() else f"{cell.name} ({cell.words})" for cell in context.cells)


def conversation(request: str, failed: Attempt | None) -> list[dict[str, str]]:
    """The request as a chat message; after an answer that could not be used, that answer too, and what was wrong with it."""
    messages = [{"role": "user", "content": request}]
    if failed is not None and failed.raw:
        wrong = f"This cannot be used: {failed.error}. Answer anew, with the JSON object alone."
        messages += [{"role": "assistant", "content": failed.raw}, {"role": "user", "content": wrong}]
    return messages


def example(context: Context) -> dict[str, Any]:
    """The form with values of no meaning, for this context's cells."""
    cited = next((line for lines in context.sections.values() for line in lines if line.cell is not None), None)
    claim = {"cell": context.names[0], "knob": "hole_ratio", "evidence": [cited.id] if cited else [], "expected_valid_percent": 50}
    cells: dict[str, Any] = {
        name: {"share_percent": 100 // len(context.names), "hole_percent": 20, "wait_percent": 20} for name in context.names
    }
    return {"rationale": "...", "claims": [claim], "preserved": [], "cells": cells}


def answer_schema(context: Context) -> dict[str, Any]:
    """JSON schema of the answer to ``context``: its cells and evidence ids only, every list, text and number bounded."""
    percent = {"type": "integer", "minimum": 0, "maximum": 100}
    names = list(context.names)
    ids = [line.id for lines in context.sections.values() for line in lines]
    cited: dict[str, Any] = {"type": "array", "maxItems": 4, "items": {"enum": ids}} if ids else {"type": "array", "maxItems": 0}
    knobs = {"enum": [*get_args(Knob), None]}
    claim = closed({"cell": {"enum": names}, "knob": knobs, "evidence": cited, "expected_valid_percent": percent})
    cell = closed({"share_percent": percent, "hole_percent": percent, "wait_percent": percent})
    mixing = closed({**cell["properties"], "layouts": closed(dict.fromkeys(context.layouts, percent))}) if context.layouts else cell
    return closed(
        {
            "rationale": {"type": "string", "maxLength": LONGEST_RATIONALE},
            "claims": {"type": "array", "maxItems": 2 * len(names), "items": claim},
            "preserved": {"type": "array", "maxItems": len(names), "items": {"enum": names}},
            "cells": closed({own.name: cell if "layout" in own.place else mixing for own in context.cells}),
        }
    )


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object with these properties, all of them and no others, in this order."""
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def parse_answer(context: Context, before: EnvironmentConfig, text: str) -> Proposal:
    """Reads what the model wrote: the last JSON object in it, whatever stands around.

    Raises:
        ProposalError: there is none, a value is out of range, or a claim is about a cell or cites evidence that the context does not have.
    """
    try:
        said = ProposalAnswer.model_validate(last_object(text))
    except ValidationError as error:
        raise ProposalError(one_line(error)) from None
    ids = {line.id for lines in context.sections.values() for line in lines}
    for claim in said.claims:
        if unknown := [cited for cited in claim.evidence if cited not in ids]:
            raise ProposalError(f"a claim on {cut(claim.cell, 60)} cites {cut(unknown[0], 60)}, which is no evidence here")
    for named in ([claim.cell for claim in said.claims], said.preserved, said.cells):
        if foreign := [name for name in named if name not in before.cells]:
            raise ProposalError(f"there is no cell {foreign[0]}; the cells are {', '.join(context.names)}")
    config = new_config(before, said.cells)
    claims = tuple(as_claim(claim, before, config, context.words[claim.cell]) for claim in said.claims)
    return Proposal(summary=said.rationale.strip(), claims=claims, preserved=said.preserved, config=config)


def new_config(before: EnvironmentConfig, said: dict[str, CellAnswer]) -> EnvironmentConfig:
    """``before`` with what was answered about each cell. Raises ProposalError if a cell is left out, or no share is above 0."""
    missing = [name for name in before.cells if name not in said]
    if missing:
        raise ProposalError(f'"cells" leaves out {", ".join(missing)}')
    total = sum(answer.share_percent for answer in said.values())
    if not total:
        raise ProposalError("all shares are 0")
    cells = {}
    for name, old in before.cells.items():
        answer = said[name]
        update: dict[str, Any] = {"share": answer.share_percent / total}
        update |= {"hole_ratio": answer.hole_percent / 100, "wait_ratio": answer.wait_percent / 100}
        if answer.layouts and not old.layout and (parts := sum(answer.layouts.values())):
            update["layouts"] = {layout: part / parts for layout, part in answer.layouts.items() if part}
        cells[name] = old.model_copy(update=update)
    return before.with_cells(cells)


def as_claim(said: ClaimAnswer, before: EnvironmentConfig, after: EnvironmentConfig, cell: str) -> Claim:
    """The claim on the ``cell`` (in words) with what the config really does."""
    values = [getattr(config.cells[said.cell], said.knob) if said.knob else None for config in (before, after)]
    claim = Claim(
        cell=said.cell,
        knob=said.knob,
        before=values[0],
        after=values[1],
        evidence=said.evidence,
        expected=said.expected_valid_percent / 100,
    )
    return claim.model_copy(update={"text": claim_sentence(claim, cell)})


def last_object(text: str) -> Any:
    """The last JSON object of the text that has a key of the form; one within an object that is broken off has none. Raises ProposalError
    where there is no such object."""
    found = None
    for value, _ in json_values(text, "{"):
        found = value if set(value) & set(ProposalAnswer.model_fields) else found
    if found is None:
        raise ProposalError("the answer holds no complete JSON object of the form asked for")
    return found
