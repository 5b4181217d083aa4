"""Planners side by side: success within a budget, and sum of costs over the lower bound, on boards of the shapes that public maps have.

    python -m benchmarks.planners [--seconds 10] [--agents 50,200,1000] [--boards 3] [--kinds room-32-32-4] [--planners pibt,lacam,lns]
    python -m benchmarks.planners --peers FOLDER ... --planners pibt,pypibt,lacam,pylacam,lacam3,ecbs,"w9 CBS",eecbs

The boards are made by the generator's own layouts, with starts that are others' goals. Budgets and times are CPU seconds, so that other
work on the machine changes little; compiled code is warm. A bound is the highest that any of the planners has proven of the board. Peers
are taken if they are installed, or lie in the folders of ``--peers``: the packages ``pypibt``, ``pycam`` (pylacam) and ``w9_pathfinding``,
the programs ``lacam3`` and ``eecbs``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import NamedTuple

from benchmarks.planner_peers import Answer, found
from frozenlab.base import seeds
from frozenlab.lake.board import FROZEN, HOLE, Agent, Board, Cell
from frozenlab.lake.config_cell import Layout
from frozenlab.lake.draw.stream import Stratum, Stream, holes_of
from frozenlab.lake.planners import PLANNERS, Found
from frozenlab.lake.planners.planner import Clock, prepare
from frozenlab.lake.rules import judge


@dataclass(frozen=True)
class Kind:
    """Boards in the shape of a public map: tiles of a layout of ours, each cell of them ``scale`` cells wide and high."""

    layout: Layout
    size: int
    """Cells of a side of a tile, before scaling."""
    holes: float
    down: int = 1
    across: int = 1
    scale: int = 1

    def ice(self, number: int) -> tuple[str, ...]:
        """The rows of a board without agents."""
        stratum = Stratum(self.size, 1, holes_of(self.size, self.holes), self.layout)
        tiles = [board.rows for board, _ in Stream(stratum, stratum.key("benchmark", number)).take([self.down * self.across])]
        rows = []
        for band in range(self.down):
            for lines in zip(*tiles[band * self.across : (band + 1) * self.across], strict=True):
                row = "".join(letter * self.scale for letter in "".join(lines))
                rows += [row] * self.scale
        return tuple("".join(letter if letter == HOLE else FROZEN for letter in row) for row in rows)


KINDS = {
    "empty-32-32": Kind("scatter", 32, 0.0),
    "random-32-32-10": Kind("scatter", 32, 0.1),
    "random-32-32-20": Kind("scatter", 32, 0.2),
    "room-32-32-4": Kind("rooms", 32, 0.33),
    "maze-32-32-2": Kind("maze", 16, 0.4, scale=2),
    "random-64-64-20": Kind("scatter", 32, 0.2, down=2, across=2),
    "warehouse-160-64": Kind("warehouse", 32, 0.45, down=2, across=5),
    "city-256-256": Kind("scatter", 32, 0.28, down=2, across=2, scale=4),
}
"""By the public map whose shape they have; the last two are like warehouse-10-20-10-2-1 and Paris_1_256."""


def board_of(kind: Kind, agents: int, number: int) -> Board | None:
    """A board whose agents are anywhere on the largest piece of free ice; None if they would take more than half of it."""
    rows = kind.ice(number)
    free = {(r, c) for r, row in enumerate(rows) for c, letter in enumerate(row) if letter == FROZEN}
    largest: list[Cell] = []
    while free:
        piece = [free.pop()]
        for r, c in piece:
            near = {(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)} & free
            free -= near
            piece += sorted(near)
        largest = max(largest, piece, key=len)
    if len(largest) < 2 * agents:
        return None
    draws, cells = seeds.rng(0, "benchmark/planners", number, agents), sorted(largest)
    starts, goals = draws.permutation(len(cells))[:agents], draws.permutation(len(cells))[:agents]
    return Board(rows, tuple(Agent(cells[a], cells[b]) for a, b in zip(starts, goals, strict=True)))


class Result(NamedTuple):
    """What a planner, ours or a peer, makes of a board."""

    cost: int | None
    bound: int
    proven: bool
    seconds: float
    """CPU seconds up to its first plan, or to its end without one."""


def ours(name: str, board: Board, seconds: float) -> Result:
    """The result of one of our planners."""
    firsts: list[Found] = []
    best = PLANNERS[name].plan(board, seconds, report=lambda one: firsts.append(one) if one.plan is not None else None)
    return Result(best.cost, best.lower_bound, best.proven, firsts[0].seconds if firsts else best.seconds)


def judged(answer: Answer, board: Board) -> Result:
    """The result of a peer. Raises AssertionError if its plan is not valid."""
    if answer.plan is None:
        return Result(None, 0, False, answer.seconds)
    verdict = judge(board, answer.plan)
    assert verdict.fault is None, f"{verdict.fault} at step {verdict.step}, agents {verdict.agents}"
    return Result(verdict.sum_of_costs, 0, False, answer.seconds)


def line(name: str, results: Sequence[Result], bounds: Sequence[int]) -> str:
    """Of how many boards there is a plan, the mean of its cost over the bound, and the median time to the first."""
    ratios = [one.cost / bound for one, bound in zip(results, bounds, strict=True) if one.cost is not None]
    cost = f"{mean(ratios):.3f}" if ratios else "-"
    first = f"{median(one.seconds for one in results if one.cost is not None):.3f} s" if ratios else "-"
    return f"| {name} | {len(ratios)}/{len(results)} | {sum(one.proven for one in results)} | {cost} | {first} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--agents", default="50,200")
    parser.add_argument("--boards", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--planners", help="ours and peers; all by default")
    parser.add_argument("--peers", nargs="+", default=[], metavar="FOLDER")
    options = parser.parse_args()
    Clock.now = staticmethod(time.process_time)
    peers = found(options.peers)
    known: dict[str, Callable[[Board, float], Result]] = {
        **{name: lambda board, seconds, name=name: ours(name, board, seconds) for name in PLANNERS},  # type: ignore[misc]
        **{name: lambda board, seconds, call=call: judged(call(board, seconds), board) for name, call in peers.items()},  # type: ignore[misc]
    }
    names = options.planners.split(",") if options.planners else list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"there is no planner {unknown[0]!r}; there are {', '.join(known)}")
    if not (own := PLANNERS.keys() & set(names)):
        parser.error("name one of ours too: the bound is from it")
    for name in own:
        prepare(type(PLANNERS[name]))
    print("| planner | planned | proven | cost / bound | first plan after |\n|---|---|---|---|---|", flush=True)
    for kind in options.kinds.split(","):
        for agents in map(int, options.agents.split(",")):
            boards = [board for number in range(options.boards) if (board := board_of(KINDS[kind], agents, number))]
            if not boards:
                continue
            print(f"| **{kind}, {agents} agents** | | | | |", flush=True)
            results = {name: [known[name](board, options.seconds) for board in boards] for name in names}
            bounds = [max(1, *(results[name][n].bound for name in names)) for n in range(len(boards))]
            for name in names:
                print(line(name, results[name], bounds), flush=True)


if __name__ == "__main__":
    main()
