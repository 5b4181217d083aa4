"""Compiles the lake's kernels ahead of time, so that no wait is unexplained: ``python -m frozenlab.lake.kernels.warm_up [GROUP ...]``.

The compiled code is kept (see cache.py), so this takes up to a minute once and next to nothing afterwards. A server starts it in the
background and goes on: only a page that needs a kernel waits for it, and says how far it is.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable

import numpy as np

from frozenlab.lake.board import Agent, Board
from frozenlab.lake.config import EnvironmentConfig
from frozenlab.lake.draw.generator import generate
from frozenlab.lake.draw.hashes import canonical_hash
from frozenlab.lake.draw.stream import Stratum, Stream
from frozenlab.lake.kernels.cache import GROUPS, Group, note
from frozenlab.lake.planners import PLANNERS
from frozenlab.lake.planners.planner import prepare
from frozenlab.lake.solvers.solver import MAKESPAN, Plans, ensure_valid, solve, stacked

MESSAGE = "Preparing the solver (compiled once on each machine, up to a minute) ..."
BOARD = Board.from_text("S g F G s\nH H F H H")
"""Someone has to wait: the searches have something to do."""
LARGE = Board(("F" * 32,) * 32, tuple(Agent((row, 0), (row, 31)) for row in range(6)))
"""Beyond the reach of an exact search."""
ROOMS = Stratum(5, 2, 6, "rooms")
"""Boards of a layout that has a recipe."""
NO_PLANS = Plans(np.zeros((1, BOARD.num_agents, 1), np.uint8), np.zeros((1, BOARD.num_agents), np.int64))
NICENESS = 10
"""Of what a newcomer does not wait for first."""
LOOK = 0.3
"""Seconds between two notes of how far it is."""
STEPS: dict[Group, Callable[[], object]] = {
    "solver": lambda: solve(BOARD),
    "judge": lambda: ensure_valid(stacked([BOARD]), NO_PLANS, np.zeros(1, np.bool_), MAKESPAN, np.zeros(1, np.int64)),
    "boards": lambda: (canonical_hash(BOARD), generate(EnvironmentConfig.uniform((3,), agents=2), 2, seed=0)),
    "costs": lambda: solve(BOARD, wait_definition="sum_of_costs"),
    "large": lambda: solve(LARGE),
    "layouts": lambda: Stream(ROOMS, ROOMS.key("warm-up", 0)).take([1]),
    "planners": lambda: [prepare(type(planner)) for planner in PLANNERS.values()],
}
"""What makes the kernels of each group run."""


def warm_up(*groups: Group) -> float:
    """Runs the compiled kernels of ``groups`` (default: all) once, and notes how far it is; returns the seconds it took."""
    from frozenlab.lake.kernels import compiled

    begun = time.perf_counter()
    for group in groups or GROUPS:
        began, before, over = time.time(), ready(compiled.KERNELS), threading.Event()

        def tell(group: Group = group, began: float = began, before: int = before, over: threading.Event = over) -> None:
            while not over.wait(LOOK):
                note(group, began, ready(compiled.KERNELS) - before, len(compiled.KERNELS) - before)

        note(group, began, 0, 0)
        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        STEPS[group]()
        over.set()
        teller.join()
        known = ready(compiled.KERNELS) - before
        note(group, began, known, known, done=True)
    return time.perf_counter() - begun


def ready(kernels: list[object]) -> int:
    """How many of the kernels are compiled."""
    return sum(bool(kernel.signatures) for kernel in kernels)  # type: ignore[attr-defined]


def load_solver(patience: float = 2.0) -> None:
    """Loads the solver; says on stderr what is going on if that takes longer than ``patience`` seconds, because it has to be compiled."""
    notice = threading.Timer(patience, lambda: print(MESSAGE, file=sys.stderr, flush=True))
    notice.start()
    try:
        solve(BOARD)
    finally:
        notice.cancel()


def main(arguments: list[str]) -> None:
    quiet = "--quiet" in arguments
    groups = tuple(group for group in GROUPS if group in arguments)
    if quiet and "solver" not in groups:
        os.nice(NICENESS)
    if not quiet:
        print(MESSAGE, flush=True)
    seconds = warm_up(*groups)
    if not quiet:
        print(f"The solver is ready after {seconds:.1f} s.")


if __name__ == "__main__":
    main(sys.argv[1:])
