"""Drawing boards from an environment config, and what a config can and cannot ask for.

*Placement.* The holes of a board are an exact count, floor(ratio * cells + 0.5), uniform over the grid; starts and goals are then uniform
over the frozen cells. Draws without a solution are thrown away, so a board is uniform among all solvable boards of its cell. (To place
agents inside one connected component would be quicker on dense grids, but makes boards with isolated pockets too frequent.)

*Quotas.* How many boards of each size need a WAIT and how many do not is fixed before anything is drawn, and each bucket is filled from the
same stream; so the realised ratios are the asked ones up to rounding, and waiting does not tell the hole ratio.

*Reproducible.* Draw number d of a cell depends on the seed, the cell and d only (SplitMix64 as a counter-based stream). The search budget
is counted in nodes; the few draws that it leaves undecided are thrown away, the same ones everywhere.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel, ConfigDict

from core.lake.board import Agent, Board
from core.lake.config import EnvironmentConfig
from core.lake.instance import Instance
from core.lake.rules import judge
from core.lake.solver import Solution, with_sum_of_costs

if TYPE_CHECKING:
    from core.lake.drawing import Rows

RATES = Path(__file__).parents[2] / "assets" / "natural_rates.csv"
"""Per size, agents and hole count: draws, those with a solution, and those of them that need a WAIT. Measured anew by
benchmarks/natural_rates.py."""
ROWS = 512
"""Boards drawn in one call of the kernel."""
DRY_DRAWS, DRAWS_PER_BOARD = 100_000, 20_000
"""A cell gives up once it took more draws than DRY_DRAWS plus DRAWS_PER_BOARD for each board found."""


class GenerationError(ValueError):
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


def generate(
    config: EnvironmentConfig, n: int, seed: int, *, sum_of_costs: bool = False, exclude: frozenset[str] = frozenset()
) -> list[Instance]:
    """Draws ``n`` solved boards from a config, mixed so that any part of the list looks like the whole.

    Sizes share the boards by largest remainder, and within a size the boards with and without a necessary WAIT do.

    Args:
        sum_of_costs: also find the optimal sums of costs (slow on dense boards with many agents).
        exclude: canonical hashes of boards that must not come out, such as those of a held-out suite.

    Raises:
        GenerationError: a size cannot be filled.
    """
    sizes = list(config.sizes)
    excluded = hash_array(exclude)
    memo = new_memo()
    boards: list[tuple[Board, Solution]] = []
    for size, quota in zip(sizes, quotas(n, [config.sizes[size].share for size in sizes]), strict=True):
        cell = config.sizes[size]
        smooth, waiting = quotas(quota, [1 - cell.wait_ratio, cell.wait_ratio])
        reason = infeasible(size, config.agents, cell.hole_ratio, cell.wait_ratio) if quota else None
        if reason:
            raise GenerationError(reason)
        stream = Stream("config", seed, size, config.agents, holes_of(size, cell.hole_ratio), excluded, memo)
        boards += stream.take(smooth, waiting)
    order = np.argsort([_key(seed, "order", i) for i in range(len(boards))], kind="stable")
    return [name_instance(i, boards[place], sum_of_costs=sum_of_costs) for i, place in enumerate(order)]


def random_instances(
    sizes: Sequence[int],
    teams: Sequence[int],
    hole_ratios: Sequence[float],
    n: int,
    seed: int,
    *,
    exclude: frozenset[str] = frozenset(),
) -> Iterator[Instance]:
    """Streams ``n`` solved boards, evenly over all (size, team, hole ratio) cells that can exist, with their natural share of WAITs.

    The first m boards are the same for every ``n`` >= m, and any stretch of a few thousand has every cell in it.

    Raises:
        GenerationError: no cell can exist.
    """
    excluded, memo = hash_array(exclude), new_memo()
    streams = [
        Stream("any", seed, size, team, holes_of(size, ratio), excluded, memo)
        for size, team, ratio in product(sizes, teams, hole_ratios)
        if infeasible(size, team, ratio, None) is None
    ]
    if not streams:
        raise GenerationError(f"no size of {list(sizes)} has room for any team of {list(teams)} at the hole ratios {list(hole_ratios)}")
    number = 0
    while number < n:
        block = [pair for stream in streams for pair in stream.take_any(16)]
        for place in np.argsort([_key(seed, "order", number + i) for i in range(len(block))], kind="stable")[: n - number]:
            yield name_instance(number, block[place], sum_of_costs=False)
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
    from core.lake.drawing import canonical
    from core.lake.solver import arrays

    free, starts, goals = arrays(board)
    return f"{canonical(free, board.height, board.width, starts, goals):016x}"


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


def infeasible(size: int, agents: int, hole_ratio: float, wait_ratio: float | None) -> str | None:
    """Why a cell of a config cannot be filled, as one line with the reachable range; None if nothing speaks against it.

    Args:
        wait_ratio: None asks for the natural one.
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
    rates = _rates(size, agents, holes)
    if rates is not None:
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


def natural_wait_rate(size: int, agents: int, hole_ratio: float) -> float | None:
    """Share of random solvable boards that need a WAIT, measured and interpolated over the hole count; None where it was not measured."""
    if agents == 1:
        return 0.0
    rates = _rates(size, agents, holes_of(size, hole_ratio))
    return None if rates is None else rates[1]


def _rates(size: int, agents: int, holes: int) -> tuple[float, float] | None:
    """(share of draws with a solution, share of those that need a WAIT), or None outside the measured hole counts."""
    measured = _measured().get((size, agents))
    if measured is None or not measured[0][0] <= holes <= measured[-1][0]:
        return None
    counts, usable, waits = zip(*measured, strict=True)
    return float(np.interp(holes, counts, usable)), float(np.interp(holes, counts, waits))


@cache
def _measured() -> dict[tuple[int, int], list[tuple[int, float, float]]]:
    """(size, agents) -> ascending (holes, share of draws with a solution, share of those that need a WAIT)."""
    table: dict[tuple[int, int], list[tuple[int, float, float]]] = {}
    with RATES.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            draws, usable, waiting = int(row["draws"]), int(row["usable"]), int(row["waiting"])
            found = (int(row["holes"]), usable / draws if draws else 0.0, waiting / usable if usable else 0.0)
            table.setdefault((int(row["size"]), int(row["agents"])), []).append(found)
    return {cell: sorted(rows) for cell, rows in table.items()}


# --- streams ----------------------------------------------------------------------------------------------------------


class Stream:
    """The draws of one cell, one after the other. Streams of another purpose or seed share nothing."""

    def __init__(self, purpose: str, seed: int, size: int, agents: int, holes: int, excluded: np.ndarray, memo: object) -> None:
        self.size, self.agents, self.holes = size, agents, holes
        self.key = np.uint64(_key(purpose, seed, size, agents, holes))
        self.excluded, self.memo = excluded, memo
        self.next = 0
        self.found = 0

    def take(self, smooth: int, waiting: int) -> list[tuple[Board, Solution]]:
        """The next boards of the stream until there are so many without and with a necessary WAIT."""
        wanted = np.array([smooth, waiting], np.int64)
        out: list[tuple[Board, Solution]] = []
        while len(out) < smooth + waiting:
            out += self._fill(wanted, min(ROWS, smooth + waiting - len(out)))
        return out

    def take_any(self, n: int) -> list[tuple[Board, Solution]]:
        """The next ``n`` boards of the stream."""
        out: list[tuple[Board, Solution]] = []
        while len(out) < n:
            out += self._fill(np.array([n, n], np.int64), min(ROWS, n - len(out)))
        return out

    def _fill(self, wanted: np.ndarray, rows: int) -> list[tuple[Board, Solution]]:
        from core.lake import drawing
        from core.lake.kernels import BUDGET_BULK

        room = drawing.new_rows(rows, self.size, self.agents)
        tally = np.zeros(6, np.int64)
        last = self.next + DRAWS_PER_BOARD
        kept, self.next = drawing.fill(
            self.size, self.holes, self.key, self.next, last, wanted, self.excluded, BUDGET_BULK, self.memo, room, tally
        )
        self.found += kept
        if self.next > DRY_DRAWS + DRAWS_PER_BOARD * self.found:
            raise GenerationError(
                f"size {self.size}: {self.next} random boards with {self.agents} agents and {self.holes} holes gave {self.found} to use; "
                f"still wanted: {wanted[0]} without and {wanted[1]} with a necessary WAIT, none of them on the exclusion list"
            )
        return [self._read(room, row) for row in range(kept)]

    def _read(self, room: Rows, row: int) -> tuple[Board, Solution]:
        size = self.size
        letters = room.free[row].tobytes().translate(_LETTERS).decode("ascii")
        cells = [divmod(int(cell), size) for cell in (*room.starts[row], *room.goals[row])]
        agents = tuple(Agent(start, goal) for start, goal in zip(cells[: self.agents], cells[self.agents :], strict=True))
        board = Board(tuple(letters[r * size : (r + 1) * size] for r in range(size)), agents)
        plan = tuple(room.moves[row, i, :length].tobytes().decode("ascii") for i, length in enumerate(room.lengths[row]))
        makespan = int(room.makespans[row])
        verdict = judge(board, plan)
        assert verdict.valid and verdict.makespan == makespan, f"the solver's plan is {verdict}\n{board}\n{plan}"
        return board, Solution("solved", makespan, None, bool(room.needs_wait[row]), plan)


_LETTERS = b"HF" + bytes(254)
"""Byte translation table: 0 -> H, 1 -> F."""


def name_instance(number: int, solved: tuple[Board, Solution], *, sum_of_costs: bool) -> Instance:
    """A solved board as an instance, like ``2ag_6x6_000123``."""
    board, solution = solved
    if sum_of_costs:
        solution = with_sum_of_costs(board, solution)
    return Instance(f"{board.team}ag_{board.height}x{board.width}_{number:06d}", board, solution)


def hash_array(hashes: Iterable[str]) -> np.ndarray:
    """Canonical hashes as the kernel takes them, uint64 and ascending."""
    return np.array(sorted(int(text, 16) for text in hashes), np.uint64)


def new_memo() -> object:
    """The solver's workspace for drawing in bulk; streams that are read in turn share one."""
    from core.lake import kernels

    return kernels.new_memo(18)


def _key(*parts: int | str) -> int:
    """64 random-looking bits that depend on the parts only."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=8).digest(), "little")
