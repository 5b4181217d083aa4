"""What the kernels' searches answer, and the limits of their effort. No numba here.

All effort is counted in nodes, never in seconds, so results are the same on every machine.
"""

import numpy as np

FOUND, FAILED, GAVE_UP = 1, 0, -1
"""Outcomes of one search: a plan; proof that there is none; the budget is spent."""
SOLVED, UNSOLVABLE, UNDECIDED, BOUNDED = 1, 0, -1, 2
"""Outcomes for a board. ``BOUNDED``: there is a plan, and a lower bound below its makespan."""
GOING_ON, IMPROVED, DONE, FULL = 0, 1, 2, 3
"""After some steps of a search for many agents: nothing new; a first plan, or a cheaper one; it has ended; its memory is full."""

FAR = 30_000
"""Stands for "never" in int16 tables of distances."""
HORIZON = 1024
"""Longest plan, in time steps, that the buffers hold."""
KEY_BITS = 62
"""Number of bits that a joint state is packed into."""
SMALL_SPACE = 1 << 14
"""Joint spaces of up to this many states are enumerated as soon as the first search fails."""
LARGE_SPACE = 1 << 18
"""Joint spaces of up to this many states are enumerated once searches with higher bounds have failed too."""
PATIENCE = 6
"""How far the bound rises before larger joint spaces are enumerated."""
TRIES = 20
"""Orders of the agents that prioritised planning tries for each horizon on a large board."""
EXACT_CELLS = 1 << 10
"""Boards of up to so many cells are searched exactly: the tables of two agents have an entry for each two cells."""
IN_TURN_CELLS, IN_TURN_AGENTS, IN_TURN = 1 << 14, 200, 1 << 18
"""Boards of up to so many cells, agents and cells times agents are planned by prioritised planning, before LaCAM has its turn."""
TOGETHER = 1 << 22
"""Moves of single agents that LaCAM may try on a large board: some 10 s."""

QUICK_NODES = 300
"""Nodes of a first search without tables."""
BUDGET_BULK = np.array([QUICK_NODES, 2_000, 10_000, 30_000, 1 << 14], dtype=np.int64)
"""For drawing boards in bulk: the nodes of the first, second, ... try; the last entry is the largest joint space that is enumerated."""
BUDGET_FULL = np.array([QUICK_NODES, 2_000, 10_000, 100_000, 1_000_000, 10_000_000, 1 << 24], dtype=np.int64)
"""The same for a single board."""
