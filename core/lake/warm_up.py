"""Compiles the solver ahead of time, so that nobody waits for it unexplained: ``python -m core.lake.warm_up``.

Numba keeps the compiled code beside the sources (or in ``NUMBA_CACHE_DIR``), so this takes seconds once and next to nothing afterwards.
"""

from __future__ import annotations

import time

from core.lake.board import Board
from core.lake.config import EnvironmentConfig
from core.lake.generator import generate
from core.lake.solver import solve


def warm_up() -> float:
    """Runs every compiled kernel once; returns the seconds it took."""
    began = time.perf_counter()
    solve(Board.from_text("S F G\nF H F\ns F g"), sum_of_costs=True)
    generate(EnvironmentConfig.uniform((3,), agents=2), 2, seed=0)
    return time.perf_counter() - began


if __name__ == "__main__":
    print("Preparing the solver (compiled once on each machine) ...", flush=True)
    print(f"The solver is ready after {warm_up():.1f} s.")
