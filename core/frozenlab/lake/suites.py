"""Suites: fixed, held-out sets of boards on which policies are compared."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from frozenlab.base.cells import quotas
from frozenlab.lake.board import MAX_SIDE
from frozenlab.lake.config import PAPER_SIZES, EnvironmentConfig
from frozenlab.lake.config_cell import MAX_AGENTS, MIN_SIZE, BoardKind, Layout, Ratio
from frozenlab.lake.draw.feasible import infeasible
from frozenlab.lake.draw.generator import name_instance
from frozenlab.lake.draw.hashes import NOTHING, canonical_hashes
from frozenlab.lake.draw.stratum import Stratum, holes_of
from frozenlab.lake.draw.stream import Block, fill_blocks
from frozenlab.lake.instance import Instance


class SuiteSpec(BaseModel):
    """Which boards a suite holds; the same spec gives the same boards everywhere.

    A suite cell is one team size on one map size, and one layout if it has several. Its boards are spread evenly over the hole ratios.
    Cells and hole ratios that leave no room for the agents are skipped.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    agents: Annotated[tuple[Annotated[int, Field(ge=1, le=MAX_AGENTS)], ...], Field(min_length=1)]
    sizes: Annotated[tuple[Annotated[int, Field(ge=MIN_SIZE, le=MAX_SIDE)], ...], Field(min_length=1)]
    boards_per_cell: Annotated[int, Field(ge=1, le=10_000, title="Held-out boards")]
    """Boards for each map size and each number of agents. More boards give narrower intervals and a slower validation."""
    hole_ratios: Annotated[tuple[Ratio, ...], Field(min_length=1)] = (0.1, 0.2, 0.3, 0.4, 0.5)
    wait_ratio: Ratio | None = None
    """Part of a cell's boards, spread evenly over the hole ratios, that need a WAIT; None keeps the natural mix."""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0

    layouts: Annotated[tuple[Layout, ...], Field(min_length=1, exclude_if=lambda layouts: layouts == ("scatter",))] = ("scatter",)
    """Layouts of the boards, a cell each. Left out of files where all boards are scatter, as the paper's."""

    @property
    def family(self) -> str:
        return "lake"

    @property
    def cells(self) -> tuple[BoardKind, ...]:
        """The kinds of boards, each with as many. As in the paper, a board has at least as many rows as agents."""
        kinds = (
            BoardKind(num_agents, size, None if self.layouts == ("scatter",) else layout)
            for num_agents in self.agents
            for size in self.sizes
            for layout in self.layouts
        )
        return tuple(kind for kind in kinds if kind.size >= kind.agents and self.hole_counts(kind))

    def hole_counts(self, kind: BoardKind) -> list[int]:
        """The different hole counts of a cell's boards, ascending; those that leave no room for the team are left out."""
        name = str(kind.size)
        configs = [EnvironmentConfig.uniform((kind.size,), kind.agents, ratio, self.wait_ratio or 0.0) for ratio in self.hole_ratios]
        natural = self.wait_ratio is None
        possible = [config for config in configs if infeasible(config, name, kind.layout or "scatter", natural=natural) is None]
        return sorted({holes_of(kind.size, config.cells[name].hole_ratio) for config in possible})


SEED = 20_260_617
WAIT_RATIOS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The shares of boards that need a WAIT of the paper's benchmark, a suite each."""
PAPER = SuiteSpec(agents=(3, 4, 5), sizes=PAPER_SIZES, boards_per_cell=150, seed=SEED)
SUITES: dict[str, SuiteSpec] = {
    "quick": SuiteSpec(agents=(2, 3, 4), sizes=PAPER_SIZES, boards_per_cell=10, seed=SEED),
    "session": SuiteSpec(agents=(3,), sizes=(3, 4, 5, 6, 7, 8), boards_per_cell=40, seed=SEED),
    "train-shape": SuiteSpec(agents=(2,), sizes=PAPER_SIZES, boards_per_cell=150, seed=SEED),
    "paper": PAPER,
} | {f"paper-wr{ratio:g}": PAPER.model_copy(update={"wait_ratio": ratio}) for ratio in WAIT_RATIOS}
"""Suites by name. ``session`` is what the quick session validates on, and a part of ``paper``; ``train-shape`` has the paper's team size
of training; ``paper`` has the shape of the public benchmark: 21 cells with 3,150 boards in their natural mix; in ``paper-wr0.5`` half of
them need a WAIT. Every wait ratio can be had in every cell and at every hole ratio that ``paper`` has."""
HELD_OUT = Path(__file__).parent / "data" / "held_out.npy"


def build_suite(
    spec: SuiteSpec,
    config: EnvironmentConfig | None = None,
    *,
    sum_of_costs: bool = True,
    exclude: NDArray[np.uint64] = NOTHING,
    workers: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Instance]:
    """Draws and solves the boards of a suite; cell after cell, and in a cell one hole count after the other.

    No two boards of a suite are rotations, mirror images or renumberings of each other. A tiny cell that has no more different boards
    holds fewer.

    Args:
        config: the config of the session, which names the cell that each board counts for.
        sum_of_costs: find the optimal sums of costs too.
        exclude, workers, on_progress: as in :func:`frozenlab.lake.draw.generator.generate`.

    Raises:
        GenerationError: a wait ratio cannot be reached.
    """
    blocks: list[tuple[str, Block]] = []  # with the name of the cell that their boards count for
    for kind in spec.cells:
        name = config.cell_of(kind) if config else ""
        counts = spec.hole_counts(kind)
        even = [1.0] * len(counts)
        parts: list[tuple[int, ...]] = [(boards,) for boards in quotas(spec.boards_per_cell, even)]
        if spec.wait_ratio is not None:
            waiting = quotas(quotas(spec.boards_per_cell, [1 - spec.wait_ratio, spec.wait_ratio])[1], even)
            parts = [(boards[0] - wait, wait) for boards, wait in zip(parts, waiting, strict=True)]
        for holes, wanted in zip(counts, parts, strict=True):
            stratum = Stratum(kind.size, kind.agents, holes, kind.layout or "scatter")
            blocks.append((name, Block(stratum, stratum.key("suite", spec.seed), wanted)))
    filled = fill_blocks(
        [block for _, block in blocks], exclude=exclude, distinct=True, sum_of_costs=sum_of_costs, workers=workers, on_progress=on_progress
    )
    boards = [(board, name) for (name, _), drawn in zip(blocks, filled, strict=True) for board in drawn]
    return [name_instance(number, *pair) for number, pair in enumerate(boards)]


@cache
def held_out() -> NDArray[np.uint64]:
    """Canonical hashes, ascending, of all boards of all named suites: no training draw may have them. Made by :func:`main`."""
    return np.load(HELD_OUT, allow_pickle=False)


def main() -> None:
    """``python -m frozenlab.lake.suites`` writes the hashes of the named suites again."""
    boards = [instance.board for spec in SUITES.values() for instance in build_suite(spec, sum_of_costs=False)]
    np.save(HELD_OUT, canonical_hashes(boards))
    print(f"{len(held_out())} different boards in {len(SUITES)} suites")


if __name__ == "__main__":
    main()
