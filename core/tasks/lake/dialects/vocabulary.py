"""The words of the lab dialect: one token each, readable as they stand, separated by single spaces.

The lab model reads and writes two kinds of text in this vocabulary: boards and plans (``plan_dialect``), and the context and proposals of
the environment engineer (``frozenlab.engineer.dialects.lab``). Order matters: a shipped checkpoint's embedding rows follow it.
"""

from __future__ import annotations

PAD, END = "<pad>", "<end>"

MAX_SIDE = 10
"""Largest board side that the lab dialect can name."""
MAX_AGENTS = 5
MAX_TIME = 60
MAX_CELLS = 11
"""Cells of a config that an engineer's prompt has room for, with its answer: each takes up to 91 of the lab model's 1,024 positions."""

PLAN, ENGINEER = "<plan>", "<engineer>"
CELLS = tuple(f"r{r}c{c}" for r in range(MAX_SIDE) for c in range(MAX_SIDE))
HEIGHTS = tuple(f"h{n}" for n in range(1, MAX_SIDE + 1))
WIDTHS = tuple(f"w{n}" for n in range(1, MAX_SIDE + 1))
TEAMS = tuple(f"k{n}" for n in range(1, MAX_AGENTS + 1))
AGENTS = tuple(f"agent{n}" for n in range(MAX_AGENTS))
HOLES, MOVES = "holes", "moves"

SIZES = tuple(f"size{n}" for n in range(3, MAX_SIDE + 1))
PERCENT_STEP = 2.5
PERCENTS = tuple(f"{PERCENT_STEP * n:g}%" for n in range(int(100 / PERCENT_STEP) + 1))
TIMES = tuple(f"t{n}" for n in range(MAX_TIME + 1))
SIGNS = ("+", "-")
SECTION_TAGS = ("<behaviour>", "<failures>", "<statistics>", "<preserved>", "<history>")
RATIONALE, CONFIG = "<rationale>", "<config>"
EVIDENCE_LETTERS = ("B", "F", "S", "P", "H")
FAULT_WORDS = (
    "parse_error", "truncated", "missing_agent", "out_of_bounds", "hole", "illegal_jump", "vertex_conflict", "edge_conflict",
    "goal_not_reached",
)  # fmt: skip
KNOB_WORDS = ("hole_ratio", "wait_ratio")
DIRECTIONS = ("up", "down", "set", "keep")
LABELS = ("sizes", "optimal", "reward", "entropy", "length", "delta", "drawn", "makespan", "case", "expect", "unknown")
SIZED = ("share", "hole", "wait", "valid", "sampled", "preserved", "history")
SIZED_WORDS = tuple(f"{name}{n}" for n in range(3, MAX_SIDE + 1) for name in SIZED)
"""A figure and its map size in one word (``hole6``), so that looking a figure up is finding the one earlier place of the same word."""

WORDS: tuple[str, ...] = (
    PAD, END, PLAN, ENGINEER, HOLES, MOVES, RATIONALE, CONFIG,
    *HEIGHTS, *WIDTHS, *TEAMS, *AGENTS, *CELLS, *SIZES, *PERCENTS, *TIMES, *SIGNS, *SECTION_TAGS, *EVIDENCE_LETTERS,
    *FAULT_WORDS, *KNOB_WORDS, *DIRECTIONS, *LABELS, *SIZED_WORDS,
)  # fmt: skip
"""Every token, by id."""


def cell_word(cell: tuple[int, int]) -> str:
    """``(2, 3)`` -> ``r2c3``."""
    return f"r{cell[0]}c{cell[1]}"


def percent_word(rate: float) -> str:
    """A rate in 0..1 as the nearest percent token."""
    steps = round(100 * min(max(rate, 0.0), 1.0) / PERCENT_STEP)
    return PERCENTS[steps]


def percent_value(word: str) -> float:
    """``12.5%`` -> 0.125."""
    return float(word.removesuffix("%")) / 100


def time_word(steps: float) -> str:
    """A number of time steps as the nearest time token; longer ones become the longest."""
    return TIMES[min(max(round(steps), 0), MAX_TIME)]
