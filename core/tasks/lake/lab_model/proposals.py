"""Engineer demonstrations for the lab model's warm start: synthetic contexts, each answered by the `rules` engineer.

The contexts are drawn, not measured: valid rates that fall with map size, faults, configs, and any subset of the sections. So the lab
model imitates :mod:`frozenlab.engineer.engineers.rules` at first, and does not know what really helped a model learn.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from frozenlab import seeds
from frozenlab.cells import Cell
from frozenlab.engineer.dialects.lab import READABLE, render_context, render_proposal
from frozenlab.engineer.engineers import rules
from frozenlab.engineer.schema import Context, Evidence
from frozenlab.engineer.sections import behaviour, failures, history, preserved, statistics
from frozenlab.engineer.sections.preserved import TEACHES, WORKS
from frozenlab.lake.config import PAPER_SIZES, EnvironmentConfig
from frozenlab.lake.config_cell import BoardKind, CellConfig
from frozenlab.tasks.lake.dialects.vocabulary import FAULT_WORDS, MAX_CELLS
from frozenlab.tasks.lake.evidence import statistics as drawn_statistics

TEAMS = (2, 3, 4, 5)
ALL_SECTIONS_CHANCE = 0.5
COMMON_FAULTS = {"vertex_conflict": 0.8, "edge_conflict": 0.5, "hole": 0.9, "goal_not_reached": 0.3}
"""Frequencies of faults as Dirichlet weights. The lab model rarely makes the other mistakes."""
HISTORY_CHANCE = 0.6
"""Chance that an earlier stage exists, so that `history` has something to say."""


def demonstrations(n: int, seed: int, mixed: float = 0.0) -> Iterator[tuple[str, str]]:
    """``n`` pairs of prompt and completion in the lab dialect; the same for the same seed. A part ``mixed`` of them mixes teams."""
    rng = seeds.rng(seed, "demonstrations")
    for _ in range(n):
        context = draw_context(rng, mixed)
        yield render_context(context), render_proposal(context, rules.propose(context, even_config(context)))


SECTIONS = tuple(section.name for section in READABLE)
"""Those that the lab model reads."""


def even_config(context: Context) -> EnvironmentConfig:
    """Some config with the cells of a context, all with the same share."""
    return EnvironmentConfig.of(CellConfig(**cell.place, share=1 / len(context.cells)) for cell in context.cells)  # type: ignore[arg-type]


def draw_context(rng: np.random.Generator, mixed: float = 0.0) -> Context:
    """A context as after a stage, half the time with all sections, otherwise with any subset of them.

    Args:
        mixed: chance that it mixes teams.
    """
    kinds = draw_mixed_kinds(rng) if mixed and rng.random() < mixed else None
    count = len(kinds) if kinds else int(rng.integers(1, len(PAPER_SIZES) + 1))
    sizes = [kind.size for kind in kinds] if kinds else sorted(int(size) for size in rng.choice(PAPER_SIZES, count, replace=False))
    chosen = SECTIONS if rng.random() < ALL_SECTIONS_CHANCE else tuple(section for section in SECTIONS if rng.random() < 0.5)
    strength, slope, per_agent = rng.uniform(0.2, 1.1), rng.uniform(0.0, 0.15), rng.uniform(0.0, 0.2) if kinds else 0.0
    shares = rng.dirichlet(np.full(count, 3.0))
    has_history = rng.random() < HISTORY_CHANCE
    lines_of: dict[str, list[Evidence]] = {section: [] for section in SECTIONS}
    lines_of["behaviour"].append(behaviour.whole_line(rng.random(), rng.normal(0, 0.05), rng.uniform(0.02, 0.8), rng.uniform(4, 60)))
    config = EnvironmentConfig.of(CellConfig(**kind._asdict(), share=1 / count) for kind in kinds or [BoardKind(2, size) for size in sizes])
    for cell, share in zip(config.described(), shares, strict=True):
        own = config.cells[cell.name]
        valid = float(np.clip(strength - slope * (own.size - 3) - per_agent * (own.agents - 2) + rng.normal(0, 0.12), 0, 1))
        for line in draw_lines(rng, cell, own.size, float(share), valid, has_history):
            lines_of[line.section].append(line)
    stage = int(rng.integers(0, 5))
    if not kinds:
        config = EnvironmentConfig.uniform(sizes, int(rng.integers(2, 6)))
    return Context(stage=stage, cells=config.described(), sections={section: tuple(lines_of[section]) for section in chosen})


def draw_mixed_kinds(rng: np.random.Generator) -> list[BoardKind]:
    """Two to four teams on the same sizes, as many as the context has room for; as in the paper, a board has a row for each agent."""
    teams = sorted(int(team) for team in rng.choice(TEAMS, int(rng.integers(2, len(TEAMS) + 1)), replace=False))
    most = min(len(PAPER_SIZES), MAX_CELLS // len(teams))
    sizes = sorted(int(size) for size in rng.choice(PAPER_SIZES, int(rng.integers(1, most + 1)), replace=False))
    kinds = [BoardKind(team, size) for team in teams for size in sizes if size >= team]
    return kinds if len({kind.agents for kind in kinds}) > 1 else draw_mixed_kinds(rng)


def draw_lines(rng: np.random.Generator, cell: Cell, size: int, share: float, valid: float, has_history: bool) -> Iterator[Evidence]:
    """The lines of every section on one cell, of this map size, with the held-out valid rate ``valid``."""
    sampled = float(np.clip(valid - abs(rng.normal(0, 0.08)), 0, 1))
    yield behaviour.cell_line(cell, sampled, rng.normal(0, 0.05), sampled * rng.uniform(0.5, 1))
    weights = rng.dirichlet([COMMON_FAULTS.get(fault, 0.1) for fault in FAULT_WORDS]) * (1 - valid)
    faults: dict[str, float] = {fault: float(weight) for fault, weight in zip(FAULT_WORDS, weights, strict=True) if weight > 0.01}
    yield failures.cell_line(cell, int(rng.integers(16, 150)), valid, valid * rng.uniform(0.5, 1), faults)
    if faults and rng.random() < 0.3:
        yield failures.case_line(cell, "a", max(faults, key=lambda f: faults[f]), int(rng.integers(1, 2 * size)), "", "")
    holes, waits = grid(rng, 0.5), grid(rng, 0.9)
    drawn = {"boards": 100.0, "hole_ratio": holes, "wait_ratio": waits, "makespan": rng.uniform(1, 2.2) * size}
    yield statistics.cell_line(cell, *drawn_statistics(cell, share, holes, waits, drawn))
    gain = rng.normal(0.03, 0.06)
    if TEACHES[0] <= sampled <= TEACHES[1] and gain >= WORKS:
        yield preserved.cell_line(cell, valid, gain)
    if has_history:
        changes = {}
        if rng.random() < 0.5:
            changes[str(rng.choice(["hole_ratio", "wait_ratio"]))] = float(rng.choice([-0.1, 0.1]))
        yield history.cell_line(cell, 0, changes, float(np.clip(valid - gain, 0, 1)), valid, None)


def grid(rng: np.random.Generator, top: float) -> float:
    """A ratio as in configs: usually a multiple of 0.1, sometimes any value."""
    value = rng.uniform(0, top)
    return round(value, 1) if rng.random() < 0.7 else float(value)
