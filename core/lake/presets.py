"""Environment configs by name, for any team; ``frozenlab generate``, Design and Train offer them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from frozenlab import seeds
from frozenlab.lake.config import MAX_AGENTS, PAPER_SIZES, ConfigError, EnvironmentConfig, Layout, SizeConfig
from frozenlab.lake.draw.feasible import infeasible

TRIES = 100
"""Ratios are drawn this often at most for a size whose boards cannot be drawn."""


def preset(name: str, agents: int = 2) -> EnvironmentConfig:
    """The preset for a team, over the paper's sizes that have room for it (3x3 for up to 3 agents, 4x4 for 4, 5x5 for 5).

    Raises:
        ConfigError: there is no such preset, or no such team.
    """
    if name not in PRESETS:
        raise ConfigError(f"{name!r} is no preset; there are {', '.join(PRESETS)}")
    if not 1 <= agents <= MAX_AGENTS:
        raise ConfigError(f"a team of {agents} agents is outside 1..{MAX_AGENTS}")
    make, _ = PRESETS[name]
    return make(tuple(size for size in PAPER_SIZES if size >= agents), agents)


def random_config(sizes: Sequence[int], agents: int, rng: np.random.Generator, layouts: Sequence[Layout] = ()) -> EnvironmentConfig:
    """Shares from a flat Dirichlet and ratios evenly from the paper's range, of boards that can be drawn.

    Args:
        layouts: mixed at random in every size; without any, all boards are scattered.
    """
    shares = rng.dirichlet(np.ones(len(sizes))).tolist()
    cells = {}
    for size, share in zip(sizes, shares, strict=True):
        for _ in range(TRIES):
            hole_ratio, wait_ratio = rng.uniform(0.1, 0.5), rng.uniform(0, 1) if agents > 1 else 0.0
            if infeasible(EnvironmentConfig.uniform((size,), agents, hole_ratio, wait_ratio), size) is None:
                break
        cells[size] = SizeConfig(share=share, hole_ratio=hole_ratio, wait_ratio=wait_ratio)
    if layouts:
        for size, cell in cells.items():
            parts = dict(zip(layouts, rng.dirichlet(np.ones(len(layouts))).tolist(), strict=True))
            cells[size] = cell.model_copy(update={"layouts": parts})
    return EnvironmentConfig(agents=agents, sizes=cells)


def uniform(sizes: Sequence[int], agents: int) -> EnvironmentConfig:
    return weighted(dict.fromkeys(sizes, 1.0), agents, hole_ratio=0.3, wait_ratio=0.5)


def random(sizes: Sequence[int], agents: int) -> EnvironmentConfig:
    return random_config(sizes, agents, seeds.rng(0, "config/random"))


def small_first(sizes: Sequence[int], agents: int) -> EnvironmentConfig:
    return weighted({size: 0.5**i for i, size in enumerate(sizes)}, agents, hole_ratio=0.15, wait_ratio=0.1)


def hard(sizes: Sequence[int], agents: int) -> EnvironmentConfig:
    return weighted({size: 1.0 for size in sizes if size >= 6}, agents, hole_ratio=0.4, wait_ratio=0.7)


def weighted(weights: dict[int, float], agents: int, hole_ratio: float, wait_ratio: float) -> EnvironmentConfig:
    """Shares in proportion to ``weights``, the same ratios for every size; one agent alone never needs to WAIT."""
    total = sum(weights.values())
    wait_ratio = wait_ratio if agents > 1 else 0.0
    cells = {size: SizeConfig(share=weight / total, hole_ratio=hole_ratio, wait_ratio=wait_ratio) for size, weight in weights.items()}
    return EnvironmentConfig(agents=agents, sizes=cells)


PRESETS: dict[str, tuple[Callable[[Sequence[int], int], EnvironmentConfig], str]] = {
    "uniform": (uniform, "Every size equally often, with the middle of the paper's ratios (a baseline of the paper)"),
    "random": (random, "Shares and ratios drawn once at random from the paper's range (a baseline of the paper)"),
    "small-first": (small_first, "Each size half as often as the one before, few holes, few conflicts: for a model that begins"),
    "hard": (hard, "Boards of 6×6 and more with many holes, most of which force some agent to wait"),
}
"""Name -> how it is made from sizes and team, and what it is in one line."""
