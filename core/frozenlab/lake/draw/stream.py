"""Strata, the kinds of boards that are drawn apart, and their streams: draws in blocks that any number of processes fill."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from frozenlab.base.cells import quotas
from frozenlab.base.errors import GenerationError
from frozenlab.base.seeds import mixed
from frozenlab.lake.board import Agent, Board, Cell
from frozenlab.lake.config import PLACEMENTS, EnvironmentConfig, Placement, WaitDefinition
from frozenlab.lake.config_cell import LAYOUTS, Layout
from frozenlab.lake.draw.hashes import NOTHING
from frozenlab.lake.kernels.limits import BUDGET_BULK
from frozenlab.lake.solvers.solver import Boards, Solution, solve_all, solve_group

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
Solved = tuple[Board, Solution]
Drawn = tuple[int, int, Board, Solution]
"""The number of a draw, its canonical hash (0 where it is not needed), and what was drawn."""
_LETTERS = np.frombuffer(b"H" + b"F" * 255, np.uint8)
"""From the exits of a cell of a scatter board to its letter: a hole has none."""


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
) -> list[list[Solved]]:
    """The boards of each block. Arguments as in :func:`generate` and :class:`Stream`."""
    fill = partial(fill_block, exclude=exclude, distinct=distinct, sum_of_costs=sum_of_costs)
    wanted = sum(sum(block.wanted) for block in blocks)
    found: list[list[Solved]] = []

    def note(boards: list[Solved]) -> None:
        found.append(boards)
        if on_progress is not None:
            on_progress(sum(map(len, found)), wanted)

    if workers == 1 or len(blocks) < 2:
        for block in blocks:
            note(fill(block))
    else:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

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
        exits = np.empty((rows, kind.size**2), np.uint8)
        starts, goals = np.empty((rows, kind.agents), np.int64), np.empty((rows, kind.agents), np.int64)
        numbers = np.empty(rows, np.int64)
        span, placement = (self.key, self.drawn, self.drawn + DRY_DRAWS), PLACEMENTS.index(kind.placement)
        if kind.layout == "scatter":
            n, self.drawn = drawing.draw_boards(*span, placement, kind.holes, kind.size, exits, starts, goals, numbers)
            ice = _LETTERS[exits[:n]]
        else:
            from frozenlab.lake.draw.layouts import draw_boards_of_layout

            layout, ice = LAYOUTS.index(kind.layout), np.empty_like(exits)
            n, self.drawn = draw_boards_of_layout(*span, layout, placement, kind.holes, kind.size, exits, ice, starts, goals, numbers)
            ice = ice[:n]
        self.tried += n
        group, numbers, hashes = Boards(exits[:n], starts[:n], goals[:n], kind.size), numbers[:n], np.zeros(n, np.uint64)
        if self.distinct or len(self.exclude):
            hashes = drawing.canonical_of_boards(group.exits, kind.size, kind.size, group.starts, group.goals)
            kept = ~np.isin(hashes, self.exclude)
            group, ice, numbers, hashes = group.rows(kept), ice[kept], numbers[kept], hashes[kept]
        if len(numbers):
            solutions = solve_group(group, BUDGET_BULK, wait_definition=kind.wait_definition)
            drawn = zip(numbers.tolist(), hashes.tolist(), map(self._board, ice, group.starts, group.goals), solutions, strict=True)
            self.ready.extend(draw for draw in drawn if draw[3].status == "solved" and draw[3].needs_wait is not None)

    def _board(self, ice: NDArray[np.uint8], starts: NDArray[np.int64], goals: NDArray[np.int64]) -> Board:
        size, cells = self.stratum.size, self.cells
        letters = ice.tobytes().decode("ascii")
        agents = tuple([Agent(cells[start], cells[goal]) for start, goal in zip(starts.tolist(), goals.tolist(), strict=True)])
        return Board.known_good(tuple([letters[at : at + size] for at in range(0, size * size, size)]), agents)
