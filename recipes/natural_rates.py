"""Measures how often random boards have a solution and how often those need a WAIT, and writes core/frozenlab/lake/data/natural_rates.csv.

    python -m recipes.natural_rates [LAYOUT ...]

Minutes on one core. With names of layouts, only those are measured, and the other rows of the file stay. Every layout with uniform
placement, and scatter with connected placement. Draws that the search budget leaves undecided (at most a few
per cent, in the densest cells with 5 agents) count as draws only.
"""

from __future__ import annotations

import argparse
import csv
from itertools import product

from frozenlab.base.errors import GenerationError
from frozenlab.lake.config import PAPER_SIZES, Placement
from frozenlab.lake.config_cell import LAYOUTS, Layout
from frozenlab.lake.draw.feasible import RATES
from frozenlab.lake.draw.stream import Solved, Stratum, Stream, holes_of

BOARDS, TRIES = 600, 1_500
"""A cell is measured on so many boards, or so many that were given to the solver where those with a solution are rare."""
HOLE_RATIOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
KINDS: list[tuple[Layout, Placement]] = [*((layout, "uniform") for layout in LAYOUTS), ("scatter", "connected")]
SEED = 260_617_682


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("layouts", nargs="*", metavar="LAYOUT", help="only these, uniform placement (default: all)")
    layouts = parser.parse_args().layouts
    kinds = [(layout, placement) for layout, placement in KINDS if not layouts or (layout in layouts and placement == "uniform")]
    with RATES.open(encoding="utf-8", newline="") as file:
        measured: list[list[str]] = [row for row in list(csv.reader(file))[1:] if (row[3], row[4]) not in kinds]
    for size, agents in product(PAPER_SIZES, range(2, 6)):
        for holes in sorted({holes_of(size, ratio) for ratio in HOLE_RATIOS}):
            if size * size - holes >= 2 * agents:
                for layout, placement in kinds:
                    row = measure(Stratum(size, agents, holes, layout, placement))
                    measured.append([*map(str, (size, agents, holes, layout, placement, *row))])
                    print(*measured[-1], flush=True)
    with RATES.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("size", "agents", "holes", "layout", "placement", "draws", "usable", "waiting"))
        order = [(str(layout), str(placement)) for layout, placement in KINDS]
        measured.sort(key=lambda row: (*map(int, row[:3]), order.index((row[3], row[4]))))
        table.writerows(measured)


def measure(stratum: Stratum) -> tuple[int, int, int]:
    """(draws, boards with a solution, those of them that need a WAIT)."""
    stream = Stream(stratum, stratum.key("rates", SEED))
    boards: list[Solved] = []
    try:
        while len(boards) < BOARDS and stream.tried < TRIES:
            boards += stream.take([20])
    except GenerationError:  # hardly any board has a solution
        pass
    return stream.next, stream.found, sum(bool(solution.needs_wait) for _, solution in boards)


if __name__ == "__main__":
    main()
