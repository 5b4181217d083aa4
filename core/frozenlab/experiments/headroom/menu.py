"""The configs that a gate tries, made from one config, for any task family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from frozenlab.base.cells import Config
from frozenlab.experiments.students.menu import axes
from frozenlab.tasks.families import family_of
from frozenlab.tasks.family import Family

KEPT, UNIFORM = "kept", "uniform"
STEP = 0.25
"""How far a ratio is moved, as a part of its range."""
SMALLER_STEPS = (1.0, 0.6, 0.3)
"""Parts of the step that are tried for a cell, until its tasks can be drawn."""


def menu_of(config: Config) -> dict[str, Config]:
    """Name -> config: the config itself, uniform, everything easier and harder, each ratio lower and higher, and each axis alone.

    An axis is what some cells have in common, such as a team; where cells have nothing in common, each is an axis of its own.

    Configs that equal an earlier one are left out.
    """
    family = family_of(config.family)
    knobs = [family.knobs[name] for name in family.ratios]
    made = {KEPT: config, UNIFORM: family.even(config)}
    if any(knob.harder for knob in knobs):
        made["easy"] = moved(config, {knob.name: -knob.harder for knob in knobs}, family)
        made["hard"] = moved(config, {knob.name: knob.harder for knob in knobs}, family)
    for knob in knobs:
        made[f"{knob.label} lower"] = moved(config, {knob.name: -1}, family)
        made[f"{knob.label} higher"] = moved(config, {knob.name: 1}, family)
    for axis, cells in axes(config):
        made[f"only {axis if len(cells) > 1 else cells[0]}"] = alone(config, cells)
    menu: dict[str, Config] = {}
    for name, tried in made.items():
        if name in (KEPT, UNIFORM) or tried not in menu.values():
            menu[name] = tried
    return menu


def alone(config: Config, cells: Sequence[str]) -> Config:
    """The config with all tasks in some of its cells, in equal parts; the others stay in it with a share of 0."""
    share = 1 / len(cells)
    return config.with_cells({name: own.model_copy(update={"share": share * (name in cells)}) for name, own in config.cells.items()})


def moved(config: Config, directions: Mapping[str, int], family: Family) -> Config:
    """The config with ratios moved a step up (1) or down (-1) in every cell, or a smaller one where the tasks could not be drawn."""
    current = config
    for cell in config.cells:
        for part in SMALLER_STEPS:
            tried = current.with_cells({**current.cells, cell: _moved_cell(config.cells[cell], directions, part * STEP, family)})
            if family.undrawable(tried, cell) is None:
                current = tried
                break
    return current


def _moved_cell(own: Any, directions: Mapping[str, int], step: float, family: Family) -> Any:
    changes = {}
    for name in family.ratios_of(own):
        knob = family.knobs[name]
        value = own.settings()[name] + directions.get(name, 0) * step * (knob.high - knob.low)
        changes[name] = round(min(max(value, knob.low), knob.high), 6)
    return own.model_copy(update=changes)


def same_cells(configs: Sequence[Config]) -> bool:
    """Whether all configs have the same cells."""
    return len({tuple(config.cells) for config in configs}) <= 1
