"""Suites: fixed, held-out sets of boards on which policies are compared."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from core.lake.board import MAX_SIDE
from core.lake.config import MAX_TEAM, MIN_SIZE, PAPER_SIZES, Ratio
from core.lake.generator import Stream, canonical_hash, hash_array, holes_of, infeasible, name_instance, new_memo, quotas
from core.lake.instance import Instance


class SuiteSpec(BaseModel):
    """Which boards a suite holds; the same spec gives the same boards everywhere.

    A suite cell is one team size on one map size. Its boards are spread evenly over the hole ratios and keep the natural mix of boards
    with and without a necessary WAIT. Cells and hole ratios that leave no room for the agents are skipped.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    agents: Annotated[tuple[Annotated[int, Field(ge=1, le=MAX_TEAM)], ...], Field(min_length=1)]
    sizes: Annotated[tuple[Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIDE)], ...], Field(min_length=1)]
    boards_per_cell: Annotated[int, Field(ge=1, le=10_000)]
    hole_ratios: Annotated[tuple[Ratio, ...], Field(min_length=1)] = (0.1, 0.2, 0.3, 0.4, 0.5)
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0

    @property
    def cells(self) -> tuple[tuple[int, int], ...]:
        """The (agents, size) cells. As in the paper, a board has at least as many rows as agents."""
        return tuple((team, size) for team in self.agents for size in self.sizes if size >= team and self.hole_counts(team, size))

    def hole_counts(self, team: int, size: int) -> list[int]:
        """The different hole counts of a cell's boards, ascending; those that leave no room for the team are left out."""
        return sorted({holes_of(size, ratio) for ratio in self.hole_ratios if infeasible(size, team, ratio, None) is None})


SUITES: dict[str, SuiteSpec] = {
    "quick": SuiteSpec(agents=(2, 3, 4), sizes=PAPER_SIZES, boards_per_cell=10, seed=20_260_617),
    "session": SuiteSpec(agents=(2,), sizes=(3, 4, 5, 6, 7, 8), boards_per_cell=40, seed=20_260_617),
    "paper": SuiteSpec(agents=(3, 4, 5), sizes=PAPER_SIZES, boards_per_cell=150, seed=20_260_617),
}
"""Suites by name. ``session`` is what the quick session validates on; ``paper`` has the shape of the public benchmark: 21 cells with 3,150
boards."""


def build_suite(spec: SuiteSpec) -> list[Instance]:
    """Draws and solves the boards of a suite, makespan and sum of costs; cell after cell, and in a cell one hole count after the other.

    No two boards of a suite are rotations, mirror images or renumberings of each other. A tiny cell that has no more different boards
    (25 draws in a row gave known ones) holds fewer.
    """
    memo = new_memo()
    seen: set[str] = set()
    instances: list[Instance] = []
    for team, size in spec.cells:
        hole_counts = spec.hole_counts(team, size)
        for holes, quota in zip(hole_counts, quotas(spec.boards_per_cell, [1.0] * len(hole_counts)), strict=True):
            stream = Stream("suite", spec.seed, size, team, holes, hash_array(()), memo)
            repeats = 0
            while quota and repeats < 25:
                board, solution = stream.take_any(1)[0]
                hashed = canonical_hash(board)
                if hashed in seen:
                    repeats += 1
                    continue
                seen.add(hashed)
                repeats, quota = 0, quota - 1
                instances.append(name_instance(len(instances), (board, solution), sum_of_costs=True))
    return instances
