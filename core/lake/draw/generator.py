"""Drawing boards from an environment config, and what a config can and cannot ask for.

*Placement.* The holes of a board are an exact count, floor(ratio * cells + 0.5), laid out as the config says (``scatter``: uniform over the
grid); starts and goals are then uniform over the frozen cells. Draws without a solution are thrown away, so a scatter board is uniform
among all solvable boards of its cell. (``connected`` placement draws the agents within connected cells instead, see config.py.)

*Quotas.* How many boards of each stratum (size, layout) need a WAIT and how many do not is fixed before anything is drawn, and each bucket
is filled from the same stream; so the realised ratios are the asked ones up to rounding, and waiting does not tell the hole ratio.

*Reproducible.* Draw number d of a stream depends on the seed, the stratum and d only (SplitMix64 as a counter-based stream), and a
stratum is cut into blocks of its own, so any number of processes draws the same boards. The search budget is counted in nodes; the few
draws that it leaves undecided are thrown away, the same ones everywhere.
"""

from __future__ import annotations

import csv
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from frozenlab.errors import LabError
from frozenlab.lake.board import Agent, Board, Cell
from frozenlab.lake.config import LAYOUTS, PLACEMENTS, EnvironmentConfig, Layout, Placement, WaitDefinition
from frozenlab.lake.instance import Instance
from frozenlab.lake.kernels.limits import BUDGET_BULK
from frozenlab.lake.solve.solver import Boards, Solution, of_one_shape, solve_all, solve_group, stacked
from frozenlab.seeds import mixed

RATES = Path(__file__).parents[1] / "data" / "natural_rates.csv"
"""Per size, agents, hole count, layout and placement: draws, those with a solution, and those of them that need a WAIT by makespan.
Measured anew by benchmarks/natural_rates.py."""
BLOCK = 256
"""Boards of a stratum that are drawn from one stream."""
ROWS = 256
"""Most boards that are solved in one call of the kernel."""
DRY_DRAWS, DRAWS_PER_BOARD = 100_000, 20_000
"""A stream gives up once it took more draws than DRY_DRAWS plus DRAWS_PER_BOARD for each board found,"""
DRY_TRIES, TRIES_PER_BOARD = 5_000, 2_000
"""or gave the solver more boards than DRY_TRIES plus TRIES_PER_BOARD for each board found."""
REPEATS = 25
"""So many draws in a row that give known boards mean that there are no others."""
TRIAL = 8
"""Boards of a kind that are drawn to see whether there are any."""
NOTHING = np.empty(0, np.uint64)


class GenerationError(LabError, ValueError):
    """A cell of a config cannot be filled; the message names the size, the reason and what is within reach."""


class Realised(BaseModel):
    """What was really drawn for one map size."""

    model_config = ConfigDict(frozen=True)

    boards: int
    share: float
    hole_ratio: float
    wait_ratio: float
    """Of the boards whose need to wait is known; 0 where there is none."""
    mean_makespan: float | None
    """Mean optimal makespan; None where no board has a known one."""


@dataclass(frozen=True)
class Stratum:
    """The boards of one kind: what a stream draws."""

    size: int
    agents: int
    holes: int
    layout: Layout = "scatter"
    placement: Placement = "uniform"
    wait_definition: WaitDefinition = "makespan"

    def key(self, purpose: str, seed: int, block: int = 0) -> np.uint64:
        """The key of one of its streams. Streams of another purpose, seed or block share nothing."""
        kind = () if (self.layout, self.placement) == ("scatter", "uniform") else (self.layout, self.placement)
        return np.uint64(mixed(purpose, seed, self.size, self.agents, self.holes, *kind, *((block,) if block else ())))

    def __str__(self) -> str:
        layout = "" if self.layout == "scatter" else f" in the layout {self.layout}"
        return f"boards with {self.agents} agents and {self.holes} holes{layout}"


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

    Sizes share the boards by largest remainder, within a size the layouts do, and within those the boards with and without a necessary
    WAIT.

    Args:
        sum_of_costs: also find the optimal sums of costs (slow on dense boards with many agents).
        exclude: canonical hashes (:func:`canonical_hashes`) of boards that must not come out, ascending, such as those of a held-out suite.
        workers: processes to use; the boards are the same for any number.
        on_progress: called with (boards found, ``n``) now and then.

    Raises:
        GenerationError: a size cannot be filled.
    """
    sizes = list(config.sizes)
    tasks: list[Block] = []
    for size, quota in zip(sizes, quotas(n, [config.sizes[size].share for size in sizes]), strict=True):
        cell = config.sizes[size]
        for (layout, _), part in zip(cell.layouts.items(), quotas(quota, list(cell.layouts.values())), strict=True):
            reason = infeasible(size, config.agents, cell.hole_ratio, cell.wait_ratio, layout, config) if part else None
            if reason:
                raise GenerationError(reason)
            stratum = Stratum(size, config.agents, holes_of(size, cell.hole_ratio), layout, config.placement, config.wait_definition)
            tasks += blocks_of(stratum, "config", seed, quotas(part, [1 - cell.wait_ratio, cell.wait_ratio]))
    boards = fill_blocks(tasks, exclude=exclude, sum_of_costs=sum_of_costs, workers=workers, on_progress=on_progress)
    order = np.argsort([mixed(seed, "order", i) for i in range(len(boards))], kind="stable")
    return [name_instance(i, boards[place]) for i, place in enumerate(order)]


def random_instances(
    sizes: Sequence[int],
    teams: Sequence[int],
    hole_ratios: Sequence[float],
    n: int,
    seed: int,
    *,
    placement: Placement = "uniform",
    exclude: NDArray[np.uint64] = NOTHING,
) -> Iterator[Instance]:
    """Streams ``n`` solved scatter boards, evenly over all (size, team, hole ratio) cells that can exist, with their natural mix of WAITs.

    The first m boards are the same for every ``n`` >= m, and any stretch of a few thousand has every cell in it.

    Raises:
        GenerationError: no cell can exist.
    """
    streams = [
        Stream(stratum, stratum.key("any", seed), exclude)
        for stratum in (
            Stratum(size, num_agents, holes_of(size, ratio), placement=placement)
            for size, num_agents, ratio in product(sizes, teams, hole_ratios)
            if infeasible(size, num_agents, ratio, None) is None
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


def realised(instances: Sequence[Instance]) -> dict[int, Realised]:
    """What the boards are really like, per map size."""
    by_size: dict[int, list[Instance]] = {}
    for instance in instances:
        by_size.setdefault(instance.board.size, []).append(instance)
    out = {}
    for size, group in sorted(by_size.items()):
        waits = [i.solution.needs_wait for i in group if i.solution.needs_wait is not None]
        makespans = [i.solution.makespan for i in group if i.solution.makespan is not None]
        out[size] = Realised(
            boards=len(group),
            share=len(group) / len(instances),
            hole_ratio=sum(i.board.hole_ratio for i in group) / len(group),
            wait_ratio=sum(waits) / len(waits) if waits else 0.0,
            mean_makespan=sum(makespans) / len(makespans) if makespans else None,
        )
    return out


def canonical_hash(board: Board) -> str:
    """16 hex digits that are the same for all rotations and mirror images of a board and for all orders of its agents."""
    return f"{canonical_hashes([board])[0]:016x}"


def canonical_hashes(boards: Sequence[Board]) -> NDArray[np.uint64]:
    """:func:`canonical_hash` of many boards as numbers, ascending and each once: what ``exclude`` takes."""
    from frozenlab.lake.draw.drawing import canonical_of_boards

    hashes = [NOTHING]
    for places in of_one_shape(boards):
        free, starts, goals, width = stacked([boards[place] for place in places])
        hashes.append(canonical_of_boards(free, free.shape[1] // width, width, starts, goals))
    return np.unique(np.concatenate(hashes))


def holes_of(size: int, hole_ratio: float) -> int:
    """Number of holes of a square board."""
    return math.floor(hole_ratio * size * size + 0.5)


def quotas(n: int, weights: Sequence[float]) -> list[int]:
    """``n`` shared out in proportion to ``weights`` by largest remainder; ties go to the earlier one."""
    exact = [n * weight / sum(weights) for weight in weights]
    shares = [math.floor(x + 1e-9) for x in exact]
    for i in sorted(range(len(weights)), key=lambda i: shares[i] - exact[i])[: n - sum(shares)]:
        shares[i] += 1
    return shares


# --- what can be asked for --------------------------------------------------------------------------------------------


def infeasible(
    size: int,
    agents: int,
    hole_ratio: float,
    wait_ratio: float | None,
    layout: Layout = "scatter",
    config: EnvironmentConfig | None = None,
) -> str | None:
    """Why a cell of a config cannot be filled, as one line with the reachable range; None if nothing speaks against it.

    Args:
        wait_ratio: None asks for the natural one.
        config: tells the placement and what needing a WAIT means; None: as a config has them by default.
    """
    cells, holes = size * size, holes_of(size, hole_ratio)
    if cells < 2 * agents:
        return f"size {size}: {cells} cells have no room for {agents} agents, who need {2 * agents}"
    if cells - holes < 2 * agents:
        most = math.floor((cells - 2 * agents + 0.499) / cells * 100) / 100
        return (
            f"size {size}: hole ratio {hole_ratio:.2f} leaves {cells - holes} free cells, {agents} agents need {2 * agents} "
            f"(reachable: 0.00 to {most:.2f})"
        )
    if agents == 1 and wait_ratio:
        return f"size {size}: wait ratio {wait_ratio:.2f} cannot be reached: one agent alone never needs to WAIT (reachable: 0.00)"
    rates = _rates(size, agents, holes, layout, config.placement if config else "uniform")
    if rates is not None and (config is None or config.wait_definition == "makespan"):
        usable, waiting = rates
        if usable * DRAWS_PER_BOARD < 1:
            return f"size {size}: at hole ratio {hole_ratio:.2f} hardly any random board with {agents} agents can be solved"
        if wait_ratio is not None:
            asked = f"size {size}: wait ratio {wait_ratio:.2f} cannot be reached with {agents} agents at hole ratio {hole_ratio:.2f}"
            if wait_ratio > 0 and usable * waiting * DRAWS_PER_BOARD < 1:
                return f"{asked}: no board there needs a WAIT (reachable: 0.00)"
            if wait_ratio < 1 and usable * (1 - waiting) * DRAWS_PER_BOARD < 1:
                return f"{asked}: every board there needs a WAIT (reachable: 1.00)"
    return None


def undrawable(config: EnvironmentConfig, size: int) -> str | None:
    """Why one size of a config cannot be drawn, whichever of its layouts it is for; None if it can.

    Where no rates were measured (connected placement in a layout, waits by the sum of costs, teams and sizes beyond the paper's) a few
    boards are drawn to see.
    """
    cell, agents = config.sizes[size], config.agents
    holes, kinds = holes_of(size, cell.hole_ratio), (cell.wait_ratio < 1, cell.wait_ratio > 0)
    for layout in cell.layouts:
        if reason := infeasible(size, agents, cell.hole_ratio, cell.wait_ratio, layout, config):
            return reason
        if config.wait_definition != "makespan" or _rates(size, agents, holes, layout, config.placement) is None:
            stratum = Stratum(size, agents, holes, layout, config.placement, config.wait_definition)
            if reason := trial(stratum, tuple(TRIAL * kind for kind in kinds)):
                return f"size {size}: with hole ratio {cell.hole_ratio:.2f} and wait ratio {cell.wait_ratio:.2f} {reason}"
    return None


@lru_cache(maxsize=4096)
def trial(stratum: Stratum, wanted: tuple[int, int]) -> str | None:
    """Why so many boards without and with a necessary WAIT cannot be drawn; None: they were."""
    stream = Stream(stratum, stratum.key("trial", 0))
    try:
        stream.take(wanted)
    except GenerationError:
        return f"{stream.next:,} random {stratum} gave {stream.found} to use, too few to draw from"
    return None


def natural_wait_rate(config: EnvironmentConfig, size: int) -> float | None:
    """Share of a size's random solvable boards that need a WAIT, whatever wait ratio its config asks for.

    Measured and interpolated over the hole count, mixed as the layouts are; None where it was not measured.
    """
    cell = config.sizes[size]
    if config.agents == 1:
        return 0.0
    if config.wait_definition != "makespan":
        return None
    holes = holes_of(size, cell.hole_ratio)
    rates = [(part, _rates(size, config.agents, holes, layout, config.placement)) for layout, part in cell.layouts.items()]
    return None if any(rate is None for _, rate in rates) else sum(part * rate[1] for part, rate in rates if rate)


def _rates(size: int, agents: int, holes: int, layout: Layout, placement: Placement) -> tuple[float, float] | None:
    """(share of draws with a solution, share of those that need a WAIT), or None where it was not measured."""
    measured = _measured().get((size, agents, layout, placement))
    if measured is None or not measured[0][0] <= holes <= measured[-1][0]:
        return None
    counts, usable, waits = zip(*measured, strict=True)
    return float(np.interp(holes, counts, usable)), float(np.interp(holes, counts, waits))


@cache
def _measured() -> dict[tuple[int, int, str, str], list[tuple[int, float, float]]]:
    """(size, agents, layout, placement) -> ascending (holes, share of draws with a solution, share of those that need a WAIT)."""
    table: dict[tuple[int, int, str, str], list[tuple[int, float, float]]] = {}
    with RATES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            draws, usable, waiting = int(row["draws"]), int(row["usable"]), int(row["waiting"])
            found = (int(row["holes"]), usable / draws if draws else 0.0, waiting / usable if usable else 0.0)
            table.setdefault((int(row["size"]), int(row["agents"]), row["layout"], row["placement"]), []).append(found)
    return {cell: sorted(rows) for cell, rows in table.items()}


# --- streams ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """Boards that are drawn from one stream."""

    stratum: Stratum
    key: np.uint64
    wanted: tuple[int, ...]
    """As :meth:`Stream.take` takes it."""


def blocks_of(stratum: Stratum, purpose: str, seed: int, wanted: Sequence[int]) -> list[Block]:
    """``wanted`` boards without and with a necessary WAIT, cut into blocks."""
    parts = [1.0] * math.ceil(sum(wanted) / BLOCK)
    shares = zip(quotas(wanted[0], parts), reversed(quotas(wanted[1], parts)), strict=True)
    return [Block(stratum, stratum.key(purpose, seed, number), share) for number, share in enumerate(shares)]


def fill_block(block: Block, exclude: NDArray[np.uint64], distinct: bool, sum_of_costs: bool) -> list[Solved]:
    found = Stream(block.stratum, block.key, exclude, distinct).take(block.wanted)
    if not sum_of_costs:
        return found
    boards = [board for board, _ in found]
    return list(zip(boards, solve_all(boards, True, block.stratum.wait_definition), strict=True))


def fill_blocks(
    blocks: Sequence[Block],
    *,
    exclude: NDArray[np.uint64] = NOTHING,
    distinct: bool = False,
    sum_of_costs: bool = False,
    workers: int = 1,
    on_progress: Callable[[int, int], None] | None = None,
) -> list[Solved]:
    """The boards of all blocks, in the order of the blocks. Arguments as in :func:`generate` and :class:`Stream`."""
    fill = partial(fill_block, exclude=exclude, distinct=distinct, sum_of_costs=sum_of_costs)
    wanted = sum(sum(block.wanted) for block in blocks)
    found: list[Solved] = []

    def note(boards: list[Solved]) -> None:
        found.extend(boards)
        if on_progress is not None:
            on_progress(len(found), wanted)

    if workers == 1 or len(blocks) < 2:
        for block in blocks:
            note(fill(block))
    else:
        # spawned, not forked: the caller may be a server with threads
        with ProcessPoolExecutor(min(workers, len(blocks)), mp_context=get_context("spawn")) as pool:
            for boards in pool.map(fill, blocks):
                note(boards)
    return found


class Stream:
    """The draws of one stratum, one after the other.

    Args:
        exclude: canonical hashes of boards that must not come out, ascending.
        distinct: leave out rotations, mirror images and renumberings of boards that the stream has given already.
    """

    def __init__(self, stratum: Stratum, key: np.uint64, exclude: NDArray[np.uint64] = NOTHING, distinct: bool = False) -> None:
        self.stratum, self.key, self.exclude, self.distinct = stratum, key, exclude, distinct
        self.next = 0
        """The number of the draw after those that were looked at."""
        self.found = 0
        self.tried = 0
        """Boards given to the solver."""
        self.ready: deque[Drawn] = deque()
        self.drawn = 0
        """The number of the draw after those in ``ready``."""
        self.seen: set[int] = set()
        self.cells: list[Cell] = [divmod(cell, stratum.size) for cell in range(stratum.size**2)]

    def take(self, wanted: Sequence[int]) -> list[Solved]:
        """The next boards of the stream.

        Args:
            wanted: ``[boards]``, or ``[boards without, boards with a necessary WAIT]``. If the boards have to be distinct and REPEATS draws
                in a row gave nothing new, there are fewer.

        Raises:
            GenerationError: the boards that are wanted hardly exist.
        """
        left = list(wanted)
        repeats = 0
        out: list[Solved] = []
        rows = sum(left)
        while sum(left) and repeats < REPEATS:
            if not self.ready:
                self.next = self.drawn
                self._give_up(left)
                self._draw(min(ROWS, max(rows, self.found // 8)))  # what is drawn beyond serves the next call
                rows = sum(left) if len(left) == 1 else 2 * rows  # one of two buckets may be rare
                continue
            number, hashed, board, solution = self.ready.popleft()
            self.next = number + 1
            bucket = bool(solution.needs_wait) if len(left) == 2 else 0
            if self.distinct and hashed in self.seen:
                repeats += 1
            elif left[bucket]:
                left[bucket] -= 1
                self.seen.add(hashed)
                repeats = 0
                self.found += 1
                out.append((board, solution))
        return out

    def _give_up(self, left: Sequence[int]) -> None:
        """Raises GenerationError if the stream has drawn and tried too much for what it found."""
        if self.next > DRY_DRAWS + DRAWS_PER_BOARD * self.found or self.tried > DRY_TRIES + TRIES_PER_BOARD * self.found:
            wanted = f"{left[0]}" if len(left) == 1 else f"{left[0]} without and {left[1]} with a necessary WAIT"
            raise GenerationError(
                f"size {self.stratum.size}: {self.next} random {self.stratum} gave {self.found} to use; "
                f"still wanted: {wanted}, none of them on the exclusion list"
            )

    def _draw(self, rows: int) -> None:
        """Makes the next ``rows`` boards whose goals can be reached ready, as far as they are solved and not excluded."""
        from frozenlab.lake.draw import drawing

        kind = self.stratum
        free = np.empty((rows, kind.size**2), np.uint8)
        starts, goals = np.empty((rows, kind.agents), np.int64), np.empty((rows, kind.agents), np.int64)
        numbers = np.empty(rows, np.int64)
        layout, placement = LAYOUTS.index(kind.layout), PLACEMENTS.index(kind.placement)
        n, self.drawn = drawing.draw_boards(
            self.key, self.drawn, self.drawn + DRY_DRAWS, layout, placement, kind.holes, kind.size, free, starts, goals, numbers
        )
        self.tried += n
        group, numbers, hashes = Boards(free[:n], starts[:n], goals[:n], kind.size), numbers[:n], np.zeros(n, np.uint64)
        if self.distinct or len(self.exclude):
            hashes = drawing.canonical_of_boards(group.free, kind.size, kind.size, group.starts, group.goals)
            kept = ~np.isin(hashes, self.exclude)
            group, numbers, hashes = group.rows(kept), numbers[kept], hashes[kept]
        if len(numbers):
            solutions = solve_group(group, BUDGET_BULK, wait_definition=kind.wait_definition)
            drawn = zip(numbers.tolist(), hashes.tolist(), map(self._board, *group[:3]), solutions, strict=True)
            self.ready.extend(draw for draw in drawn if draw[3].status == "solved" and draw[3].needs_wait is not None)

    def _board(self, free: NDArray[np.uint8], starts: NDArray[np.int64], goals: NDArray[np.int64]) -> Board:
        size, cells = self.stratum.size, self.cells
        letters = free.tobytes().translate(_LETTERS).decode("ascii")
        agents = tuple([Agent(cells[start], cells[goal]) for start, goal in zip(starts.tolist(), goals.tolist(), strict=True)])
        return Board.known_good(tuple([letters[at : at + size] for at in range(0, size * size, size)]), agents)


Solved = tuple[Board, Solution]
Drawn = tuple[int, int, Board, Solution]
"""The number of a draw, its canonical hash (0 where nobody needs it), and what was drawn."""

_LETTERS = b"HF" + bytes(254)
"""Byte translation table: 0 -> H, 1 -> F."""


def name_instance(number: int, solved: Solved) -> Instance:
    """A solved board as an instance, like ``2ag_6x6_000123``."""
    board, solution = solved
    return Instance(f"{board.num_agents}ag_{board.height}x{board.width}_{number:06d}", board, solution)
