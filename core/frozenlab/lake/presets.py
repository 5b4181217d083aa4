"""Environment configs by name, for any teams; ``frozenlab generate``, Design and Train offer them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from frozenlab.base import seeds
from frozenlab.lake.config import PAPER_SIZES, EnvironmentConfig
from frozenlab.lake.config_cell import MAX_AGENTS, BoardKind, CellConfig, Layout
from frozenlab.lake.config_file import ConfigError
from frozenlab.lake.draw.feasible import infeasible

TRIES = 100
"""Ratios are drawn this often at most for a cell whose boards cannot be drawn."""


def preset(name: str, agents: int | Sequence[int] = 2) -> EnvironmentConfig:
    """The preset for a team or for several, over the paper's sizes that have room for them (3x3 for up to 3 agents, 4x4 for 4, 5x5 for 5).

    Raises:
        ConfigError: there is no such preset, or no such team.
    """
    teams = (agents,) if isinstance(agents, int) else tuple(agents)
    if name not in PRESETS:
        raise ConfigError(f"{name!r} is no preset; there are {', '.join(PRESETS)}")
    for team in teams:
        if not 1 <= team <= MAX_AGENTS:
            raise ConfigError(f"a team of {team} agents is outside 1..{MAX_AGENTS}")
    make, _ = PRESETS[name]
    return make([BoardKind(team, size) for team in teams for size in PAPER_SIZES if size >= team])


def random_config(kinds: Sequence[BoardKind], rng: np.random.Generator, layouts: Sequence[Layout] = ()) -> EnvironmentConfig:
    """Shares from a flat Dirichlet and ratios evenly from the paper's range, of boards that can be drawn.

    Args:
        layouts: mixed at random in every cell that mixes layouts; without any, those boards are scattered.
    """
    shares = rng.dirichlet(np.ones(len(kinds))).tolist()
    cells = []
    for kind, share in zip(kinds, shares, strict=True):
        for _ in range(TRIES):
            hole_ratio, wait_ratio = rng.uniform(0.1, 0.5), rng.uniform(0, 1) if kind.agents > 1 else 0.0
            cell = CellConfig(**kind._asdict(), share=share, hole_ratio=hole_ratio, wait_ratio=wait_ratio)
            alone = EnvironmentConfig.of([cell.model_copy(update={"share": 1.0})])
            if not any(infeasible(alone, name, kind.layout or "scatter") for name in alone.cells):
                break
        cells.append(cell)
    if layouts:
        for place, cell in enumerate(cells):
            parts = dict(zip(layouts, rng.dirichlet(np.ones(len(layouts))).tolist(), strict=True))
            cells[place] = cell if cell.layout else cell.model_copy(update={"layouts": parts})
    return EnvironmentConfig.of(cells)


def uniform(kinds: Sequence[BoardKind]) -> EnvironmentConfig:
    return weighted(dict.fromkeys(kinds, 1.0), hole_ratio=0.3, wait_ratio=0.5)


def random(kinds: Sequence[BoardKind]) -> EnvironmentConfig:
    return random_config(kinds, seeds.rng(0, "config/random"))


def small_first(kinds: Sequence[BoardKind]) -> EnvironmentConfig:
    smallest = {agents: min(kind.size for kind in kinds if kind.agents == agents) for agents in {kind.agents for kind in kinds}}
    return weighted({kind: 0.5 ** (kind.size - smallest[kind.agents]) for kind in kinds}, hole_ratio=0.15, wait_ratio=0.1)


def hard(kinds: Sequence[BoardKind]) -> EnvironmentConfig:
    return weighted({kind: 1.0 for kind in kinds if kind.size >= 6}, hole_ratio=0.4, wait_ratio=0.7)


def weighted(weights: dict[BoardKind, float], hole_ratio: float, wait_ratio: float) -> EnvironmentConfig:
    """Shares in proportion to ``weights``, the same ratios in every cell; one agent alone never needs to WAIT."""
    total = sum(weights.values())
    return EnvironmentConfig.of(
        CellConfig(**kind._asdict(), share=weight / total, hole_ratio=hole_ratio, wait_ratio=wait_ratio if kind.agents > 1 else 0.0)
        for kind, weight in weights.items()
    )


PRESETS: dict[str, tuple[Callable[[Sequence[BoardKind]], EnvironmentConfig], str]] = {
    "uniform": (uniform, "Every size equally often, with the middle of the paper's ratios (a baseline of the paper)"),
    "random": (random, "Shares and ratios drawn once at random from the paper's range (a baseline of the paper)"),
    "small-first": (small_first, "Each size half as often as the one before, few holes, few conflicts: for a model that begins"),
    "hard": (hard, "Boards of 6×6 and more with many holes, most of which force some agent to wait"),
}
"""Name -> how it is made from kinds of boards, and what it is in one line."""
