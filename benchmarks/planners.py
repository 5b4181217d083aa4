"""Planners side by side: success within a budget, and sum of costs over the lower bound, on boards of the shapes that public maps have.

    python -m benchmarks.planners [--seconds 10] [--agents 50,100,200] [--boards 3] [--planners pibt,lacam,lns] [--side 32]

The boards are made by the generator's own layouts. Budgets and times are processor seconds, so that other work on the machine changes
nothing; compiled code is warm.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from statistics import mean

from frozenlab.base import seeds
from frozenlab.lake.board import FROZEN, Agent, Board, Cell
from frozenlab.lake.draw.stream import Stratum, Stream
from frozenlab.lake.planners import PLANNERS, Found
from frozenlab.lake.planners.planner import Clock, prepare

LAYOUTS = ("scatter", "rooms", "maze", "warehouse", "bottleneck", "open")


def ice_of(layout: str, side: int, number: int) -> tuple[str, ...]:
    """The rows of a board of a layout."""
    stratum = Stratum(side, 1, side * side // 10, layout)
    return Stream(stratum, stratum.key("benchmark", number)).take([1])[0][0].rows


def board_of(layout: str, side: int, agents: int, number: int) -> Board | None:
    """A board whose agents are anywhere on the largest piece of free ice; None if they have no room there."""
    rows = ice_of(layout, side, number)
    free = {(r, c) for r, row in enumerate(rows) for c, letter in enumerate(row) if letter == FROZEN}
    largest: list[Cell] = []
    while free:
        piece = [free.pop()]
        for r, c in piece:
            near = {(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)} & free
            free -= near
            piece += sorted(near)
        largest = max(largest, piece, key=len)
    if len(largest) < agents:
        return None
    draws, cells = seeds.rng(0, "benchmark/planners", number, agents), sorted(largest)
    starts, goals = draws.permutation(len(cells))[:agents], draws.permutation(len(cells))[:agents]
    return Board(rows, tuple(Agent(cells[a], cells[b]) for a, b in zip(starts, goals, strict=True)))


def line(name: str, found: Sequence[Found]) -> str:
    """Of how many boards there is a plan, and the means over those."""
    planned = [one for one in found if one.plan is not None]
    proven = sum(one.proven for one in found)
    ratio = f"{mean(one.ratio or 1 for one in planned):.3f}" if planned else "-"
    took = mean(one.seconds for one in found)
    return f"  {name:<12} {len(planned)}/{len(found)} planned, {proven} proven, cost / bound {ratio}, {took:.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--agents", default="50,100,200")
    parser.add_argument("--boards", type=int, default=3)
    parser.add_argument("--planners", default=",".join(PLANNERS))
    parser.add_argument("--side", type=int, default=32)
    options = parser.parse_args()
    Clock.now = staticmethod(time.process_time)
    names = options.planners.split(",")
    for name in names:
        prepare(type(PLANNERS[name]))
    for layout in LAYOUTS:
        for agents in map(int, options.agents.split(",")):
            boards = [board_of(layout, options.side, agents, number) for number in range(options.boards)]
            fitting = [board for board in boards if board is not None]
            print(f"{layout}, {options.side}x{options.side}, {agents} agents, {len(fitting)} boards", flush=True)
            for name in names if fitting else ():
                print(line(name, [PLANNERS[name].plan(board, options.seconds) for board in fitting]), flush=True)


if __name__ == "__main__":
    main()
