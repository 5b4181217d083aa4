"""Strata: the kinds of boards that are drawn apart, and how many boards each gets."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from frozenlab.base.seeds import mixed
from frozenlab.lake.config import EnvironmentConfig, Placement, WaitDefinition
from frozenlab.lake.config_cell import Layout


@dataclass(frozen=True)
class Stratum:
    """The boards of one kind: what a stream draws."""

    size: int
    agents: int
    holes: int
    layout: Layout = "scatter"
    placement: Placement = "uniform"
    wait_definition: WaitDefinition = "makespan"

    @classmethod
    def of(cls, config: EnvironmentConfig, name: str, layout: Layout) -> Stratum:
        """The boards of one cell of a config in one of its layouts."""
        cell = config.cells[name]
        holes = holes_of(cell.size, cell.hole_ratio)
        return cls(cell.size, cell.agents, holes, layout, config.placement, config.wait_definition)

    def key(self, purpose: str, seed: int, block: int = 0) -> np.uint64:
        """The key of one of its streams. Streams of different purposes, seeds or blocks share nothing."""
        kind = () if (self.layout, self.placement) == ("scatter", "uniform") else (self.layout, self.placement)
        return np.uint64(mixed(purpose, seed, self.size, self.agents, self.holes, *kind, *((block,) if block else ())))

    def __str__(self) -> str:
        layout = "" if self.layout == "scatter" else f" in the layout {self.layout}"
        return f"boards with {self.agents} agents and {self.holes} holes{layout}"


def holes_of(size: int, hole_ratio: float) -> int:
    """Number of holes of a square board."""
    return math.floor(hole_ratio * size * size + 0.5)
