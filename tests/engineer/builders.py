"""Contexts of configs that no session has measured."""

from __future__ import annotations

from typing import Any

import numpy as np

from frozenlab.base.cells import Cell, Config
from frozenlab.engineer.ask import ask
from frozenlab.engineer.engineers import engineer_of
from frozenlab.engineer.guard import GuardSettings
from frozenlab.engineer.protocol import EngineerSpec, Models
from frozenlab.engineer.schema import Context, Evidence, GuardReport, ProposalRecord
from frozenlab.engineer.sections import behaviour, failures
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_cell import BoardKind, CellConfig
from recipes.lab_model.proposals import draw_context

MIXED = EnvironmentConfig.of(
    [
        CellConfig(agents=2, size=4, share=0.5, hole_ratio=0.2, wait_ratio=0.2),
        CellConfig(agents=3, size=4, share=0.25, hole_ratio=0.1, wait_ratio=0.3),
        CellConfig(agents=3, size=6, share=0.25, hole_ratio=0.3, wait_ratio=0.4),
    ]
)
"""A config of two teams: cells 2@4, 3@4 and 3@6."""


OPEN = GuardSettings(max_step=1, min_share=0)
"""A guard that lets every config pass that can be drawn."""


def asked(engineer: str | EngineerSpec, context: Context, config: Config, limits: GuardSettings = OPEN, seed: int = 1) -> ProposalRecord:
    """What an engineer that needs no model, by name or with settings, proposes."""
    spec = engineer_of(engineer) if isinstance(engineer, str) else engineer
    return ask(spec.build(Models("")), context, config, limits, seed=seed)


def record_of(config: Config, **fields: Any) -> ProposalRecord:
    """The record of a proposal that kept the config."""
    kept = {"stage": 0, "engineer": "rules", "attempts": (), "proposal": None, "guard": GuardReport(), "changes": ()}
    return ProposalRecord(**kept | {"config_before": config, "config_after": config} | fields)


def one_cell(size: int) -> Cell:
    """The cell of a map size in a config of one team."""
    return EnvironmentConfig.uniform((size,)).described()[0]


def mixed_cell(name: str) -> Cell:
    """A cell like those of MIXED, by its name: ``3@6``."""
    agents, size = map(int, name.split("@"))
    return MIXED.describe(BoardKind(agents, size))


def context_of(config: EnvironmentConfig, *lines: Evidence) -> Context:
    """The context after the first stage with these lines, each in its section."""
    sections: dict[str, tuple[Evidence, ...]] = {}
    for line in lines:
        sections[line.section] = (*sections.get(line.section, ()), line)
    return Context(stage=0, cells=config.described(), sections=sections)


def lines_of(config: Config, *valid: float) -> list[Evidence]:
    """What training and the held-out boards say of a config's cells, with these valid rates."""
    lines = []
    for cell, rate in zip(config.described(), valid, strict=True):
        lines.append(behaviour.cell_line(cell, rate, rate / 10, rate / 2))
        lines.append(failures.cell_line(cell, 40, rate, rate / 2, {"hole": 1 - rate}, ("b1",)))
    return lines


def answer_to(context: Context) -> dict[str, Any]:
    """An answer of a language model in the form that it is asked for."""
    cited = next((line.id for line in context.lines if line.cell is not None), None)
    claim = {"cell": context.names[0], "knob": "hole_ratio", "evidence": [cited] if cited else [], "expected_valid_percent": 50}
    cells = {name: {"share_percent": 100 // len(context.names), "hole_percent": 20, "wait_percent": 20} for name in context.names}
    return {"rationale": "...", "claims": [claim], "preserved": [], "cells": cells}


def of_sizes(seed: int) -> tuple[Context, EnvironmentConfig]:
    """A drawn context with all sections of a config of one team's map sizes, and that config."""
    rng = np.random.default_rng(seed)
    while True:
        context, config = draw_context(rng)
        if isinstance(config, EnvironmentConfig) and all(name.isdigit() for name in context.names) and len(context.sections) == 5:
            return context, config
