"""Where an environment's boards come from: drawn from a config, picked from a list, or always the same one."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

from frozenlab.base import seeds
from frozenlab.lake.board import Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.config_file import ConfigError
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.envs.vector import check_solved, largest
from frozenlab.lake.instance import Instance
from frozenlab.lake.layouts import LAYOUTS
from frozenlab.lake.solvers.solver import solve

Source = EnvironmentConfig | Sequence[Instance] | Instance | Board
"""Where boards come from: drawn from a config, picked from a list, or always the same one."""
POOL = 64
"""Boards drawn from a config at a time."""


class Supply:
    """The endless sequence of boards that a seed stands for."""

    def __init__(self, boards: Source) -> None:
        self.config = boards if isinstance(boards, EnvironmentConfig) else None
        self.instances: list[Instance] = []
        if isinstance(boards, EnvironmentConfig):
            if len(boards.teams) > 1:
                raise ConfigError(f"an environment has one team; the config mixes {', '.join(map(str, boards.teams))} agents")
            self.num_agents, side = boards.teams[0], max(boards.sizes)
            self.shape = (side, side)
            drawn = {layout for cell in boards.cells.values() for layout in cell.drawn_layouts}
            self.furnished = any(recipe.furnish for recipe in LAYOUTS if recipe.name in drawn)
        else:
            self.instances = _solved(boards)
            check_solved(self.instances)
            self.num_agents, self.shape = self.instances[0].board.num_agents, largest(self.instances)
            self.furnished = any(instance.board.is_furnished for instance in self.instances)
        self.rng: np.random.Generator | None = None
        self.pool: list[Instance] = []

    def next(self, seed: int | None) -> Instance:
        """The next board; the first one of a seed if one is given. The first board of all without a seed is anybody's guess."""
        if seed is not None or self.rng is None:
            self.rng = seeds.rng(secrets.randbits(64) if seed is None else seed, "envs/boards")
            self.pool = []
        if self.config is None:
            return self.instances[self.rng.integers(len(self.instances))]
        if not self.pool:
            self.pool = generate(self.config, POOL, seed=int(self.rng.integers(2**31)))[::-1]
        return self.pool.pop()


def _solved(boards: Sequence[Instance] | Instance | Board) -> list[Instance]:
    if isinstance(boards, Board):
        return [Instance("board", boards, solve(boards))]
    return [boards] if isinstance(boards, Instance) else list(boards)
