"""Measures how often random boards have a solution and how often those need a WAIT, and writes assets/natural_rates.csv.

    python -m benchmarks.natural_rates

Minutes on one core. Each cell draws until it has BOARDS boards with a solution, or DRAWS draws. Draws that the search budget leaves
undecided (at most a few per cent, in the densest cells with 5 agents) count as draws only.
"""

from __future__ import annotations

import csv
from itertools import product

import numpy as np

from core.lake.config import PAPER_SIZES
from core.lake.drawing import NOT_DECIDED, fill, new_rows
from core.lake.generator import RATES, holes_of
from core.lake.kernels import BUDGET_BULK, new_memo

BOARDS, DRAWS = 2_000, 2_000_000
HOLE_RATIOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
KEY = np.uint64(260_617_682)


def main() -> None:
    memo = new_memo(18)
    nothing = np.empty(0, np.uint64)
    measured = []
    for size, agents in product(PAPER_SIZES, range(2, 6)):
        for holes in sorted({holes_of(size, ratio) for ratio in HOLE_RATIOS}):
            if size * size - holes < 2 * agents:
                continue
            rows, tally = new_rows(BOARDS, size, agents), np.zeros(6, np.int64)
            wanted = np.array([BOARDS, BOARDS], np.int64)
            kept, draws = fill(size, holes, KEY, 0, DRAWS, wanted, nothing, BUDGET_BULK, memo, rows, tally)
            waiting = int(rows.needs_wait[:kept].sum())
            measured.append((size, agents, holes, draws, kept, waiting))
            print(
                f"{size}x{size} {agents} agents {holes} holes: {kept} of {draws} usable, {tally[NOT_DECIDED]} undecided, {waiting} wait",
                flush=True,
            )
    with RATES.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("size", "agents", "holes", "draws", "usable", "waiting"))
        table.writerows(measured)


if __name__ == "__main__":
    main()
