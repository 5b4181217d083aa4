"""What files of version 1 say, which knew one team and its map sizes."""

from __future__ import annotations

from collections.abc import Sequence

from frozenlab.base.cells import Cell
from frozenlab.lake.config import EnvironmentConfig


def cells_of_sizes(sizes: Sequence[int], agents: int) -> tuple[Cell, ...]:
    """The cells of a config of one team."""
    return EnvironmentConfig.uniform(sizes, agents).described()
