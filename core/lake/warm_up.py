"""Compiles the lake's kernels ahead of time, so that nobody waits for it unexplained: ``python -m core.lake.warm_up``.

The compiled code is kept (see compiled.py), so this takes up to a minute once and next to nothing afterwards.
"""

from __future__ import annotations

import sys
import threading
import time

from core.lake.board import Board
from core.lake.checking import check
from core.lake.config import EnvironmentConfig
from core.lake.generator import generate
from core.lake.solver import solve

MESSAGE = "Preparing the solver (compiled once on each machine, up to a minute) ..."
BOARD = Board.from_text("S g F G s\nH H F H H")
"""Someone has to wait: all kernels have something to do."""


def warm_up() -> float:
    """Runs the compiled kernels once; returns the seconds it took."""
    began = time.perf_counter()
    solve(BOARD, wait_definition="sum_of_costs")
    generate(EnvironmentConfig.uniform((3,), agents=2), 2, seed=0)
    check([BOARD], [""])
    return time.perf_counter() - began


def load_solver(patience: float = 2.0) -> None:
    """Loads the solver; says on stderr what is going on if that takes longer than ``patience`` seconds, because it has to be compiled."""
    notice = threading.Timer(patience, lambda: print(MESSAGE, file=sys.stderr, flush=True))
    notice.start()
    try:
        solve(BOARD)
    finally:
        notice.cancel()


if __name__ == "__main__":
    print(MESSAGE, flush=True)
    print(f"The solver is ready after {warm_up():.1f} s.")
