"""Drawing boards from an environment config.

*Placement.* The number of holes of a board is exact, floor(ratio * cells + 0.5); where they go, its layout says (``scatter``: uniform over
the grid). Starts and goals are then uniform over the frozen cells. Draws without a solution are thrown away, so a scatter board is uniform
among all solvable boards of its kind. (With ``connected`` placement, agents are placed within connected cells instead; see config.py.)

*Quotas.* How many boards of each stratum (size, layout) need a WAIT and how many do not is fixed before anything is drawn, and both are
taken from the same stream. So the drawn ratios are the requested ones up to rounding, and the need to wait says nothing about the holes.

*Reproducible.* Draw number d of a stream depends on the seed, the stratum and d only (SplitMix64 as a counter-based stream), and a
stratum is cut into blocks with streams of their own, so any number of processes draws the same boards. The search budget is counted in
nodes; the few draws that it leaves undecided are thrown away, the same ones on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from frozenlab.base.cells import quotas
from frozenlab.base.seeds import mixed
from frozenlab.lake.config import EnvironmentConfig, Placement
from frozenlab.lake.config_cell import Layout
from frozenlab.lake.draw.feasible import infeasible
from frozenlab.lake.draw.hashes import NOTHING
from frozenlab.lake.draw.stream import Block, GenerationError, Solved, Stratum, Stream, blocks_of, fill_blocks, holes_of
from frozenlab.lake.instance import Instance


class Realised(BaseModel):
    """What was really drawn of one cell."""

    model_config = ConfigDict(frozen=True)

    boards: int
    share: float
    hole_ratio: float
    wait_ratio: float
    """Of the boards whose need to wait is known; 0 where there is none."""
    mean_makespan: float | None
    """Mean optimal makespan; None where no board has a known one."""


def generate(
    config: EnvironmentConfig,
    n: int,
    seed: int,
    *,
    sum_of_costs: bool = False,
    exclude: NDArray[np.uint64] = NOTHING,
    workers: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Instance]:
    """Draws ``n`` solved boards from a config, mixed so that any part of the list looks like the whole.

    Cells share the boards by largest remainder, within a cell the layouts do, and within those the boards with and without a necessary
    WAIT.

    Args:
        sum_of_costs: also find the optimal sums of costs (slow on dense boards with many agents).
        exclude: canonical hashes (:func:`canonical_hashes`) of boards that must not come out, ascending, such as those of a held-out suite.
        workers: processes to use; the boards are the same for any number.
        on_progress: called with (boards found, ``n``) now and then.

    Raises:
        GenerationError: a cell cannot be filled.

    Example:
        >>> boards = generate(EnvironmentConfig.uniform((4, 6), agents=2, wait_ratio=0.5), n=4, seed=0)
        >>> sorted((instance.board.size, instance.solution.needs_wait) for instance in boards)
        [(4, False), (4, True), (6, False), (6, True)]
    """
    blocks: list[tuple[str, Block]] = []  # with the name of their cell
    for (name, cell), quota in zip(config.cells.items(), quotas(n, [cell.share for cell in config.cells.values()]), strict=True):
        layouts = cell.drawn_layouts
        for layout, part in zip(layouts, quotas(quota, list(layouts.values())), strict=True):
            if part and (reason := infeasible(config, name, layout)):
                raise GenerationError(reason)
            wanted = quotas(part, [1 - cell.wait_ratio, cell.wait_ratio])
            blocks += [(name, block) for block in blocks_of(Stratum.of(config, name, layout), "config", seed, wanted)]
    filled = fill_blocks(
        [block for _, block in blocks], exclude=exclude, sum_of_costs=sum_of_costs, workers=workers, on_progress=on_progress
    )
    boards = [(board, name) for (name, _), drawn in zip(blocks, filled, strict=True) for board in drawn]
    order = np.argsort([mixed(seed, "order", i) for i in range(len(boards))], kind="stable")
    return [name_instance(i, *boards[place]) for i, place in enumerate(order)]


def random_instances(
    sizes: Sequence[int],
    teams: Sequence[int],
    hole_ratios: Sequence[float],
    n: int,
    seed: int,
    *,
    layout: Layout = "scatter",
    placement: Placement = "uniform",
    exclude: NDArray[np.uint64] = NOTHING,
) -> Iterator[Instance]:
    """Streams ``n`` solved boards of a layout with their natural mix of WAITs, evenly over all (size, agents, hole ratio) that can exist.

    The first m boards are the same for every ``n`` >= m, and any stretch of a few thousand has every cell in it.

    Raises:
        GenerationError: no cell can exist.
    """
    streams = [
        Stream(stratum, stratum.key("any", seed), exclude)
        for stratum in (
            Stratum(size, num_agents, holes_of(size, ratio), layout, placement)
            for size, num_agents, ratio in product(sizes, teams, hole_ratios)
            if infeasible(EnvironmentConfig.uniform((size,), num_agents, ratio), str(size), layout, natural=True) is None
        )
    ]
    if not streams:
        raise GenerationError(f"no size of {list(sizes)} has room for any team of {list(teams)} at the hole ratios {list(hole_ratios)}")
    number = 0
    while number < n:
        block = [pair for stream in streams for pair in stream.take([16])]
        for place in np.argsort([mixed(seed, "order", number + i) for i in range(len(block))], kind="stable")[: n - number]:
            yield name_instance(number, block[place])
            number += 1


def realised(instances: Sequence[Instance]) -> dict[str, Realised]:
    """What the boards are really like, cell by cell."""
    by_cell: dict[str, list[Instance]] = {}
    for instance in instances:
        by_cell.setdefault(instance.cell, []).append(instance)
    out = {}
    for cell, group in sorted(by_cell.items(), key=lambda item: (item[1][0].board.num_agents, item[1][0].board.size)):
        waits = [i.solution.needs_wait for i in group if i.solution.needs_wait is not None]
        makespans = [i.solution.makespan for i in group if i.solution.makespan is not None]
        out[cell] = Realised(
            boards=len(group),
            share=len(group) / len(instances),
            hole_ratio=sum(i.board.hole_ratio for i in group) / len(group),
            wait_ratio=sum(waits) / len(waits) if waits else 0.0,
            mean_makespan=sum(makespans) / len(makespans) if makespans else None,
        )
    return out


def name_instance(number: int, solved: Solved, cell: str = "") -> Instance:
    """A solved board as an instance, like ``2ag_6x6_000123``."""
    board, solution = solved
    return Instance(f"{board.num_agents}ag_{board.height}x{board.width}_{number:06d}", board, solution, cell)
