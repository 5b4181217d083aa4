"""What several families say together about configs, cells and knobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from frozenlab.base.cells import Cell
from frozenlab.tasks.knobs import SHARE, Knob, Outcome
from frozenlab.tasks.mixed.config import MixedConfig
from frozenlab.tasks.mixed.members import MEMBERS, member, member_with, members_of

BRIEF = """\
You design the environment in which a policy (a language model) learns tasks of several kinds by reinforcement learning. Training goes in
stages. After each stage you read what happened and write the environment config of the next one. The aim is the highest share of valid
and optimal answers on held-out tasks of all kinds in the end.

The config has a cell for each kind of task. For each cell you set, in whole per cent, share_percent: the part of all training tasks that
are of this cell. The shares of all cells are scaled to sum to 100. A cell has further knobs, by what it is about:"""


def knobs() -> dict[str, Knob]:
    """Of all families; a cell has the share and those of its own."""
    return {SHARE.name: SHARE} | {name: family.knobs[name] for family in MEMBERS for name in family.ratios}


def outcomes() -> dict[str, Outcome]:
    """Of all families: valid ones first, and one that several have in the words of the first, if they hold for all."""
    found = {name: outcome for family in reversed(MEMBERS) for name, outcome in family.outcomes.items()}
    found["parse_error"] = found["parse_error"]._replace(label="not readable", rule="An answer has the form that its task asks for.")
    return dict(sorted(found.items(), key=lambda item: (not item[1].valid, rank(item[0]))))


def rank(outcome: str) -> int:
    """The place of an outcome among those of all families."""
    return list(dict.fromkeys(name for family in MEMBERS for name in family.outcomes)).index(outcome)


def brief(cells: Sequence[Cell], parts: Sequence[str] = ()) -> str:
    about = []
    for family in MEMBERS:
        own = [cell for cell in cells if members_of([cell.name])[cell.name] is family]
        if own:
            names = ", ".join(f"{cell.name} ({cell.words})" for cell in own)
            ratios = [f"- {name.removesuffix('_ratio')}_percent: {family.knobs[name].help}" for name in family.ratios]
            about.append("\n".join([f"{family.aim} Its cells: {names}.", *ratios]))
    if parts:
        about.append(f"Cells on maps may mix layouts, the ways in which holes lie: {', '.join(parts)}.")
    return "\n\n".join([BRIEF, *about])


def statistics(cell: Cell, own: Any, drawn: Any) -> tuple[str, dict[str, float]]:
    return member_with(own).statistics(cell, own, drawn)


def case(row: Any) -> tuple[str, int]:
    return member(row["family"]).case(row)


def scope(config: MixedConfig) -> str:
    return "; ".join(member(family).scope(part.config) for family, part in config.parts.items())


def notes(config: MixedConfig) -> list[str]:
    return [note for family, part in config.parts.items() for note in member(family).notes(part.config)]


def setting_label(name: str) -> str:
    return next((family.setting_label(name) for family in MEMBERS if name in (*family.knobs, *family.parts)), name)


def part_help(part: str) -> str:
    return next((family.part_help(part) for family in MEMBERS if part in family.parts), part)


NULLABLE: Mapping[str, str] = {"int64": "Int64", "bool": "boolean"}
"""Types of columns that have room for nothing: of a column that a family lacks."""


def columns() -> dict[str, str]:
    """Of all families, and the name of the family."""
    names = dict.fromkeys(name for family in MEMBERS for name in family.columns)
    found = {"family": "str"}
    for name in names:
        kinds = [family.columns.get(name) for family in MEMBERS]
        kind = next(kind for kind in kinds if kind is not None)
        found[name] = NULLABLE.get(kind, kind) if None in kinds else kind
    return found
