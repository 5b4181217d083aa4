"""The words of the lab dialect: one token each, readable as they stand, separated by single spaces.

The lab model reads and writes three kinds of text in this vocabulary: boards and plans, Countdown tasks and their steps, and the context
and proposals of the environment engineer (``frozenlab.engineer.dialects.lab``). Order matters: a checkpoint's embedding rows follow it, and
one that was made when the vocabulary was shorter still reads the words it has. So new words go to the end.
"""

from __future__ import annotations

from frozenlab.base.cells import Cell

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
FIGURES = ("share", "hole", "wait", "valid", "sampled", "preserved", "history")
SIZED_WORDS = tuple(f"{name}{n}" for n in range(3, MAX_SIDE + 1) for name in FIGURES)
"""Words of earlier engineers, whose cells were map sizes. Earlier checkpoints know no others."""

ARROWS = ("^", "v", "<", ">")
"""One-way ice, by the only way out; the cells with such an arrow follow."""
DOORS = tuple(f"door{n}" for n in range(MAX_AGENTS))
"""Doors, by the agent that has the key; their cells follow."""
MECHANIC_FAULT_WORDS = ("against_arrow", "locked_door")

COUNTDOWN, TARGET = "<countdown>", "target"
MAX_NUMBER = 99
NUMBERS = tuple(f"n{n}" for n in range(MAX_NUMBER + 1))
TIMES_SIGN, EQUALS = "*", "="
COUNTDOWN_FAULT_WORDS = ("not_on_list", "used_twice", "wrong_step", "wrong_total")

PLACES = tuple(f"#{n}" for n in range(1, MAX_CELLS + 1))
"""The cells of an engineer's config, by their place in it."""
PLACED_WORDS = tuple(f"{name}{place}" for place in PLACES for name in (*FIGURES, "times"))
"""A figure and its cell in one word (``hole#2``), so that looking a figure up is finding the one earlier place of the same word."""
LAYOUTS = ("scatter", "open", "rooms", "bottleneck", "corridor", "maze", "warehouse", "oneway", "doors")
COUNTS = tuple(f"numbers{n}" for n in range(2, 6))
TIMES_RATIO = "times_ratio"
USUALLY, BECAUSE, SPREAD = "usually", "because", "spread"
SELF = "<self>"
"""Opens the question how likely the model is to solve the task that follows; the answer is a percent word."""

WORDS: tuple[str, ...] = (
    PAD, END, PLAN, ENGINEER, HOLES, MOVES, RATIONALE, CONFIG,
    *HEIGHTS, *WIDTHS, *TEAMS, *AGENTS, *CELLS, *SIZES, *PERCENTS, *TIMES, *SIGNS, *SECTION_TAGS, *EVIDENCE_LETTERS,
    *FAULT_WORDS, *KNOB_WORDS, *DIRECTIONS, *LABELS, *SIZED_WORDS,
    *ARROWS, *DOORS, *MECHANIC_FAULT_WORDS, COUNTDOWN, TARGET, *NUMBERS, TIMES_SIGN, EQUALS, *COUNTDOWN_FAULT_WORDS,
    *PLACES, *PLACED_WORDS, *LAYOUTS, *COUNTS, TIMES_RATIO, USUALLY, BECAUSE, SPREAD, SELF,
)  # fmt: skip
"""Every token, by id."""
ID_OF = {word: number for number, word in enumerate(WORDS)}
EVERY_FAULT = (*FAULT_WORDS, *MECHANIC_FAULT_WORDS, *COUNTDOWN_FAULT_WORDS)


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


# --- cells and changes, of which a prompt's sections and a proposal speak --------------------------------------------

RATIO_WORDS: dict[str, str] = {"hole_ratio": "hole", "wait_ratio": "wait", "times_ratio": "times"}
"""Ratio -> what the word for its value begins with; the cell follows (``hole#2``)."""
BOARD_RATIOS, COUNTDOWN_RATIOS = ("hole_ratio", "wait_ratio"), ("times_ratio",)
NAMES_OF_PARTS = {"agents": "k", "size": "size", "layout": "", "numbers": "numbers"}
"""Part of what makes up a cell -> what its word begins with."""


def change_words(change: float) -> list[str]:
    """``+0.05`` -> ``["+", "5%"]``."""
    size = percent_word(abs(change))
    return ["-" if change < 0 and size != PERCENTS[0] else "+", size]


def kind_words(cell: Cell) -> list[str]:
    """What makes up a cell.

    >>> kind_words(Cell(name="3@doors6", words="", place={"agents": 3, "size": 6, "layout": "doors"}))
    ['k3', 'size6', 'doors']
    """
    return [f"{NAMES_OF_PARTS[part]}{value}" for part, value in cell.place.items()]


def ratios_of(cell: Cell) -> tuple[str, ...]:
    """The ratios of a cell, by its family."""
    return COUNTDOWN_RATIOS if "numbers" in cell.place else BOARD_RATIOS
